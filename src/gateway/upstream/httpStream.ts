import type { IncomingMessage } from 'node:http';
import { eventOf, EventSplitter, isBatch, parsed, readEvent, type StreamEvent } from './httpEvents.ts';
import type { EventSink } from './upstreamSession.ts';

/** How a stream ended: by its end, by a connection that broke, or because one event was over the limit. */
export type StreamEnd = 'ended' | 'cut' | 'too long';

/** Passes the whole events of a stream on as they come, no faster than they are taken. A torn one at the end is dropped. */
export function passEvents(
  response: IncomingMessage,
  sink: EventSink,
  onEvent: (event: StreamEvent) => void,
): Promise<StreamEnd> {
  return new Promise((resolve) => {
    const splitter = new EventSplitter();
    response.on('data', (chunk: Buffer) => {
      const events = splitter.push(chunk);
      if (events === undefined) {
        resolve('too long');
        response.destroy();
        return;
      }
      let room = true;
      for (const event of events) {
        const read = readEvent(event);
        if (read.data.startsWith('[')) room = passBatch(read, sink, onEvent);
        else {
          onEvent(read);
          room = sink.events(event);
        }
      }
      if (room) return;
      response.pause();
      void sink.drained().then(() => response.resume());
    });
    response.on('end', () => {
      resolve('ended');
    });
    response.on('error', () => {
      resolve('cut');
    });
    response.on('close', () => {
      resolve('cut');
    });
  });
}

/** Passes the messages of a batch on one by one. */
function passBatch(batch: StreamEvent, sink: EventSink, onEvent: (event: StreamEvent) => void): boolean {
  let room = true;
  for (const event of unbatched(batch)) {
    onEvent(event);
    room = sink.events(`${event.id === undefined ? '' : `id: ${event.id}\n`}${eventOf(event.data)}`);
  }
  return room;
}

/** The id stands for all of them, so that a client comes back behind the last. */
function unbatched(batch: StreamEvent): readonly StreamEvent[] {
  const messages = parsed(batch.data);
  if (!isBatch(messages)) return [batch];
  return messages.map((message, index) => ({
    ...batch,
    id: index === messages.length - 1 ? batch.id : undefined,
    data: JSON.stringify(message),
  }));
}
