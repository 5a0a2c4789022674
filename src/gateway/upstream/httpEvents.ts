import { ByteParts } from '../byteParts.ts';
import type { RequestId } from '../mcp/jsonRpc.ts';

const lineFeed = 10;
const carriageReturn = 13;

/** An event of more bytes than this is taken for no event: its end may never come. */
export const longestEvent: number = 16 * 1024 * 1024;

/**
 * Cuts what an upstream streams into whole events, each with the blank line that ends it, as it came. Only whole events
 * may be passed on where others write to the same stream, and where one of the gateway's own may have to follow.
 */
export class EventSplitter {
  private readonly parts = new ByteParts();
  private lineIsEmpty = true;
  private afterReturn = false;

  /** The events that end in `chunk`; undefined when one is longer than `longest` bytes. */
  push(chunk: Buffer, longest: number = longestEvent): Buffer[] | undefined {
    const events: Buffer[] = [];
    const hasReturns = chunk.includes(carriageReturn);
    let start = 0;
    // The second half of a line end that was torn.
    let at = this.afterReturn && chunk[0] === lineFeed ? 1 : 0;
    this.afterReturn = false;
    while (at < chunk.length) {
      const end = lineEnd(chunk, at, hasReturns);
      if (end < 0) {
        this.lineIsEmpty = false;
        break;
      }
      let next = end + 1;
      if (chunk[end] === carriageReturn) {
        if (chunk[next] === lineFeed) next++;
        else this.afterReturn = next === chunk.length;
      }
      if (end === at && this.lineIsEmpty) {
        events.push(this.take(chunk.subarray(start, next)));
        start = next;
      }
      this.lineIsEmpty = true;
      at = next;
    }
    if (start < chunk.length) this.parts.add(chunk.subarray(start));
    return this.parts.size > longest || events.some(({ length }) => length > longest) ? undefined : events;
  }

  private take(last: Buffer): Buffer {
    if (this.parts.size === 0) return last;
    this.parts.add(last);
    return this.parts.take();
  }
}

/** An id comes back in a header. One that does not fit there is none. */
const fitsHeader = /^[\x20-\x7e]*$/;

/** In milliseconds. A timer of more than 24 days would fire at once. */
const longestRetry = 3_600_000;

/** What one event holds: the fields that the standard names, as far as they matter here. */
export interface StreamEvent {
  readonly id: string | undefined;
  /** Undefined: a `message`. */
  readonly name: string | undefined;
  /** Milliseconds after which a client should come back. */
  readonly retry: number | undefined;
  /** Empty where there is none, as in a comment. */
  readonly data: string;
}

export function readEvent(event: Buffer): StreamEvent {
  let id: string | undefined;
  let name: string | undefined;
  let retry: number | undefined;
  const data: string[] = [];
  for (const line of event.toString('utf8').split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const value = line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    const field = line.slice(0, colon);
    if (field === 'data') data.push(value);
    else if (field === 'id' && fitsHeader.test(value)) id = value;
    else if (field === 'event') name = value;
    else if (field === 'retry' && /^\d+$/.test(value)) retry = Math.min(Number(value), longestRetry);
  }
  return { id, name, retry, data: data.join('\n') };
}

/** The data of those events that end in `part` and have some. */
export function dataOf(splitter: EventSplitter, part: Buffer | string): string[] {
  const events = splitter.push(Buffer.from(part)) ?? [];
  return events.map((event) => readEvent(event).data).filter((data) => data !== '');
}

/** Whether `data` is the response to the request `id`. */
export function isResponseTo(id: RequestId, data: string): boolean {
  const message = parsed(data);
  return (
    typeof message === 'object' && message !== null && 'id' in message && message.id === id && !('method' in message)
  );
}

/** Of one batch. No server sends so many, and each is an event of its own. */
const mostInBatch = 1000;

/** Whether these are messages sent at once: servers of 2025-03-26 may do that, and no other revision knows it. */
export function isBatch(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= mostInBatch;
}

/** A message as an event of the gateway's own. */
export function eventOf(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

/** Any JSON value; undefined for what is not JSON. */
export function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function lineEnd(chunk: Buffer, from: number, hasReturns: boolean): number {
  const feed = chunk.indexOf(lineFeed, from);
  if (!hasReturns) return feed;
  const end = chunk.indexOf(carriageReturn, from);
  return end >= 0 && (feed < 0 || end < feed) ? end : feed;
}
