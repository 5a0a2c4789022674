import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { AgentRow, FleetView } from '../core/fleet/select.ts';
import { applyChanges } from '../core/fleet/viewChanges.ts';
import type { HostToWebviewMessage, Opening, ProbeHistory } from '../protocol/webview.ts';
import { announce } from './announcements.ts';
import { browserClock } from './browserClock.ts';
import { filterAgents } from './filter.ts';
import { filterBox, legend } from './filterBox.ts';
import type { Host } from './host.ts';
import { chooseLayout, type Layout } from './layout.ts';
import { columnsOf, nextTrouble, type Place, troubledAgents } from './matrix.ts';
import { MatrixElement, type PickPlace } from './matrixElement.ts';
import { type PageState, readPageState } from './pageState.ts';
import { awayBanner, blackoutWarning, connecting, emptyState, summary } from './sections.ts';
import { isSamePlace, selectedPlace, subjectAt } from './selection.ts';
import { timeline } from './timeline.ts';

/** Sentences that stay in the live region: enough to be read out, too few to pile up. */
const sentencesKept = 6;

/** The whole page. It draws what the host sends and keeps only how it is looked at. */
export class BindingHealthPage extends LitElement {
  static readonly tag = 'bowline-binding-health';

  @state() private view: FleetView | undefined;
  @state() private opening: Opening | undefined;
  @state() private probes: ProbeHistory | undefined;
  @state() private page: PageState = readPageState(undefined);
  @state() private sentences: readonly { readonly id: number; readonly text: string }[] = [];
  /** Of the page, in em of its font. */
  @state() private width = 0;

  private host: Host | undefined;
  private focused: Element | undefined;
  private columns: readonly string[] = [];
  /** As they were before the gateway went: a hiccup changes no cell. */
  private steadyRows: readonly AgentRow[] = [];
  private watched: Place | undefined;
  private isScrolledBack = false;
  private readonly clock = browserClock();
  private readonly visibilityChanged = (): void => {
    this.clock.visibilityChanged();
  };
  private readonly scrolled = (): void => {
    if (this.isScrolledBack) this.keep({ scroll: window.scrollY });
  };
  private readonly resizes = new ResizeObserver(() => {
    this.measure();
  });

  /** Gives the page its host, takes up what an earlier page left, and asks for the present. */
  connect(host: Host): void {
    this.host = host;
    this.page = readPageState(host.readState());
    host.onMessage((message) => {
      this.received(message);
    });
    host.post({ kind: 'ready' });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('visibilitychange', this.visibilityChanged);
    document.addEventListener('scrollend', this.scrolled);
    this.measure();
    this.resizes.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('visibilitychange', this.visibilityChanged);
    document.removeEventListener('scrollend', this.scrolled);
    this.resizes.disconnect();
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
    this.watch();
    if (this.view !== undefined && !this.isScrolledBack) void this.scrollBack();
  }

