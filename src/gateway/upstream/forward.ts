import * as z from 'zod/mini';
import { messageOf } from '../../base/errors.ts';
import type { Disposable } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import type { Caller } from '../mcp/endpointServer.ts';
import type { RequestId } from '../mcp/jsonRpc.ts';
import type { UpstreamRecord } from '../mcp/sessionFile.ts';
import type { UpstreamDefinition, UpstreamDefinitions } from './definition.ts';
import { withoutSecrets } from './definitionSecrets.ts';
import type { ResponseSink } from './forwardAnswer.ts';
import { eventOf, parsed } from './httpEvents.ts';
import { shorteningSink, type ToolNames, withServersName } from './toolNames.ts';
import { introduce, type Introduction, listChanges, restore } from './reinitialise.ts';
import type {
  AgentMessage,
  AnswerSink,
  EventSink,
  ExchangeOutcome,
  UpstreamOpening,
  UpstreamSession,
} from './upstreamSession.ts';

/** Opens one session of an upstream, by the kind of its definition. Connects to nothing. */
export type OpenUpstream = (opening: UpstreamOpening) => UpstreamSession;

/** Limits of the handshake with an upstream, in milliseconds. */
export interface IntroductionTimes {
  /** The agent waits for the first one; then the gateway answers for the upstream. */
  readonly first: number;
  readonly anew: number;
  /** Between two attempts while nobody asks: the first wait, which doubles up to the longest. */
  readonly firstWait: number;
  readonly longestWait: number;
}

export const introductionTimes: IntroductionTimes = {
  first: 8_000,
  anew: 30_000,
  firstWait: 1_000,
  longestWait: 60_000,
};

export interface ForwardedSessionOptions {
  readonly server: string;
  readonly caller: Caller;
  readonly definitions: Pick<UpstreamDefinitions, 'of' | 'wantsLogin'>;
  readonly open: OpenUpstream;
  readonly record: UpstreamRecord;
  /** The record is another one. */
  readonly changed: (record: UpstreamRecord) => void;
  /** The agent's standing stream. */
  readonly standing: EventSink;
  /** See `UpstreamHost.failing`; `roundTripMs`: how long the request took by which it was found to work. */
  readonly failing: (reason: string | undefined, roundTripMs?: number) => void;
  /** The agent gets tools under shorter names than the upstream gave them, which are these. */
  readonly shortened: (tools: readonly string[]) => void;
  /** See `Upstreams.beforeUse`. */
  readonly beforeUse: () => void;
  readonly log: Log;
  readonly times?: IntroductionTimes;
}

/** A session of the upstream with what is on its way through it. */
interface Held {
  readonly kind: 'held';
  readonly session: UpstreamSession;
  /** Takes out of a text what its definition keeps secret. */
  readonly clean: (text: string) => string;
  pending: number;
  /** Why it is used no more: the upstream knows it no more, or it was left. */
  retired?: 'lost' | 'left';
}

type Ready = Held | { readonly kind: 'unreachable'; readonly reason: string };

/** A session that was said `initialize` to. */
interface Attached {
  readonly held: Held;
  readonly definition: UpstreamDefinition;
  readonly introduction: Introduction;
  readonly roundTripMs: number;
}

/**
 * What stands behind one MCP session of an agent: one session of the upstream at a time, replaced by a new one when the
 * upstream forgot it, in one flight for all who wait, so that the agent notices nothing.
 */
export class ForwardedSession implements Disposable {
  private readonly times: IntroductionTimes;
  private current: Held | undefined;
  private opening: Promise<Ready> | undefined;
  private record: UpstreamRecord;
  private listening: { disposable: Disposable | undefined } | undefined;
  private announcements: readonly string[] = [];
  private readonly waiting = new Map<RequestId, Set<ResponseSink>>();
  private retry: ReturnType<typeof setTimeout> | undefined;
  private wait: number;
  /** Counts what has been detached: what was begun before is not attached any more. */
  private detachments = 0;
  /** Ends the handshake that is under way. */
  private handshake = new AbortController();
  private isBeginning = false;
  private isCalledOff = false;
  /** Resolves when nothing is left of what was detached last. */
  private leaving: Promise<void> | undefined;
  private disposed = false;

