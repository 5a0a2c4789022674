import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Event } from '../../base/events.ts';
import { DisposableObject, toDisposable } from '../../base/lifecycle.ts';
import { beginningOf } from './httpBody.ts';
import { reasonOf, saysSessionLost, statusReason } from './httpFailure.ts';
import { passEvents } from './httpStream.ts';
import { TimeLimit } from './timeLimit.ts';
import type { EventSink } from './upstreamSession.ts';

export interface HttpListenerOptions {
  /** Asks for the upstream's standing stream, after this event. */
  readonly connect: (lastEventId: string | undefined) => ClientRequest;
  readonly sink: EventSink;
  readonly lastEventId: string | undefined;
  readonly hasSession: () => boolean;
  readonly failing: (reason: string | undefined) => void;
  readonly lost: (reason: string) => void;
  /** The connection is not to be trusted any more. */
  readonly onDidInvalidate: Event<void>;
}

/** Between two attempts, in milliseconds: at first, and at most. A stream that lived for `sound` begins anew. */
const waits = { first: 100, longest: 30_000, sound: 5_000 } as const;

/** What is said to a refusal is waited for so long, in milliseconds. */
const longestRefusal = 10_000;

/** Follows the standing stream of an upstream as long as the agent has one. */
export class HttpListener extends DisposableObject {
  private request: ClientRequest | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait: number = waits.first;
  private lastEventId: string | undefined;
  private over = false;

  constructor(private readonly options: HttpListenerOptions) {
    super();
    this.lastEventId = options.lastEventId;
    this._register(
      toDisposable(() => {
        this.over = true;
        clearTimeout(this.timer);
        this.request?.destroy();
      }),
    );
    this._register(
      options.onDidInvalidate(() => {
        this.wait = 0;
        this.request?.destroy();
      }),
    );
    this.connect();
  }

  private connect(): void {
    if (this.over) return;
    const request = this.options.connect(this.lastEventId);
    this.request = request;
    request.on('error', (error) => {
      if (this.over || request !== this.request) return;
      this.options.failing(reasonOf(error));
      this.later();
    });
    request.on('response', (response) => void this.read(response));
  }

  private async read(response: IncomingMessage): Promise<void> {
    const { statusCode: status = 0 } = response;
    response.on('error', () => undefined);
    if (status === 200 && /^text\/event-stream/i.test(response.headers['content-type'] ?? '')) {
      this.options.failing(undefined);
      const since = performance.now();
      let retry: number | undefined;
      await passEvents(response, this.options.sink, (event) => {
        this.lastEventId = event.id ?? this.lastEventId;
        retry = event.retry ?? retry;
      });
      if (performance.now() - since > waits.sound) this.wait = Math.min(this.wait, waits.first);
      this.later(retry);
      return;
    }
    const limit = new TimeLimit(longestRefusal, () => response.destroy());
    const text = await beginningOf(response);
    limit.dispose();
    if (this.over) return;
    if (saysSessionLost(status, this.options.hasSession(), text)) this.options.lost(statusReason(status, text));
    // 409: the upstream has not noticed yet that the stream before is gone. All else means that it has none to give.
    else if (status === 409 || status >= 500) this.later();
    else this.dispose();
  }

  private later(atLeast = 0): void {
    if (this.over) return;
    const wait = Math.max(this.wait, atLeast);
    this.wait = Math.min(Math.max(this.wait, waits.first) * 2, waits.longest);
    this.timer = setTimeout(() => {
      this.connect();
    }, wait);
    this.timer.unref();
  }
}
