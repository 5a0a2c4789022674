import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { property, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { AgentRow } from '../core/fleet/select.ts';
import { AgentRowElement } from './agentRow.ts';
import type { Density } from './layout.ts';
import { columnTitle, type Place } from './matrix.ts';
import { keyTarget } from './matrixKeys.ts';

/** `open`: the person also wants to go to the details. */
export type PickPlace = (place: Place, how: 'show' | 'open') => void;

/** Agents and their endpoints as a grid: one stop of the tab key, walked with arrows; Enter goes to the details of a cell. */
export class MatrixElement extends LitElement {
  static readonly tag = 'bowline-matrix';

  @property({ attribute: false })
  rows: readonly AgentRow[] = [];

  @property({ attribute: false })
  columns: readonly string[] = [];

  @property({ attribute: false })
  density: Density = 'icons';

  @property({ attribute: false })
  selected: Place | undefined;

  /** Shown below the row of what is selected; absent: they are elsewhere. */
  @property({ attribute: false })
  details: TemplateResult | undefined;

  @property({ attribute: false })
  pick: PickPlace | undefined;

  /** The cell that the tab key leads to. */
  @state() private active: Place | undefined;

  /** Moves the focus to a cell, or to the name of an agent. */
  focusOn({ agent, server }: Place): void {
    const row = this.rowElements().find((element) => element.row?.name === agent);
    const cell = server === undefined ? undefined : cellsOf(row).find((element) => element.dataset.server === server);
    (cell ?? cellsOf(row)[0])?.focus();
  }

  /** The icon font and the page's styles reach only what has no shadow root. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Not as an attribute, which the policy of the page forbids. */
  protected override willUpdate(): void {
    this.style.setProperty('--columns', String(this.columns.length));
  }

  protected override render(): TemplateResult {
    const { rows, columns, density, selected } = this;
    const active = rows.some(({ name }) => name === this.active?.agent) ? this.active : firstOf(rows);
    return html`<div
      class="matrix ${density} ${rows.length > 40 ? 'many' : ''}"
      role="grid"
      aria-label="Agents and their MCP servers"
      aria-rowcount=${rows.length + 1}
      aria-colcount=${columns.length + 1}
      @click=${this.clicked}
      @keydown=${this.keyPressed}
      @focusin=${this.focused}
    >
      <div class="columns" role="row">
        <div class="corner" role="columnheader">Agent</div>
        ${columns.map(
          (server) =>
            html`<div class="column" role="columnheader" title=${server}><span>${columnTitle(server)}</span></div>`,
        )}
      </div>
      ${repeat(
        rows,
        ({ name }) => name,
        (row) =>
          html`<bowline-agent-row
              role="row"
              class=${row.name === selected?.agent ? 'selected' : ''}
              .row=${row}
              .columns=${columns}
              .selected=${row.name === selected?.agent ? selected : undefined}
              .isDetailed=${row.name === selected?.agent && this.details !== undefined}
              .active=${row.name === active?.agent ? active : undefined}
            ></bowline-agent-row>
            ${
              row.name === selected?.agent && this.details !== undefined
                ? html`<div class="below" role="row">
                    <div role="gridcell" aria-colspan=${columns.length + 1}>${this.details}</div>
                  </div>`
                : nothing
            }`,
      )}
    </div>`;
  }

  private rowElements(): readonly AgentRowElement[] {
    return [...this.querySelectorAll<AgentRowElement>(AgentRowElement.tag)];
  }

  private readonly clicked = (event: Event): void => {
    const place = placeOf(event.target);
    if (place !== undefined) this.pick?.(place, 'show');
  };

  private readonly focused = (event: Event): void => {
    const place = placeOf(event.target);
    if (place !== undefined) this.active = place;
  };

  private readonly keyPressed = (event: KeyboardEvent): void => {
    const { key, ctrlKey } = event;
    const place = placeOf(event.target);
    if (place === undefined || event.altKey || event.metaKey || event.shiftKey) return;
    if (key === 'Enter' || key === ' ') {
      event.preventDefault();
      this.pick?.(place, key === 'Enter' ? 'open' : 'show');
      return;
    }
    const rows = this.rowElements();
    const row = rows.findIndex((element) => element.row?.name === place.agent);
    const column = place.server === undefined ? 0 : this.columns.indexOf(place.server) + 1;
    const tall = rows[row]?.offsetHeight ?? 1;
    const page = Math.max(1, Math.floor(window.innerHeight / Math.max(tall, 1)) - 3);
    const size = { rows: rows.length, columns: this.columns.length + 1, page };
    const target = keyTarget(key, { ctrlKey }, { row, column }, size);
    if (target === undefined) return;
    event.preventDefault();
    cellsOf(rows[target.row])[target.column]?.focus();
  };
}

function firstOf(rows: readonly AgentRow[]): Place | undefined {
  const [first] = rows;
  return first && { agent: first.name };
}

/** The cell that an event came from; undefined for anything else in the grid, as the buttons of the details. */
function placeOf(target: EventTarget | null): Place | undefined {
  if (!(target instanceof Element)) return undefined;
  const cell = target.closest<HTMLElement>('.head, .cell, .notes');
  const agent = cell?.closest<AgentRowElement>(AgentRowElement.tag)?.row?.name;
  if (cell === null || agent === undefined) return undefined;
  const { server } = cell.dataset;
  return { agent, ...(server !== undefined && { server }) };
}

/** The name, then a cell for each column. */
function cellsOf(row: Element | undefined): readonly HTMLElement[] {
  return row === undefined ? [] : [...row.querySelectorAll<HTMLElement>('.head, .cell')];
}