  protected override render(): TemplateResult {
    return html`
      <h1 class="visually-hidden">Binding Health</h1>
      ${this.view === undefined ? connecting() : this.present(this.view)}
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
    const { connection, blackouts, status } = view;
    if (view.agents.length === 0) {
      return html`${emptyState(this.opening, this.post)}
      ${view.timeline.length === 0 ? nothing : this.events(view, 'below')}`;
    }
    const rows = this.rows(view);
    const layout = chooseLayout(this.width, this.columns.length);
    const isAway = connection.kind === 'away' && status.severity === 'error';
    return html`
      ${summary(view, { count: troubledAgents(rows).length, go: this.goToTrouble })}
      ${isAway ? awayBanner(connection, this.clock, this.post) : nothing}
      ${repeat(
        blackouts,
        ({ outage }) => outage,
        (blackout) => blackoutWarning(blackout, connection.kind, this.post, this.showLost),
      )}
      <div class="layout ${layout.details}">
        ${this.agents(view, rows, layout)}
        <div class="side">
          <div>
            ${layout.details === 'beside' ? this.details(view, rows) : nothing} ${this.events(view, layout.details)}
          </div>
        </div>
      </div>
    `;
  }

  private agents(view: FleetView, rows: readonly AgentRow[], { density, details }: Layout): TemplateResult {
    const shown = filterAgents(rows, this.page.filter);
    return html`<section class="agents" aria-labelledby="agents-title">
      <h2 id="agents-title" class="visually-hidden">Agents</h2>
      ${filterBox(rows, shown, this.page.filter, (filter) => {
        this.keep({ filter });
      })}
      ${legend(rows, density)}
      <bowline-matrix
        .rows=${shown}
        .columns=${this.columns}
        .density=${density}
        .selected=${selectedPlace(this.page.selected, rows)}
        .details=${details === 'below' ? this.details(view, rows) : undefined}
        .pick=${this.pick}
      ></bowline-matrix>
    </section>`;
  }

  private details(view: FleetView, rows: readonly AgentRow[]): TemplateResult | undefined {
    const place = selectedPlace(this.page.selected, rows);
    const subject = place && subjectAt(place, rows, view, this.probes);
    if (subject === undefined) return undefined;
    return html`<bowline-details
      .subject=${subject}
      .connection=${view.connection.kind}
      .clock=${this.clock}
      .post=${this.post}
      .leave=${this.leave}
    ></bowline-details>`;
  }

  private events({ timeline: entries }: FleetView, where: Layout['details']): TemplateResult {
    const look = { state: this.page.timeline ?? (where === 'beside' ? 'open' : 'closed'), events: this.page.events };
    return timeline(entries, look, this.clock, (changed) => {
      this.keep(changed);
    });
  }

  private received(message: HostToWebviewMessage): void {
    this.clock.synchronise(message.now);
    this.opening = message.opening;
    this.probes = message.probes;
    if (message.kind === 'view') this.view = message.view;
    // Changes of a view that an earlier page had: the whole is on its way.
    else if (this.view !== undefined) this.view = applyChanges(this.view, message.changes);
    if (this.view !== undefined) this.speak(this.view);
  }

  private rows({ agents, connection, status }: FleetView): readonly AgentRow[] {
    const isHiccup = connection.kind === 'away' && status.severity === 'neutral' && this.steadyRows.length > 0;
    if (!isHiccup) this.steadyRows = agents;
    const columns = columnsOf(this.steadyRows);
    if (columns.join('\n') !== this.columns.join('\n')) this.columns = columns;
    return this.steadyRows;
  }

  private readonly pick: PickPlace = (place, how) => {
    const { selected } = this.page;
    const isShown = typeof selected === 'object' && isSamePlace(selected, place);
    this.keep({ selected: isShown && how === 'show' ? 'nothing' : place });
    if (how === 'open') void this.drawn().then(() => this.querySelector<HTMLElement>('#details-title')?.focus());
  };

  private readonly leave = (how: 'return' | 'close'): void => {
    const place = selectedPlace(this.page.selected, this.steadyRows);
    if (how === 'close') this.keep({ selected: 'nothing' });
    if (place !== undefined) this.matrix?.focusOn(place);
  };

  private readonly goToTrouble = (): void => {
    const { selected, filter } = this.page;
    const place = nextTrouble(
      filterAgents(this.steadyRows, filter),
      typeof selected === 'object' ? selected : undefined,
    );
    if (place !== undefined) this.goTo(place);
  };

  private readonly showLost = (agent: string): void => {
    const row = this.steadyRows.find(({ name }) => name === agent);
    const lost = row?.endpoints.find(({ state: one }) => one === 'unbound' || one === 'gateway down');
    // A filter that hides it would make its name do nothing.
    const isHidden = !filterAgents(this.steadyRows, this.page.filter).some(({ name }) => name === agent);
    if (isHidden) this.keep({ filter: { text: '', scope: 'all' } });
    this.goTo({ agent, ...(lost !== undefined && { server: lost.server }) });
  };

  private goTo(place: Place): void {
    this.keep({ selected: place });
    void this.drawn().then(() => this.matrix?.focusOn(place));
  }

  private get matrix(): MatrixElement | null {
    return this.querySelector<MatrixElement>(MatrixElement.tag);
  }

  private async drawn(): Promise<void> {
    await this.updateComplete;
    await this.matrix?.updateComplete;
  }

  private readonly post = (message: Parameters<Host['post']>[0]): void => {
    this.host?.post(message);
  };

  /** Tells the host whose probes are shown, when that changes. */
  private watch(): void {
    const place = selectedPlace(this.page.selected, this.steadyRows);
    const wanted = place?.server === undefined ? undefined : place;
    if (isSamePlace(wanted, this.watched)) return;
    this.watched = wanted;
    this.post({ kind: 'watch', ...wanted });
  }

  private measure(): void {
    const em = Number.parseFloat(getComputedStyle(this).fontSize) || 13;
    this.width = Math.floor((document.documentElement.clientWidth / em) * 4) / 4;
  }

  /** Once all is drawn, because rows that were never drawn have only a guessed height. */
  private async scrollBack(): Promise<void> {
    this.isScrolledBack = true;
    await this.drawn();
    if (this.page.scroll > 0) window.scrollTo({ top: this.page.scroll, behavior: 'instant' });
  }

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
