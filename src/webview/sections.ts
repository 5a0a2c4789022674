import { html, nothing, type TemplateResult } from 'lit';
import type { Blackout, Connection, FleetView } from '../core/fleet/select.ts';
import type { TimelineEntry } from '../core/fleet/state.ts';
import { blackoutActions, showLogAction } from './actions.ts';
import { actionButton, type Post } from './actionButton.ts';
import { severityLooks } from './looks.ts';
import { listNames } from './names.ts';
import type { PageClock } from './pageClock.ts';
import { clockTime } from './relativeTime.ts';
import { groupTimeline } from './timelineGroups.ts';

const namesShown = 12;
const timelineLines = 100;

/** One line about the whole fleet. It can take the focus when what had it is gone. */
export function summary({ status, blackouts, connection }: FleetView): TemplateResult {
  const { icon, tone, word } = severityLooks[status.severity];
  // Warnings below tell the rest better than the status bar's tooltip does.
  const detail = blackouts.length === 0 && connection.kind === 'connected' ? status.detail : '';
  return html`<header class="summary" tabindex="-1">
    <p class="status">
      <span class="codicon codicon-${icon} tone-${tone}" aria-hidden="true"></span>
      <span><span class="visually-hidden">${word}</span>${status.text === '' ? status.detail : status.text}</span>
    </p>
    ${detail === '' || status.text === '' ? nothing : html`<p class="status-detail">${detail}</p>`}
  </header>`;
}

/** Says that what follows is not the present. */
export function awayBanner(connection: Connection, clock: PageClock, post: Post): TemplateResult | typeof nothing {
  if (connection.kind === 'connected') return nothing;
  return html`<section class="box warning" aria-labelledby="away-title">
    <span class="codicon codicon-debug-disconnect tone-warning" aria-hidden="true"></span>
    <div class="box-text">
      <h2 id="away-title">Showing the last known state</h2>
      <p>
        The gateway is away since ${clockTime(connection.since, clock.now())} (<bowline-ago
          .clock=${clock}
          .at=${connection.since}
        ></bowline-ago
        >): ${connection.reason}
      </p>
      <p class="buttons">${actionButton(showLogAction, 'secondary', post)}</p>
    </div>
  </section>`;
}

/** One warning: agents that lost their tools by one cause. */
export function blackoutWarning(blackout: Blackout, connection: Connection['kind'], post: Post): TemplateResult {
  const { agents, what, nextStep } = blackout;
  const title = agents.length === 1 ? '1 agent lost its tools' : `${agents.length} agents lost their tools`;
  const id = `blackout-${blackout.outage.replaceAll(' ', '-')}`;
  return html`<section class="box error" aria-labelledby=${id}>
    <span class="codicon codicon-error tone-error" aria-hidden="true"></span>
    <div class="box-text">
      <h2 id=${id}><span class="visually-hidden">Blackout: </span>${title}</h2>
      <p class="blackout-agents">${listNames(agents, namesShown)}</p>
      <p>${what}</p>
      <p class="next">Next: ${nextStep}</p>
      <p class="buttons">
        ${blackoutActions(blackout, connection).map((action, index) =>
          actionButton(action, index === 0 ? 'primary' : 'secondary', post),
        )}
      </p>
    </div>
  </section>`;
}

/** What a person without agents can do. */
export function emptyState(): TemplateResult {
  return html`<section class="empty">
    <h2>No agents yet</h2>
    <p>
      Create one with <strong>Bowline: New Agent</strong> from the Command Palette, or with the plus button of the
      Agents view. Its MCP servers then show here, each with the state of its binding.
    </p>
  </section>`;
}

/** The latest events, newest first. Drawn only while it is open. */
export function timeline(
  entries: readonly TimelineEntry[],
  state: 'open' | 'closed',
  clock: PageClock,
  onToggle: (event: Event) => void,
): TemplateResult {
  return html`<details class="timeline" ?open=${state === 'open'} @toggle=${onToggle}>
    <summary><span class="codicon codicon-chevron-right" aria-hidden="true"></span>Timeline</summary>
    ${state === 'open' ? timelineList(entries, clock) : nothing}
  </details>`;
}

function timelineList(entries: readonly TimelineEntry[], clock: PageClock): TemplateResult {
  const now = clock.now();
  const groups = groupTimeline(entries, timelineLines);
  if (groups.length === 0) return html`<p class="quiet">Nothing happened yet.</p>`;
  return html`<ol class="events" role="list" aria-label="Binding events, newest first">
    ${groups.map(
      ({ at, agents, server, text }) =>
        html`<li>
          <time datetime=${new Date(at).toISOString()}>${clockTime(at, now)}</time>
          <span
            ><span class="event-agents">${listNames(agents, namesShown)}</span> ${text}
            ${server === undefined ? nothing : html`<span class="server">(${server})</span>`}</span
          >
        </li>`,
    )}
  </ol>`;
}
