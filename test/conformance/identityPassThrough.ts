import { createServer, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PassThroughOptions {
  /** Where requests go, whatever their path. */
  readonly target: URL;
  /** Added to every request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A running pass-through. */
export interface PassThrough {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Adds headers to every request, as the suite's client cannot, and passes the rest as it is, streams included. Its own
 * address in `Host` and `Origin` becomes the target's; any other stays, and is for the target to judge.
 */
export async function startPassThrough({ target, headers }: PassThroughOptions): Promise<PassThrough> {
  let own = '';
  const renamed = (incoming: IncomingHttpHeaders): Record<string, string> => {
    const { host, origin } = incoming;
    const hosts = [`127.0.0.1:${own}`, `localhost:${own}`];
    return {
      ...(host !== undefined && { host: hosts.includes(host) ? target.host : host }),
      ...(origin !== undefined && { origin: hosts.includes(origin.slice('http://'.length)) ? target.origin : origin }),
    };
  };
  const server = createServer((incoming, response) => {
    const outgoing = httpRequest(target, {
      method: incoming.method,
      headers: { ...incoming.headers, ...renamed(incoming.headers), ...headers },
    });
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on('error', () => response.destroy()).pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  own = String((server.address() as AddressInfo).port);
  return {
    url: `http://localhost:${own}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