  constructor(private readonly options: ForwardedSessionOptions) {
    this.times = options.times ?? introductionTimes;
    this.wait = this.times.firstWait;
    this.record = options.record;
  }

  /** Opens the upstream's first session with the agent's `initialize`. */
  async begin(headers: AgentMessage['headers']): Promise<Introduction> {
    this.isBeginning = true;
    try {
      for (;;) {
        const attached = await this.attach(headers, this.times.first);
        if (this.isOver()) return { kind: 'failed', reason: sessionOver };
        if (attached === 'superseded') continue;
        if (attached === undefined) return { kind: 'failed', reason: notConfigured };
        const { held, definition, introduction, roundTripMs } = attached;
        if (introduction.kind === 'failed') this.options.failing(introduction.reason);
        else this.options.failing(undefined, roundTripMs);
        if (introduction.kind === 'introduced') this.use(held, definition);
        else held.session.dispose();
        return introduction;
      }
    } finally {
      this.isBeginning = false;
    }
  }

  /** What a later run of the gateway needs. */
  get kept(): UpstreamRecord {
    return this.record;
  }

  /** Sends a message of the agent on. Never rejects. A request's answer is concluded by the caller. */
  async post(message: AgentMessage, sink: ResponseSink): Promise<ExchangeOutcome> {
    this.options.beforeUse();
    const { reading } = message;
    if (reading.kind === 'request') this.await(reading.id, sink);
    const outcome = await this.pass(this.withServersName(message), sink);
    if (reading.kind === 'request') this.forget(reading.id, sink);
    if (reading.kind === 'notification' && reading.cancels !== undefined) {
      for (const cancelled of [...(this.waiting.get(reading.cancels) ?? [])]) cancelled.giveUp();
    }
    if (outcome.kind === 'answered') this.note(message);
    return outcome;
  }

  /** The agent has a standing stream from now on. */
  listen(lastEventId: string | undefined): void {
    this.unlisten();
    this.options.beforeUse();
    this.listening = { disposable: this.current?.session.listen(this.options.standing, lastEventId) };
    this.announce([]);
    if (this.current === undefined) void this.ready();
  }

  /** The agent's standing stream is gone. */
  unlisten(): void {
    this.listening?.disposable?.dispose();
    this.listening = undefined;
    clearTimeout(this.retry);
  }

  /** Goes on with the stream of an earlier request. Undefined: this upstream's events have no ids. */
  async resume(lastEventId: string, sink: ResponseSink): Promise<ExchangeOutcome | undefined> {
    this.options.beforeUse();
    const held = await this.ready();
    if (held.kind !== 'held') return held;
    return held.session.resume?.(lastEventId, sink);
  }

  /**
   * From now on another connection is used, to what the upstream is by now; that is opened with the next message. What is
   * on its way ends as it began, or at once.
   */
  detach(onItsWay: 'goes on' | 'ends'): void {
    this.detachments++;
    this.handshake.abort();
    const { current } = this;
    if (current === undefined) {
      this.forgetResumption();
      return;
    }
    this.retire(current, 'left');
    if (onItsWay === 'ends') current.session.end();
    if (onItsWay === 'ends' || current.pending === 0) this.leaving = current.session.gone?.();
  }

  /** Opens and verifies that connection now, and tries on for as long as the agent listens. */
  attachAnew(): void {
    this.wait = this.times.firstWait;
    if (!this.isBeginning) void this.ready();
  }

  /** Leaves that to the next message. */
  callOff(): void {
    clearTimeout(this.retry);
    if (this.opening === undefined) return;
    this.isCalledOff = true;
    this.handshake.abort();
  }

  /** Ends what lives for this session alone, such as a process, unless something is on its way: the next message starts it anew. */
  rest(): void {
    const { current } = this;
    if (current?.pending === 0 && current.session.resumption === undefined) this.detach('goes on');
  }

