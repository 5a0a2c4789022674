import * as z from 'zod/mini';
import type { Event } from '../../base/events.ts';
import type { Disposable } from '../../base/lifecycle.ts';
import type { Log } from '../../base/log.ts';
import { sessionRevisions } from '../mcp/revisions.ts';
import { KeptAnswer } from './forwardAnswer.ts';
import { parsed } from './httpEvents.ts';
import type {
  AgentMessage,
  AnswerSink,
  EventSink,
  ExchangeOutcome,
  UpstreamOpening,
  UpstreamSession,
} from './upstreamSession.ts';

export interface RevisionSessionOptions {
  readonly opening: UpstreamOpening;
  /** See `HttpPool.onDidInvalidate`. */
  readonly onDidInvalidate: Event<void>;
  readonly log: Log;
}

/**
 * A session of an upstream of whichever revision. It is spoken to as the agent speaks; where it refuses `initialize` it
 * is asked whether it is of the stateless family, and then translated for. One that knows both never gets that far.
 */
export class RevisionSession implements UpstreamSession {
  private session: UpstreamSession;

  constructor(
    private readonly carrier: UpstreamSession,
    private readonly options: RevisionSessionOptions,
  ) {
    this.session = carrier;
  }

  get resumption(): string | undefined {
    return this.session.resumption;
  }

  exchange(message: AgentMessage, sink: AnswerSink): Promise<ExchangeOutcome> {
    const { reading } = message;
    return reading.kind === 'request' && reading.method === 'initialize'
      ? this.initialize(message, sink)
      : this.session.exchange(message, sink);
  }

  listen(sink: EventSink, lastEventId: string | undefined): Disposable {
    return this.session.listen(sink, lastEventId);
  }

  resume(lastEventId: string, sink: AnswerSink): Promise<ExchangeOutcome> | undefined {
    return this.session.resume?.(lastEventId, sink);
  }

  end(): void {
    this.session.end();
  }

  dispose(): void {
    this.session.dispose();
  }

  async gone(): Promise<void> {
    await this.carrier.gone?.();
  }

  private async initialize(message: AgentMessage, sink: AnswerSink): Promise<ExchangeOutcome> {
    if (message.reading.kind !== 'request') throw new Error('initialize is a request');
    const kept = new KeptAnswer(message.reading.id);
    sink.onGone(() => {
      kept.giveUp();
    });
    const outcome = await this.carrier.exchange(message, kept);
    if (outcome.kind !== 'answered' || kept.message === undefined || kept.gone) return outcome;
    const answer = parsed(kept.message);
    const version = initializedSchema.safeParse(answer).data?.result.protocolVersion;
    if (version !== undefined && !sessionRevisions.some((one) => one === version)) {
      const reason = `it wants to speak MCP ${version.slice(0, 20)}, which Bowline serves in no session`;
      return { kind: 'refused', reason };
    }
    if (!isError(answer)) {
      sink.json(kept.message);
      return outcome;
    }
    const { openStateless } = await import('./stateless/openStateless.ts');
    const opening = await openStateless(message, { carrier: this.carrier, ...this.options });
    if (opening.kind === 'not served') return { kind: 'refused', reason: opening.reason };
    if (opening.kind === 'opened') this.session = opening.session;
    sink.json(opening.kind === 'opened' ? opening.introduction : kept.message);
    return outcome;
  }
}

const initializedSchema = z.object({ result: z.object({ protocolVersion: z.string() }) });

function isError(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'error' in answer;
}
