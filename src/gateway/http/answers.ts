import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Answers with JSON and ends the response. Does nothing when the other end is gone. */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  sendRaw(response, status, JSON.stringify(value), headers);
}

/** The same with JSON as text. */
export function sendRaw(
  response: ServerResponse,
  status: number,
  json: Buffer | string,
  headers: OutgoingHttpHeaders = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const body = typeof json === 'string' ? Buffer.from(json) : json;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...headers,
  });
  const { req: request } = response;
  if (request.complete || !hasBody(request)) {
    response.end(body);
    return;
  }
  // The client has the whole answer now; a connection that is closed while it still writes would be reset, and the answer
  // lost. What it writes is let go; the server limits how long (`requestTimeout`).
  response.write(body);
  request.resume();
  const end = (): void => {
    response.end();
  };
  request.once('end', end).once('close', end);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Answers with `{error: {code, sentence}}`: the code is stable, the sentence is for a person. */
export function sendError(
  response: ServerResponse,
  status: number,
  code: string,
  sentence: string,
  headers: OutgoingHttpHeaders = {},
): void {
  sendJson(response, status, { error: { code, sentence } }, headers);
}

/** Answers with a status that has no body (202, 204). */
export function sendEmpty(response: ServerResponse, status: number): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, status === 204 ? {} : { 'content-length': 0 });
  response.end();
}
