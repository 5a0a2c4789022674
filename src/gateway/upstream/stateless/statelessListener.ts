import * as z from 'zod/mini';
import { Sequencer } from '../../../base/async.ts';
import type { Event } from '../../../base/events.ts';
import { DisposableObject, toDisposable } from '../../../base/lifecycle.ts';
import { rpcCodes } from '../../mcp/jsonRpc.ts';
import { eventOf, parsed } from '../httpEvents.ts';
import type { AnswerSink, EventSink, ExchangeOutcome } from '../upstreamSession.ts';
import { type ListenFilter, ListenStream } from './listenStream.ts';

export interface StatelessListenerOptions {
  /** Sends `subscriptions/listen` under this id. */
  readonly ask: (id: string, filter: ListenFilter, sink: AnswerSink) => Promise<ExchangeOutcome>;
  /** What is to be listened to by now. */
  readonly wanted: () => ListenFilter;
  readonly sink: EventSink;
  readonly failing: (reason: string | undefined) => void;
  /** The connection is not to be trusted any more. */
  readonly onDidInvalidate: Event<void>;
}

/** Between two attempts, in milliseconds: at first, and at most. A stream that lived for `sound` begins anew. */
const waits = { first: 100, longest: 30_000, sound: 5_000 } as const;

/** How long an acknowledgement is waited for, in milliseconds. */
const longestSilence = 10_000;

/** Has the upstream tell of changes as long as the agent has a standing stream. */
export class StatelessListener extends DisposableObject {
  /** That by which the upstream tells. */
  private current: ListenStream | undefined;
  private readonly renewals = new Sequencer();
  private readonly streams = new Set<ListenStream>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait: number = waits.first;
  private last = 0;
  /** Since when the current one tells. */
  private since = 0;
  /** A stream that told of changes has ended: some may not have been told. */
  private hasMissed = false;
  private over = false;

  constructor(private readonly options: StatelessListenerOptions) {
    super();
    this._register(
      toDisposable(() => {
        this.over = true;
        clearTimeout(this.timer);
        for (const stream of this.streams) stream.giveUp();
      }),
    );
    this._register(
      options.onDidInvalidate(() => {
        this.hasMissed = true;
        void this.renew();
      }),
    );
  }

  /**
   * Listens to what is wanted by now. Resolves with what the upstream is going to tell of; undefined: it did not say so,
   * and is asked again until it does. The stream before ends when the new one tells.
   */
  renew(): Promise<ListenFilter | undefined> {
    return this.renewals.run(() => this.open());
  }

  private async open(): Promise<ListenFilter | undefined> {
    clearTimeout(this.timer);
    if (this.over) return undefined;
    const filter = this.options.wanted();
    const former = this.current;
    for (const silent of this.streams) if (silent !== former) silent.giveUp();
    if (Object.keys(filter).length === 0) {
      former?.giveUp();
      return {};
    }
    return new Promise((resolve) => {
      const limit = setTimeout(() => {
        resolve(undefined);
      }, longestSilence).unref();
      const settle = (told: ListenFilter | undefined): void => {
        clearTimeout(limit);
        resolve(told);
      };
      const stream = new ListenStream(`bowline-listen-${++this.last}`, this.options.sink, () => {
        this.current = stream;
        former?.giveUp();
        this.since = performance.now();
        this.options.failing(undefined);
        if (this.hasMissed) this.tellAll(filter);
        this.hasMissed = false;
        settle(stream.acknowledged);
      });
      this.streams.add(stream);
      void this.options.ask(stream.id, filter, stream).then((outcome) => {
        this.streams.delete(stream);
        settle(undefined);
        if (!stream.gone) this.ended(stream, outcome);
      });
    });
  }

  private ended(stream: ListenStream, outcome: ExchangeOutcome): void {
    const told = stream.acknowledged !== undefined;
    if (stream === this.current) this.current = undefined;
    this.hasMissed ||= told;
    // A session that is lost is followed by another.
    if (saysNothingToHear(stream.response) || outcome.kind === 'session lost') return;
    if (told && performance.now() - this.since > waits.sound) this.wait = waits.first;
    if (!told && outcome.kind !== 'answered') this.options.failing(outcome.reason);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.renew(), this.wait).unref();
    this.wait = Math.min(this.wait * 2, waits.longest);
  }

  private tellAll(filter: ListenFilter): void {
    const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions = [] } = filter;
    const tell = (method: string, params?: object): void => {
      this.options.sink.events(eventOf(JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) })));
    };
    if (toolsListChanged === true) tell('notifications/tools/list_changed');
    if (promptsListChanged === true) tell('notifications/prompts/list_changed');
    if (resourcesListChanged === true) tell('notifications/resources/list_changed');
    for (const uri of resourceSubscriptions) tell('notifications/resources/updated', { uri });
  }
}

/** Whether the upstream does not know the method. */
function saysNothingToHear(response: string | undefined): boolean {
  return errorSchema.safeParse(response === undefined ? undefined : parsed(response)).success;
}

const errorSchema = z.object({ error: z.object({ code: z.literal(rpcCodes.methodNotFound) }) });
