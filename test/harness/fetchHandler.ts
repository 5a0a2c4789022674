import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

/** Serves requests of Node's server by a handler of the web's kind; `signal` aborts when the client is gone. */
export function fetchHandler(
  handle: (request: Request) => Promise<Response>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (incoming, response) => {
    const { method = 'GET', headers, url = '/' } = incoming;
    const gone = new AbortController();
    response.on('close', () => {
      gone.abort();
    });
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = new Request(new URL(url, 'http://127.0.0.1'), {
      ...{ method, signal: gone.signal },
      headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        typeof value === 'string' ? [[name, value]] : [],
      ),
      ...(method === 'POST' && { body: Buffer.concat(chunks) }),
    });
    const answer = await handle(request);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) {
      response.end();
      return;
    }
    response.flushHeaders();
    const body = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
    body.on('error', () => response.destroy());
    response.on('close', () => body.destroy());
    body.pipe(response);
  };
}
