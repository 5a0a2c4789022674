import type { RequestId } from '../../mcp/jsonRpc.ts';
import { dataOf, eventOf, EventSplitter, isResponseTo } from '../httpEvents.ts';
import type { AnswerSink } from '../upstreamSession.ts';

/** The agent's side of one of its requests: what it is told, on whichever round of it. */
export class Reply {
  private isStreaming = false;

  constructor(private readonly sink: AnswerSink) {}

  /** A message before the answer. False: see `EventSink.events`. */
  event(message: string): boolean {
    this.isStreaming = true;
    return this.sink.events(eventOf(message.replaceAll(/[\r\n]/g, ' ')));
  }

  answer(message: string): void {
    if (this.isStreaming) this.event(message);
    else this.sink.json(message);
  }

  drained(): Promise<void> {
    return this.sink.drained();
  }

  onGone(listener: () => void): void {
    this.sink.onGone(listener);
  }
}

/** Takes what an upstream says to one request: passes on what comes before the answer, and keeps that. */
export class RoundSink implements AnswerSink {
  /** The response, as it came. */
  response: string | undefined;
  private readonly splitter = new EventSplitter();

  constructor(
    private readonly id: RequestId,
    private readonly reply: Reply,
  ) {}

  json(message: Buffer | string): void {
    this.response = message.toString();
  }

  events(part: Buffer | string): boolean {
    let room = true;
    for (const data of dataOf(this.splitter, part)) {
      if (isResponseTo(this.id, data)) this.response ??= data;
      else room = this.reply.event(data);
    }
    return room;
  }

  drained(): Promise<void> {
    return this.reply.drained();
  }

  onGone(listener: () => void): void {
    this.reply.onGone(listener);
  }
}
