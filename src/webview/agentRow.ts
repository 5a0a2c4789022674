import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import type { AgentRow, EndpointRow } from '../core/fleet/select.ts';
import { lifeLooks, stateLooks } from './looks.ts';
import { columnTitle, endpointAt, isStuck, isTroubled, lifeText, notesOf, type Place } from './matrix.ts';

/** One agent of the matrix: its name, a cell for each column, and what is to be read at once. It is drawn only when it gets another row. */
export class AgentRowElement extends LitElement {
  static readonly tag = 'bowline-agent-row';

  @property({ attribute: false })
  row: AgentRow | undefined;

  @property({ attribute: false })
  columns: readonly string[] = [];

  /** What is selected in this row. */
  @property({ attribute: false })
  selected: Place | undefined;

  /** What the tab key leads to in this row. */
  @property({ attribute: false })
  active: Place | undefined;

  /** Whether its details stand right below, which tell the same. */
  @property({ attribute: false })
  isDetailed = false;

  /** The icon font and the page's styles reach only what has no shadow root. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { row, selected, active } = this;
    if (row === undefined) return nothing;
    const isSelected = selected !== undefined && selected.server === undefined;
    const isActive = active !== undefined && (active.server === undefined || !this.columns.includes(active.server));
    const notes = this.isDetailed ? [] : notesOf(row);
    return html`
      <div
        class="head"
        role="rowheader"
        tabindex=${isActive ? 0 : -1}
        aria-selected=${isSelected ? 'true' : 'false'}
        title="${row.name}: ${row.life}, ${row.directory}"
      >
        <span class="name">${row.name}</span>
        ${lifeOf(row)}
      </div>
      ${this.columns.map((server) => this.cell(server, endpointAt(row, server)))}
      ${notes.length === 0 ? nothing : this.notes(row, notes)}
    `;
  }

  private cell(server: string, endpoint: EndpointRow | undefined): TemplateResult {
    const tabStop = this.active?.server === server ? 0 : -1;
    if (endpoint === undefined) {
      return html`<div
        class="cell none"
        role="gridcell"
        tabindex=${tabStop}
        data-server=${server}
        aria-selected="false"
      >
        <span class="visually-hidden">none</span>
      </div>`;
    }
    const { state, roundTripMs } = endpoint;
    const { icon, tone } = stateLooks[state];
    const trouble = isTroubled(state) ? `troubled ${tone}` : state === 'off' ? 'dim' : '';
    return html`<div
      class="cell ${trouble}"
      role="gridcell"
      tabindex=${tabStop}
      data-server=${server}
      aria-selected=${this.selected?.server === server ? 'true' : 'false'}
      title=${cellTitle(endpoint)}
    >
      <span class="codicon codicon-${icon} tone-${tone}" aria-hidden="true"></span>
      <span class="word">${state}</span>
      ${state === 'bound' && roundTripMs !== undefined ? html`<span class="ms">${Math.round(roundTripMs)} ms</span>` : nothing}
    </div>`;
  }

  private notes(row: AgentRow, notes: readonly string[]): TemplateResult {
    const span = this.columns.length + 1;
    return html`<div class="notes" role="gridcell" aria-colspan=${span}>
      ${notes.map(
        (note) =>
          html`<p>
            <span
              class="codicon codicon-${isStuck(row) && note === row.detail ? 'warning' : 'info'} tone-warning"
              aria-hidden="true"
            ></span>
            <span>${note}</span>
          </p>`,
      )}
    </div>`;
  }
}

/** Its icon stays with its first word, wherever the line breaks. */
function lifeOf(row: AgentRow): TemplateResult {
  const look = lifeLooks(row);
  const [first = '', ...others] = lifeText(row).split(' ');
  const icon =
    look === undefined
      ? nothing
      : html`<span class="codicon codicon-${look.icon} tone-${look.tone}" aria-hidden="true"></span>`;
  return html`<span class="life"><span class="first">${icon}${first}</span> ${others.join(' ')}</span>`;
}

/** For the pointer; details tell the same. */
function cellTitle({ server, state, cause, nextStep, roundTripMs }: EndpointRow): string {
  const answer = state === 'bound' && roundTripMs !== undefined ? `, answered in ${Math.round(roundTripMs)} ms` : '';
  return [`${columnTitle(server)}: ${state}${answer}`, cause, nextStep === '' ? '' : `Next: ${nextStep}`]
    .filter((line) => line !== '')
    .join('\n');
}