  /** The agent's session is over, and the upstream is told so. */
  async end(): Promise<void> {
    this.options.beforeUse();
    if (this.current === undefined && this.record.resumption !== undefined) {
      const definition = await this.definition();
      if (definition?.digest === this.record.digest) this.openSession(definition, this.record.resumption).session.end();
    }
    this.current?.session.end();
    this.dispose();
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.unlisten();
    this.current?.session.dispose();
    this.current = undefined;
  }

  private async pass(message: AgentMessage, sink: ResponseSink): Promise<ExchangeOutcome> {
    const { reading } = message;
    if (reading.kind !== 'request' && this.current === undefined && this.record.resumption === undefined) {
      // The next session will have a handshake of its own, and know nothing of what this is about.
      return { kind: 'answered' };
    }
    const held = this.current ?? (await this.ready());
    if (held.kind !== 'held') return held;
    const outcome = await this.exchange(held, message, sink);
    // Nor was it processed where what could not be reached is not to be reached any more.
    const isOfTheDetached = outcome.kind === 'unreachable' && held.retired !== undefined;
    if (outcome.kind !== 'session lost' && !isOfTheDetached) return outcome;
    if (held.retired === undefined)
      this.options.log.info('the upstream forgot its session', { ...this.name, reason: outcome.reason });
    this.retire(held, 'lost');
    const next = this.current ?? (await this.ready());
    // What the agent said about the session that is gone means nothing to the new one, which had its own handshake.
    const isOfTheFormer =
      reading.kind === 'response' ||
      (reading.kind === 'notification' && reading.method === 'notifications/initialized');
    if (isOfTheFormer) return { kind: 'answered' };
    if (next.kind !== 'held') return next;
    const repeated = await this.exchange(next, message, sink);
    if (repeated.kind !== 'session lost') return repeated;
    this.retire(next, 'lost');
    const reason = `it forgets each new session at once: ${repeated.reason}`;
    this.options.failing(reason);
    return { kind: 'unreachable', reason };
  }

  private async exchange(held: Held, message: AgentMessage, sink: ResponseSink): Promise<ExchangeOutcome> {
    held.pending++;
    const began = performance.now();
    const told = await held.session.exchange(message, this.sinkOf(message, sink));
    const outcome = told.kind === 'answered' ? told : { ...told, reason: held.clean(told.reason) };
    held.pending--;
    if (held.retired !== undefined) {
      // It says nothing of what is used by now.
      if (held.pending === 0) close(held);
    } else if (outcome.kind !== 'answered') {
      if (outcome.kind !== 'session lost') this.options.failing(outcome.reason);
    } else if (message.reading.kind === 'request' && !sink.gone) {
      this.options.failing(undefined, performance.now() - began);
    }
    return outcome;
  }

  private sinkOf({ reading }: AgentMessage, sink: ResponseSink): AnswerSink {
    if (reading.kind !== 'request' || reading.method !== 'tools/list') return sink;
    return shorteningSink(this.options.server, sink, (names) => {
      this.shortened(names);
    });
  }

  /** On record before the agent calls a tool by such a name: also a later run of the gateway has to know it. */
  private shortened(names: ToolNames): void {
    const { toolNames = {} } = this.record;
    if (Object.entries(names).every(([short, long]) => toolNames[short] === long)) return;
    this.keep({ ...this.record, toolNames: { ...toolNames, ...names } });
    this.options.shortened(Object.values(names));
  }

  private withServersName(message: AgentMessage): AgentMessage {
    const { reading, body } = message;
    const { toolNames } = this.record;
    const isCall = reading.kind === 'request' && reading.method === 'tools/call';
    return isCall && toolNames !== undefined ? { ...message, body: withServersName(body, toolNames) } : message;
  }

