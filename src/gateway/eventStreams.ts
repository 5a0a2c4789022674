import type { ServerResponse } from 'node:http';
import { DisposableObject, toDisposable } from '../base/lifecycle.ts';
import type { FleetService } from './fleetService.ts';

/** Comments keep proxies and clients from closing an idle stream. */
const commentEveryMs = 15_000;
/** Bytes that may wait for a slow reader before it is dropped. */
const backlogAtMost = 8 * 1024 * 1024;

/**
 * `GET /events` (text/event-stream): a `snapshot` with `{sequence, state}`, then each change as `event` with its number
 * as id. A reader that falls behind is dropped; it connects again and gets a new snapshot.
 */
export class EventStreams extends DisposableObject {
  private readonly readers = new Set<ServerResponse>();

  constructor(private readonly fleet: FleetService) {
    super();
    this._register(
      fleet.onEvent(({ sequence, event }) => {
        this.sendToAll(`event: event\nid: ${sequence}\ndata: ${JSON.stringify(event)}\n\n`);
      }),
    );
    const comments = setInterval(() => {
      this.sendToAll(':\n\n');
    }, commentEveryMs);
    this._register(
      toDisposable(() => {
        clearInterval(comments);
        for (const reader of this.readers) reader.end();
      }),
    );
  }

  /** Answers an authorized request and keeps it open. */
  serve(response: ServerResponse): void {
    const { sequence, state } = this.fleet;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(`event: snapshot\nid: ${sequence}\ndata: ${JSON.stringify({ sequence, state })}\n\n`);
    this.readers.add(response);
    response.on('close', () => this.readers.delete(response));
  }

  private sendToAll(text: string): void {
    for (const reader of this.readers) {
      if (reader.writableLength > backlogAtMost) reader.destroy();
      else reader.write(text);
    }
  }
}
