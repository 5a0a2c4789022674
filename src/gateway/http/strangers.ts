import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Disposable, toDisposable } from '../../base/lifecycle.ts';

/** Far more than come at once in good faith, far less than the files that a process may open. */
export const strangersAtMost = 1_000;

/** Connections on which a key was shown. */
const known = new WeakSet<Socket>();

/** Whoever sent this request has shown a valid key or token. */
export function keyShown(request: Pick<IncomingMessage, 'socket'>): void {
  known.add(request.socket);
}

/**
 * Closes the oldest of the connections on which no key was shown, when there are too many of them: nobody without a key
 * takes the open files from agents and windows. Those with a key are never closed for their number.
 */
export function limitStrangers(server: Server, atMost: number = strangersAtMost): Disposable {
  const strangers = new Set<Socket>();
  const follow = (socket: Socket): void => {
    strangers.add(socket);
    socket.on('close', () => strangers.delete(socket));
    while (strangers.size > atMost) {
      const [oldest] = strangers;
      if (oldest === undefined) return;
      strangers.delete(oldest);
      if (!known.has(oldest)) oldest.destroy();
    }
  };
  server.on('connection', follow);
  return toDisposable(() => server.off('connection', follow));
}