  /** The session to use: the current one, that of an earlier run, or a new one; all who ask meanwhile get the same. */
  private ready(): Promise<Ready> {
    if (this.current !== undefined) return Promise.resolve(this.current);
    clearTimeout(this.retry);
    this.opening ??= this.open()
      .catch((error: unknown) => {
        // What fails here is no reason to end the gateway.
        this.options.log.error('an upstream could not be opened', { ...this.name, reason: messageOf(error) });
        return this.failed('Bowline failed to open its session; its log tells more');
      })
      .finally(() => {
        this.opening = undefined;
        this.isCalledOff = false;
      });
    return this.opening;
  }

  private async open(): Promise<Ready> {
    for (;;) {
      await this.leaving;
      this.leaving = undefined;
      const definition = await this.definition();
      if (this.isOver()) return { kind: 'unreachable', reason: sessionOver };
      if (this.isCalledOff) return this.failed(calledOff);
      const { resumption, digest } = this.record;
      if (resumption !== undefined && digest === definition?.digest) {
        return this.use(this.openSession(definition, resumption), definition);
      }
      const { detachments } = this;
      const attached = await this.attach({}, this.times.anew);
      if (attached === 'superseded') continue;
      if (attached === undefined) return this.failed(notConfigured);
      const { held, introduction, roundTripMs } = attached;
      if (introduction.kind !== 'introduced') {
        held.session.dispose();
        const { kind } = introduction;
        return this.failed(kind === 'declined' ? refusalOf(introduction.message, held) : introduction.reason);
      }
      const problems = (await restore(held.session, this.record, this.times.anew)).map(held.clean);
      if (this.isOver() || detachments !== this.detachments) {
        held.session.end();
        continue;
      }
      this.options.log.info('an upstream was initialised anew', { ...this.name, problems: problems.join('; ') });
      this.options.failing(undefined, roundTripMs);
      this.use(held, attached.definition);
      // The agent asks for nothing new before it is verified that somebody answers.
      this.announce(listChanges(introduction.capabilities));
      return held;
    }
  }

  /**
   * Says `initialize` to what the upstream is now. Undefined: there is none. `superseded`: it is another one by the time
   * that it has answered, or did not, and nothing is left of this.
   */
  private async attach(
    headers: AgentMessage['headers'],
    milliseconds: number,
  ): Promise<Attached | 'superseded' | undefined> {
    const { detachments } = this;
    const { signal } = (this.handshake = new AbortController());
    const definition = await this.definition();
    if (definition === undefined) return undefined;
    this.options.beforeUse();
    const held = this.openSession(definition, undefined);
    const began = performance.now();
    const initialize = Buffer.from(this.record.initialize);
    const told = await introduce(held.session, initialize, headers, { milliseconds, signal });
    const introduction = told.kind === 'failed' ? { ...told, reason: held.clean(told.reason) } : told;
    if (this.isOver() || this.isCalledOff || detachments !== this.detachments) {
      held.session.end();
      return 'superseded';
    }
    return { held, definition, introduction, roundTripMs: performance.now() - began };
  }

  private use(held: Held, definition: UpstreamDefinition): Held {
    this.current = held;
    this.wait = this.times.firstWait;
    const { resumption } = held.session;
    const { subscriptions, logLevel, initialize, toolNames } = this.record;
    this.keep({
      ...(toolNames !== undefined && { toolNames }),
      ...{ initialize, digest: definition.digest, subscriptions },
      ...(resumption !== undefined && { resumption }),
      ...(logLevel !== undefined && { logLevel }),
    });
    if (this.listening !== undefined) {
      this.listening.disposable = held.session.listen(this.options.standing, undefined);
    }
    return held;
  }

  /** It is tried again while the agent has a stream: by that it learns of what it then gets. */
  private failed(reason: string): Ready {
    this.options.failing(reason);
    if (this.listening !== undefined && !this.disposed && reason !== calledOff) {
      clearTimeout(this.retry);
      this.retry = setTimeout(() => void this.ready(), this.wait);
      this.retry.unref();
      this.wait = Math.min(this.wait * 2, this.times.longestWait);
    }
    return { kind: 'unreachable', reason };
  }

