import type { IncomingMessage } from 'node:http';

/** Largest body that any route takes (spec, Gateway): 16 MB. */
export const bodyLimit = 16 * 1024 * 1024;

/** `too large`: the answer is 413. `aborted`: the other end is gone, no answer reaches it. */
export type BodyReading =
  { readonly kind: 'ok'; readonly body: Buffer } | { readonly kind: 'too large' } | { readonly kind: 'aborted' };

/**
 * Reads a whole body of at most `limit` bytes. What is larger is read on and thrown away, up to four times the limit: an
 * answer sent while the client still writes would be lost in a connection reset.
 */
export function readBody(request: IncomingMessage, options: { readonly limit?: number } = {}): Promise<BodyReading> {
  const limit = options.limit ?? bodyLimit;
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      if (size > limit * 4) {
        request.removeAllListeners('data');
        resolve({ kind: 'too large' });
      }
    });
    request.on('end', () => {
      if (size > limit) resolve({ kind: 'too large' });
      else
        resolve({
          kind: 'ok',
          body: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks),
        });
    });
    const abort = (): void => {
      resolve({ kind: 'aborted' });
    };
    request.on('error', abort);
    request.on('close', abort);
  });
}
