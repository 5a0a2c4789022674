import { html, nothing, type TemplateResult } from 'lit';
import type { AgentRow } from '../core/fleet/select.ts';
import { type AgentFilter, agentsWithoutFilter, countStates, needsAttention } from './filter.ts';
import type { Density } from './layout.ts';
import { stateLooks } from './looks.ts';

/** Narrows many agents. `keep` gets the filter as it was changed. */
export function filterBox(
  agents: readonly AgentRow[],
  shown: readonly AgentRow[],
  filter: AgentFilter,
  keep: (filter: AgentFilter) => void,
): TemplateResult | typeof nothing {
  if (agents.length <= agentsWithoutFilter) return nothing;
  const typed = (event: Event): void => {
    if (event.target instanceof HTMLInputElement) keep({ ...filter, text: event.target.value });
  };
  const chosen = (event: Event): void => {
    if (event.target instanceof HTMLInputElement)
      keep({ ...filter, scope: event.target.checked ? 'attention' : 'all' });
  };
  return html`<div class="filter" role="search">
    <input
      type="search"
      placeholder="Filter agents"
      aria-label="Filter agents by name, directory, state or cause"
      .value=${filter.text}
      @input=${typed}
    />
    <label class="check">
      <input type="checkbox" .checked=${filter.scope === 'attention'} @change=${chosen} />
      <span>Only those that need you (${agents.filter(needsAttention).length})</span>
    </label>
    <p class="quiet" role="status">
      ${shown.length === agents.length ? `${agents.length} agents` : `${shown.length} of ${agents.length} agents`}
    </p>
  </div>`;
}

/** How many endpoints are in which state, and so what the icons mean; nothing where words say it and all are in one. */
export function legend(rows: readonly AgentRow[], density: Density): TemplateResult | typeof nothing {
  const counts = countStates(rows);
  const isSaid = density === 'full' || density === 'words';
  if (counts.length === 0 || (counts.length === 1 && isSaid)) return nothing;
  return html`<ul class="legend" role="list" aria-label="Endpoints by state">
    ${counts.map(([state, count]) => {
      const { icon, tone } = stateLooks[state];
      return html`<li>
        <span class="codicon codicon-${icon} tone-${tone}" aria-hidden="true"></span><span>${count} ${state}</span>
      </li>`;
    })}
  </ul>`;
}