  private retire(held: Held, why: 'lost' | 'left'): void {
    if (held.retired !== undefined) return;
    held.retired = why;
    if (this.current === held) {
      this.current = undefined;
      this.listening?.disposable?.dispose();
      this.forgetResumption();
    }
    if (held.pending === 0) close(held);
  }

  private forgetResumption(): void {
    const { resumption, ...rest } = this.record;
    if (resumption !== undefined) this.keep(rest);
  }

  private openSession(definition: UpstreamDefinition, resumption: string | undefined): Held {
    const { server, caller, open } = this.options;
    const held: Held = {
      kind: 'held',
      pending: 0,
      clean: (text) => withoutSecrets(definition, text),
      session: open({
        ...{ definition, server, caller, resumption },
        host: {
          failing: (reason) => {
            if (this.current === held) this.options.failing(reason === undefined ? undefined : held.clean(reason));
          },
          lost: (reason) => {
            if (this.current !== held) return;
            this.options.log.info('the session of an upstream is over', { ...this.name, reason: held.clean(reason) });
            this.retire(held, 'lost');
            if (this.listening !== undefined) void this.ready();
          },
          wantsLogin: () => {
            this.options.definitions.wantsLogin(this.name);
          },
        },
      }),
    };
    return held;
  }

  private announce(messages: readonly string[]): void {
    this.announcements = [...new Set([...this.announcements, ...messages])];
    if (this.listening === undefined) return;
    for (const message of this.announcements) this.options.standing.events(eventOf(message));
    this.announcements = [];
  }

  /** Keeps what a new session will have to be told. */
  private note({ reading, body }: AgentMessage): void {
    if (reading.kind !== 'request') return;
    const former = this.record;
    switch (reading.method) {
      case 'resources/subscribe':
      case 'resources/unsubscribe': {
        const uri = subscriptionSchema.safeParse(parsed(body.toString('utf8'))).data?.params.uri;
        if (uri === undefined) return;
        const others = former.subscriptions.filter((one) => one !== uri);
        const subscriptions = reading.method === 'resources/subscribe' ? [...others, uri] : others;
        this.keep({ ...former, subscriptions });
        return;
      }
      case 'logging/setLevel': {
        const logLevel = levelSchema.safeParse(parsed(body.toString('utf8'))).data?.params.level;
        if (logLevel !== undefined) this.keep({ ...former, logLevel });
        return;
      }
      default:
    }
  }

  private keep(record: UpstreamRecord): void {
    this.record = record;
    this.options.changed(record);
  }

  private await(id: RequestId, sink: ResponseSink): void {
    const sinks = this.waiting.get(id);
    if (sinks === undefined) this.waiting.set(id, new Set([sink]));
    else sinks.add(sink);
  }

  private forget(id: RequestId, sink: ResponseSink): void {
    const sinks = this.waiting.get(id);
    sinks?.delete(sink);
    if (sinks?.size === 0) this.waiting.delete(id);
  }

  private definition(): Promise<UpstreamDefinition | undefined> {
    return this.options.definitions.of({ agent: this.options.caller.agent, server: this.options.server });
  }

  /** For after an await, which the compiler takes to change nothing. */
  private isOver(): boolean {
    return this.disposed;
  }

  private get name(): { readonly agent: string; readonly server: string } {
    return { agent: this.options.caller.agent, server: this.options.server };
  }
}

const subscriptionSchema = z.object({ params: z.object({ uri: z.string() }) });
const levelSchema = z.object({ params: z.object({ level: z.string() }) });

/** The beginning is enough for a person. */
function refusalOf(message: string, { clean }: Held): string {
  return `it refuses initialize: ${clean(message).slice(0, 300)}`;
}

const notConfigured = 'it is no longer in the configuration of this agent';
const sessionOver = 'the session has ended';
const calledOff = 'reconnecting it was called off; the next call tries it again';

function close({ session, retired }: Held): void {
  if (retired === 'left') session.end();
  else session.dispose();
}
