import type { IncomingMessage } from 'node:http';
import type { TimeLimit } from './timeLimit.ts';

/** The longest answer, in bytes. */
const longestAnswer = 16 * 1024 * 1024;

/** As much as is read of an answer that is none of success, in bytes. */
const longestRefusal = 64 * 1024;

/** Reads a whole body. `done` is called once. */
export function collect(
  response: IncomingMessage,
  limit: TimeLimit,
  done: (body: { readonly bytes: Buffer } | { readonly problem: string }) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    limit.restart();
    size += chunk.length;
    if (size <= longestAnswer) {
      chunks.push(chunk);
      return;
    }
    done({ problem: 'its answer is larger than 16 MB' });
    response.destroy();
  });
  response.on('end', () => {
    done({ bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks) });
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
