import { html, nothing, type TemplateResult } from 'lit';
import type { TimelineEntry } from '../core/fleet/state.ts';
import { eventLooks } from './looks.ts';
import { columnTitle } from './matrix.ts';
import { listNames } from './names.ts';
import type { PageClock } from './pageClock.ts';
import { clockTime } from './relativeTime.ts';
import { groupTimeline } from './timelineGroups.ts';

const namesShown = 12;
const linesShown = 100;

/** Events, newest first; `entries` are newest last. `of`: all are of this agent or of the fleet, so that it need not be named. */
export function eventList(entries: readonly TimelineEntry[], clock: PageClock, of?: string): TemplateResult {
  const now = clock.now();
  const label = of === undefined ? 'Binding events, newest first' : `Events of ${of}, newest first`;
  return html`<ol class="events" role="list" aria-label=${label}>
    ${groupTimeline(entries, linesShown).map(({ at, agents, server, text, kind }) => {
      const { icon, tone, word } = eventLooks[kind ?? 'other'];
      const isNamed = agents.length > 0 && of === undefined;
      return html`<li>
        <span class="codicon codicon-${icon} tone-${tone}" aria-hidden="true"></span>
        <time datetime=${new Date(at).toISOString()}>${clockTime(at, now)}</time>
        <span class="event"
          ><span class="visually-hidden">${word}</span>${
            isNamed ? html`<span class="strong">${listNames(agents, namesShown)}</span> ` : nothing
          }${text}${server === undefined ? nothing : html` <span class="of">(${columnTitle(server)})</span>`}</span
        >
      </li>`;
    })}
  </ol>`;
}
