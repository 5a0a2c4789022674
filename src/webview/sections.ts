import { html, nothing, type TemplateResult } from 'lit';
import type { Blackout, Connection, FleetView } from '../core/fleet/select.ts';
import type { Opening } from '../protocol/webview.ts';
import { blackoutActions, newAgentAction, showLogAction } from './actions.ts';
import { actionButton, type Post } from './actionButton.ts';
import { severityLooks } from './looks.ts';
import type { PageClock } from './pageClock.ts';
import { clockTime } from './relativeTime.ts';

const namesShown = 12;

/** One line about the whole fleet. It can take the focus when what had it is gone. `next`: the way to what is not well. */
export function summary(
  { status, blackouts, connection }: FleetView,
  next: { readonly count: number; readonly go: () => void },
): TemplateResult {
  const { icon, tone, word } = severityLooks[status.severity];
  // Warnings below tell the rest better than the status bar's tooltip does.
  const detail = blackouts.length === 0 && connection.kind === 'connected' ? status.detail : '';
  return html`<header class="summary" tabindex="-1">
    <div class="line">
      <p class="status">
        <span class="codicon codicon-${icon} tone-${tone}" aria-hidden="true"></span>
        <span><span class="visually-hidden">${word}</span>${status.text === '' ? status.detail : status.text}</span>
      </p>
      ${next.count === 0 ? nothing : nextTroubleButton(next)}
    </div>
    ${detail === '' || status.text === '' ? nothing : html`<p class="status-detail">${detail}</p>`}
  </header>`;
}

function nextTroubleButton({ count, go }: { readonly count: number; readonly go: () => void }): TemplateResult {
  const label = `${count} ${count === 1 ? 'agent has a problem' : 'agents have problems'}: go to the next`;
  return html`<button type="button" class="button icon" title=${label} aria-label=${label} @click=${go}>
    <span class="codicon codicon-arrow-down" aria-hidden="true"></span>${count}
  </button>`;
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

/** One warning: agents that lost their tools by one cause. `pick` shows one of them. */
export function blackoutWarning(
  blackout: Blackout,
  connection: Connection['kind'],
  post: Post,
  pick: (agent: string) => void,
): TemplateResult {
  const { agents, what, nextStep } = blackout;
  const title = agents.length === 1 ? '1 agent lost its tools' : `${agents.length} agents lost their tools`;
  const id = `blackout-${blackout.outage.replaceAll(' ', '-')}`;
  const shown = agents.slice(0, namesShown);
  return html`<section class="box error" aria-labelledby=${id}>
    <span class="codicon codicon-error tone-error" aria-hidden="true"></span>
    <div class="box-text">
      <h2 id=${id}><span class="visually-hidden">Blackout: </span>${title}</h2>
      <p class="names">
        ${shown.map(
          (agent) =>
            html`<button
              type="button"
              class="link"
              @click=${() => {
                pick(agent);
              }}
            >
              ${agent}
            </button>`,
        )}${agents.length > shown.length ? html`<span>and ${agents.length - shown.length} more</span>` : nothing}
      </p>
      <p>${what}</p>
      <p><span class="strong">Next:</span> ${nextStep}</p>
      <p class="buttons">
        ${blackoutActions(blackout, connection).map((action, index) =>
          actionButton(action, index === 0 ? 'primary' : 'secondary', post),
        )}
      </p>
    </div>
  </section>`;
}

/** What stands in place of agents: that it is not known yet which there are, or what a person without any can do. */
export function emptyState(opening: Opening | undefined, post: Post): TemplateResult {
  switch (opening?.kind) {
    case 'connecting':
      return connecting();
    case 'cannot start':
      return html`<section class="box error" aria-labelledby="start-title">
        <span class="codicon codicon-error tone-error" aria-hidden="true"></span>
        <div class="box-text">
          <h2 id="start-title">The gateway does not start</h2>
          <p>${opening.sentence} Bowline keeps trying.</p>
          <p class="buttons">${actionButton(showLogAction, 'secondary', post)}</p>
        </div>
      </section>`;
    case undefined:
      return html`<section class="empty">
        <h2>No agents yet</h2>
        <p>An agent is a named Claude Code session. Its MCP servers show here, each with the state of its binding.</p>
        <p class="buttons">${actionButton(newAgentAction, 'primary', post)}</p>
      </section>`;
  }
}

/** Until the page hears from its window, and the window from the gateway. */
export function connecting(): TemplateResult {
  return html`<p class="quiet loading">Connecting to the gateway…</p>`;
}
