import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { AgentRow, FleetView } from '../core/fleet/select.ts';
import { announce } from './announcements.ts';
import { agentsWithoutFilter, filterAgents, needsAttention } from './filter.ts';
import type { Host } from './host.ts';
import { PageClock } from './pageClock.ts';
import { type PageState, readPageState } from './pageState.ts';
import { awayBanner, blackoutWarning, emptyState, summary, timeline } from './sections.ts';

/** Sentences that stay in the live region: enough to be read out, too few to pile up. */
const sentencesKept = 6;

/** The whole page. It draws what the host sends and keeps only how it is looked at. */
export class BindingHealthPage extends LitElement {
  static readonly tag = 'bowline-binding-health';

  @state() private view: FleetView | undefined;
  @state() private page: PageState = readPageState(undefined);
  @state() private sentences: readonly { readonly id: number; readonly text: string }[] = [];

  private host: Host | undefined;
  private focused: Element | undefined;
  private readonly clock = new PageClock({
    wall: () => Date.now(),
    later: (run, delay) => {
      const timer = setTimeout(run, delay);
      return {
        dispose: () => {
          clearTimeout(timer);
        },
      };
    },
    visible: () => !document.hidden,
  });
  private readonly visibilityChanged = (): void => {
    this.clock.visibilityChanged();
  };

  /** Gives the page its host, takes up what an earlier page left, and asks for the present. */
  connect(host: Host): void {
    this.host = host;
    this.page = readPageState(host.readState());
    host.onMessage(({ view, now }) => {
      this.clock.synchronise(now);
      this.view = view;
      this.speak(view);
    });
    host.post({ kind: 'ready' });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('visibilitychange', this.visibilityChanged);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('visibilitychange', this.visibilityChanged);
    this.clock.dispose();
  }

  /** The icon font and the page's styles reach only what has no shadow root. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Many messages in one frame are drawn once, and none while the page is hidden. */
  protected override async scheduleUpdate(): Promise<void> {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    await super.scheduleUpdate();
  }

  protected override willUpdate(): void {
    const active = document.activeElement;
    this.focused = active !== null && this.contains(active) ? active : undefined;
  }

  /** A button that went with its warning must not take the keyboard's place with it. */
  protected override updated(): void {
    if (this.focused?.isConnected === false) {
      this.querySelector<HTMLElement>('.summary')?.focus({ preventScroll: true });
    }
  }

  protected override render(): TemplateResult {
    return html`
      ${this.view === undefined ? html`<p class="quiet loading">Waiting for Bowline …</p>` : this.present(this.view)}
      <div class="visually-hidden" role="log" aria-live="polite" aria-label="Announcements">
        ${repeat(
          this.sentences,
          ({ id }) => id,
          ({ text }) => html`<p>${text}</p>`,
        )}
      </div>
    `;
  }

  private present(view: FleetView): TemplateResult {
    const { agents, connection } = view;
    return html`
      ${agents.length === 0 ? nothing : html`${summary(view)} ${awayBanner(connection, this.clock, this.post)}`}
      ${repeat(
        view.blackouts,
        ({ outage }) => outage,
        (blackout) => blackoutWarning(blackout, connection.kind, this.post),
      )}
      ${agents.length === 0 ? emptyState() : this.agentSection(view)}
      ${
        agents.length === 0 && view.timeline.length === 0
          ? nothing
          : timeline(view.timeline, this.page.timeline, this.clock, this.timelineToggled)
      }
    `;
  }

  private agentSection({ agents, connection }: FleetView): TemplateResult {
    const shown = filterAgents(agents, this.page.filter);
    return html`<section class="agents" aria-labelledby="agents-title">
      <h2 id="agents-title" class="visually-hidden">Agents</h2>
      ${agents.length > agentsWithoutFilter ? this.filterBox(agents, shown) : nothing}
      <ul
        class=${agents.length > agentsWithoutFilter ? 'cards many' : 'cards'}
        role="list"
        aria-label="Agents"
        @keydown=${this.moveBetweenCards}
      >
        ${repeat(
          shown,
          ({ name }) => name,
          (row) =>
            html`<li class="card">
              <bowline-agent-card
                .row=${row}
                .connection=${connection.kind}
                .clock=${this.clock}
                .post=${this.post}
              ></bowline-agent-card>
            </li>`,
        )}
      </ul>
    </section>`;
  }

  private filterBox(agents: readonly AgentRow[], shown: readonly AgentRow[]): TemplateResult {
    const { text, scope } = this.page.filter;
    const attention = agents.filter(needsAttention).length;
    return html`<div class="filter" role="search">
      <input
        type="search"
        placeholder="Filter by name, directory or state"
        aria-label="Filter agents"
        .value=${text}
        @input=${this.filterTyped}
      />
      <label>
        <input type="checkbox" .checked=${scope === 'attention'} @change=${this.scopeChanged} />
        Only those that need you (${attention})
      </label>
      <p class="quiet" role="status">
        ${shown.length === agents.length ? `${agents.length} agents` : `${shown.length} of ${agents.length} agents`}
      </p>
    </div>`;
  }

  private readonly post = (message: Parameters<Host['post']>[0]): void => {
    this.host?.post(message);
  };

  private readonly filterTyped = (event: Event): void => {
    if (!(event.target instanceof HTMLInputElement)) return;
    this.keep({ filter: { ...this.page.filter, text: event.target.value } });
  };

  private readonly scopeChanged = (event: Event): void => {
    if (!(event.target instanceof HTMLInputElement)) return;
    this.keep({ filter: { ...this.page.filter, scope: event.target.checked ? 'attention' : 'all' } });
  };

  private readonly timelineToggled = (event: Event): void => {
    if (!(event.target instanceof HTMLDetailsElement)) return;
    this.keep({ timeline: event.target.open ? 'open' : 'closed' });
  };

  /** Up and down go to the same button of the next agent; the tab key goes through all of them. */
  private readonly moveBetweenCards = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    const cards = [...this.querySelectorAll('.card')];
    const from = cards.findIndex((card) => card.contains(button));
    const to = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: cards.length - 1 }[event.key];
    const card = to === undefined ? undefined : cards[to];
    if (button === null || card === undefined) return;
    event.preventDefault();
    const same = card.querySelector<HTMLElement>(`button[data-command="${button.dataset.command ?? ''}"]`);
    (same ?? card.querySelector<HTMLElement>('button'))?.focus();
  };

  private speak(view: FleetView): void {
    const { memory, sentences } = announce(this.page.announced, view);
    if (JSON.stringify(memory) !== JSON.stringify(this.page.announced)) this.keep({ announced: memory });
    const next = (this.sentences.at(-1)?.id ?? 0) + 1;
    const added = sentences.map((text, index) => ({ id: next + index, text }));
    if (added.length > 0) this.sentences = [...this.sentences, ...added].slice(-sentencesKept);
  }

  private keep(changed: Partial<PageState>): void {
    this.page = { ...this.page, ...changed };
    this.host?.keepState(this.page);
  }
}
