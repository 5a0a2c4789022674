import type { IncomingMessage } from 'node:http';
import { ByteParts } from '../byteParts.ts';

/** Largest body that any route takes (spec, Gateway): 16 MB. */
export const bodyLimit = 16 * 1024 * 1024;

/** `too large`: the answer is 413. `aborted`: the other end is gone, no answer reaches it. */
export type BodyReading =
  { readonly kind: 'ok'; readonly body: Buffer } | { readonly kind: 'too large' } | { readonly kind: 'aborted' };

/**
 * Reads a whole body of at most `limit` bytes. What is larger is told at once, where its length is announced before any
 * of it is read, and the rest is let go as it comes.
 */
export function readBody(request: IncomingMessage, options: { readonly limit?: number } = {}): Promise<BodyReading> {
  const limit = options.limit ?? bodyLimit;
  return new Promise((resolve) => {
    const parts = new ByteParts();
    let isTooLarge = false;
    const refuse = (): void => {
      isTooLarge = true;
      parts.clear();
      resolve({ kind: 'too large' });
    };
    const abort = (): void => {
      parts.clear();
      resolve({ kind: 'aborted' });
    };
    request.on('data', (chunk: Buffer) => {
      if (isTooLarge) return;
      parts.add(chunk);
      if (parts.size > limit) refuse();
    });
    request.on('end', () => {
      if (!isTooLarge) resolve({ kind: 'ok', body: parts.take() });
    });
    request.on('error', abort);
    request.on('close', abort);
    if (Number(request.headers['content-length']) > limit) refuse();
  });
}
