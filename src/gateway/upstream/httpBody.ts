import type { IncomingMessage } from 'node:http';
import { ByteParts } from '../byteParts.ts';
import type { TimeLimit } from './timeLimit.ts';

/** The longest answer, in bytes. */
const longestAnswer = 16 * 1024 * 1024;

/** As much as is read of an answer that is none of success, in bytes. */
const longestRefusal = 64 * 1024;

/** And of one that nobody wants for so long, in milliseconds. */
const longestDiscard = 10_000;

/** Reads a whole body. Only the first call of `done` counts. */
export function collect(
  response: IncomingMessage,
  limit: TimeLimit,
  done: (body: { readonly bytes: Buffer } | { readonly problem: string }) => void,
): void {
  const parts = new ByteParts();
  response.on('data', (chunk: Buffer) => {
    limit.restart();
    parts.add(chunk);
    if (parts.size <= longestAnswer) return;
    parts.clear();
    done({ problem: 'its answer is larger than 16 MB' });
    response.destroy();
  });
  response.on('end', () => {
    done({ bytes: parts.take() });
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    done({ problem: 'it closed the connection in the middle of its answer' });
  });
}

/** The beginning of what is said to a refusal. */
export function beginningOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > longestRefusal) response.destroy();
    });
    response.on('error', () => undefined);
    response.on('close', () => {
      resolve(Buffer.concat(chunks).toString('utf8'));
    });
  });
}

/** Lets an answer's body go, so that its connection can be used again. One that is long, or does not end, is cut. */
export function discard(response: IncomingMessage): void {
  let size = 0;
  const limit = setTimeout(() => response.destroy(), longestDiscard).unref();
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > longestRefusal) response.destroy();
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    clearTimeout(limit);
  });
}
