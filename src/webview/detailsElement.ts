import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import type { AgentRow, Blackout, Connection, EndpointRow, EndpointState, UpstreamRow } from '../core/fleet/select.ts';
import type { TimelineEntry } from '../core/fleet/state.ts';
import type { ProbeSample } from '../protocol/webview.ts';
import { type Action, agentActions, endpointActions } from './actions.ts';
import { actionButton, type Post } from './actionButton.ts';
import { eventList } from './eventList.ts';
import { lifeLooks, stateLooks } from './looks.ts';
import { endpointAt, isTroubled, lifeText, notesOf } from './matrix.ts';
import type { PageClock } from './pageClock.ts';
import { probeChart } from './probeChart.ts';

const eventsShown = 5;

/** What the details are of. */
export interface Subject {
  readonly row: AgentRow;
  /** Absent: the agent as a whole. */
  readonly server?: string;
  readonly blackout?: Blackout;
  readonly probes: readonly ProbeSample[];
  /** Of this agent, or of all, newest last. */
  readonly events: readonly TimelineEntry[];
}

/** Everything about one agent or one of its endpoints: what is wrong, the next step, what can be done, the facts. */
export class DetailsElement extends LitElement {
  static readonly tag = 'bowline-details';

  @property({ attribute: false })
  subject: Subject | undefined;

  @property({ attribute: false })
  connection: Connection['kind'] = 'connected';

  @property({ attribute: false })
  clock: PageClock | undefined;

  @property({ attribute: false })
  post: Post | undefined;

  /** Goes back to the matrix; `close`: and shows no details any more. */
  @property({ attribute: false })
  leave: ((how: 'return' | 'close') => void) | undefined;

  /** The icon font and the page's styles reach only what has no shadow root. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { subject, clock } = this;
    if (subject === undefined || clock === undefined) return nothing;
    const { row, server, events } = subject;
    const endpoint = endpointAt(row, server);
    const latest = events.slice(-eventsShown);
    return html`<section class="details" aria-labelledby="details-title" @keydown=${this.keyPressed}>
      <div class="details-head">
        <h2 id="details-title" tabindex="-1">
          ${row.name}${server === undefined ? nothing : html` <span class="of">/ ${server}</span>`}
        </h2>
        <button
          type="button"
          class="button icon"
          title="Close"
          aria-label="Close details"
          @click=${() => this.leave?.('close')}
        >
          <span class="codicon codicon-close" aria-hidden="true"></span>
        </button>
      </div>
      ${endpoint === undefined ? this.agent(row) : this.endpoint(subject, endpoint, clock)}
      ${
        latest.length === 0
          ? nothing
          : html`<h3>Latest events</h3>
              ${eventList(latest, clock, row.name)}`
      }
    </section>`;
  }

  private endpoint(subject: Subject, endpoint: EndpointRow, clock: PageClock): TemplateResult {
    const { row, blackout, probes } = subject;
    const { state, cause, nextStep, lastProofAt, roundTripMs, client, upstream } = endpoint;
    const { icon, tone } = stateLooks[state];
    const mending = endpointActions(row, endpoint, blackout, this.connection);
    const general = agentActions(row, this.connection);
    const actions = isTroubled(state) ? [...mending, ...general] : [...general, ...mending];
    return html`
      <p class="verdict">
        <span class="codicon codicon-${icon} tone-${tone}" aria-hidden="true"></span>
        <span><span class="strong">${state}</span>${cause === '' ? nothing : html`: ${cause}`}</span>
      </p>
      <p class="next"><span class="strong">Next:</span> ${nextStep === '' ? restfulStep(endpoint) : nextStep}</p>
      ${this.buttons(actions)}
      <dl>
        ${lastProofAt === undefined ? nothing : fact('Last proof', html`<bowline-ago .clock=${clock} .at=${lastProofAt}></bowline-ago>`)}
        ${roundTripMs === undefined ? nothing : fact('Last probe', html`${Math.round(roundTripMs)} ms`)}
        ${upstream === undefined ? nothing : fact('Last good call', goodCall(upstream, clock))}
        ${client === undefined ? nothing : fact('Client', html`${client}`)}
        ${fact('Agent', html`${lifeText(row)}${notesOf(row).map((note) => html`<br />${note}`)}`)}
        ${fact('Directory', html`${row.directory}`)}
      </dl>
      ${probeChart(probes, clock.now())}
    `;
  }

  private agent(row: AgentRow): TemplateResult {
    const look = lifeLooks(row);
    return html`
      <p class="verdict">
        ${look === undefined ? nothing : html`<span class="codicon codicon-${look.icon} tone-${look.tone}" aria-hidden="true"></span>`}
        <span
          ><span class="strong">${row.life}</span
          >${row.life === 'ready' && row.activity !== 'unknown' ? `, ${row.activity}` : nothing}${row.detail === '' ? nothing : html`: ${row.detail}`}</span
        >
      </p>
      ${row.warnings.map(
        (warning) =>
          html`<p class="verdict">
            <span class="codicon codicon-warning tone-warning" aria-hidden="true"></span><span>${warning}</span>
          </p>`,
      )}
      ${this.buttons(agentActions(row, this.connection))}
      <dl>
        ${row.endpoints.map(({ server, state, cause }) => fact(server, html`${state}${cause === '' ? nothing : html`: ${cause}`}`))}
        ${(row.others ?? []).map(({ name, way, reason }) => fact(name, html`${way}${reason === '' ? nothing : html`: ${reason}`}; cannot be probed`))}
        ${fact('Directory', html`${row.directory}`)}
        ${row.sessionId === undefined ? nothing : fact('Session', html`${row.sessionId}`)}
      </dl>
    `;
  }

  private buttons(actions: readonly Action[]): TemplateResult | typeof nothing {
    const { post } = this;
    if (post === undefined || actions.length === 0) return nothing;
    return html`<p class="buttons">
      ${actions.map((action) => actionButton(action, action.command === 'heal' ? 'primary' : 'secondary', post))}
    </p>`;
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    this.leave?.('return');
  };
}

function fact(name: string, value: TemplateResult): TemplateResult {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** Of the server behind an endpoint. */
function goodCall({ goodCall: call }: UpstreamRow, clock: PageClock): TemplateResult {
  if (call === undefined) return html`none yet`;
  return html`<bowline-ago .clock=${clock} .at=${call.at}></bowline-ago>, in ${Math.round(call.roundTripMs)} ms`;
}

function restfulStep({ state, upstream }: EndpointRow): string {
  if (upstream?.update === 'verifying') return 'Wait: it is being connected anew.';
  return restfulSteps[state] ?? 'Nothing to do.';
}

/** What to do where nothing is wrong; absent: nothing. */
const restfulSteps: Partial<Record<EndpointState, string>> = {
  pending: 'Wait: its grace time is not over.',
  suspect: 'Wait: it is decided within seconds.',
  off: 'Start the agent, if you want it back.',
};
