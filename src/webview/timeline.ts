import { html, nothing, type TemplateResult } from 'lit';
import type { TimelineEntry } from '../core/fleet/state.ts';
import { eventList } from './eventList.ts';
import type { PageClock } from './pageClock.ts';
import type { PageState } from './pageState.ts';

/** The latest events, newest first. Drawn only while it is open. */
export function timeline(
  entries: readonly TimelineEntry[],
  { state, events }: { readonly state: 'open' | 'closed'; readonly events: PageState['events'] },
  clock: PageClock,
  keep: (changed: Partial<Pick<PageState, 'timeline' | 'events'>>) => void,
): TemplateResult {
  const toggled = (event: Event): void => {
    if (!(event.target instanceof HTMLDetailsElement)) return;
    const next = event.target.open ? 'open' : 'closed';
    // It also tells of what was drawn, which nobody has chosen.
    if (next !== state) keep({ timeline: next });
  };
  const chosen = (event: Event): void => {
    if (event.target instanceof HTMLInputElement) keep({ events: event.target.checked ? 'binding' : 'all' });
  };
  return html`<details class="timeline" ?open=${state === 'open'} @toggle=${toggled}>
    <summary><span class="codicon codicon-chevron-right" aria-hidden="true"></span>Timeline</summary>
    ${
      state === 'closed'
        ? nothing
        : html`<label class="check">
              <input type="checkbox" .checked=${events === 'binding'} @change=${chosen} />
              <span>Only epochs, outages and heals</span>
            </label>
            ${lines(events === 'all' ? entries : entries.filter(({ kind }) => kind !== undefined), clock)}`
    }
  </details>`;
}

function lines(entries: readonly TimelineEntry[], clock: PageClock): TemplateResult {
  return entries.length === 0 ? html`<p class="quiet">Nothing happened yet.</p>` : eventList(entries, clock);
}
