import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { property } from 'lit/decorators.js';
import type { AgentRow, Connection, EndpointRow } from '../core/fleet/select.ts';
import { agentActions, endpointAction } from './actions.ts';
import { actionButton, type Post } from './actionButton.ts';
import { stateLooks } from './looks.ts';
import type { PageClock } from './pageClock.ts';

/** One agent. Drawn again only when what it shows differs: every message of the host brings new objects. */
export class AgentCard extends LitElement {
  static readonly tag = 'bowline-agent-card';

  @property({ attribute: false, hasChanged: (next, previous) => JSON.stringify(next) !== JSON.stringify(previous) })
  row: AgentRow | undefined;

  @property({ attribute: false })
  connection: Connection['kind'] = 'connected';

  @property({ attribute: false })
  clock: PageClock | undefined;

  @property({ attribute: false })
  post: Post | undefined;

  /** The icon font and the page's styles reach only what has no shadow root. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { row, post } = this;
    if (row === undefined || post === undefined) return nothing;
    const stuck = row.life === 'blocked' || row.life === 'dead';
    return html`
      <div class="line">
        <div class="title">
          <h3>${row.name}</h3>
          <span class="life ${stuck ? 'marked' : ''}">${lifeText(row)}</span>
        </div>
        <span class="actions">
          ${agentActions(row, this.connection).map((action) => actionButton(action, 'icon', post))}
        </span>
      </div>
      ${row.detail === '' || row.life === 'healing' ? nothing : html`<p class="${stuck ? 'marked' : ''}">${row.detail}</p>`}
      ${row.warnings.map((warning) => html`<p class="marked">${warning}</p>`)}
      <p class="directory" title=${row.directory}><bdi dir="ltr">${row.directory}</bdi></p>
      <ul class="endpoints" role="list" aria-label="MCP servers of ${row.name}">
        ${row.endpoints.map((endpoint) => this.endpointItem(row, endpoint, post))}
      </ul>
    `;
  }

  private endpointItem(row: AgentRow, endpoint: EndpointRow, post: Post): TemplateResult {
    const { icon, tone } = stateLooks[endpoint.state];
    const action = endpointAction(row, endpoint, this.connection);
    return html`<li class="endpoint">
      <span class="codicon codicon-${icon} tone-${tone}" aria-hidden="true"></span>
      <div class="endpoint-text">
        <div class="line">
          <p><span class="state">${endpoint.state}</span> <span class="server">${endpoint.server}</span></p>
          ${action === undefined ? nothing : actionButton(action, 'icon', post)}
        </div>
        ${endpoint.cause === '' ? nothing : html`<p class="cause">${endpoint.cause}</p>`}
        ${endpoint.nextStep === '' ? nothing : html`<p class="next">Next: ${endpoint.nextStep}</p>`}
        ${this.factsLine(endpoint)}
      </div>
    </li>`;
  }

  private factsLine({ lastProofAt, roundTripMs, client }: EndpointRow): TemplateResult | typeof nothing {
    const facts = [
      lastProofAt === undefined
        ? undefined
        : html`proof <bowline-ago .clock=${this.clock} .at=${lastProofAt}></bowline-ago>`,
      roundTripMs === undefined ? undefined : html`probe ${Math.round(roundTripMs)} ms`,
      client === undefined ? undefined : html`${client}`,
    ].filter((fact) => fact !== undefined);
    if (facts.length === 0) return nothing;
    return html`<p class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</p>`;
  }
}

function lifeText({ life, detail, activity }: AgentRow): string {
  if (life !== 'ready' && life !== 'healing' && life !== 'verifying') return life;
  const how = life === 'healing' && detail !== '' ? `${life} (${detail})` : life;
  return `${how}, ${activity === 'unknown' ? 'activity unknown' : activity}`;
}
