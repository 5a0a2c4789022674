import type { IncomingMessage } from 'node:http';
import { EventSplitter, readEvent, type StreamEvent } from './httpEvents.ts';
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
        onEvent(readEvent(event));
        room = sink.events(event);
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
