import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** A request that must not be served, as a value: `code` is stable, `sentence` is for a person. */
export interface EdgeRefusal {
  readonly status: 403;
  readonly code: 'host-forbidden' | 'origin-forbidden';
  readonly sentence: string;
}

/**
 * What every request and every upgrade passes before anything else looks at it: `Host` names this port on loopback, and
 * `Origin` is absent or the gateway's own. Stops web pages that were made to resolve to 127.0.0.1 (DNS rebinding).
 */
export function checkEdges(
  { headers: { host, origin }, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  port: number,
): EdgeRefusal | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (host === undefined || !hosts.includes(host.toLowerCase()) || hasTwoHosts(rawHeaders)) {
    return { status: 403, code: 'host-forbidden', sentence: `Bowline answers only as ${hosts.join(' or ')}.` };
  }
  if (origin !== undefined && !hosts.some((own) => origin.toLowerCase() === `http://${own}`)) {
    return { status: 403, code: 'origin-forbidden', sentence: 'Bowline answers no web pages.' };
  }
  return undefined;
}

/** Node takes the first; somebody before the gateway may have judged the other. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

/** Whether a body is JSON as it stands: by its type, and not packed. */
export function isJson(headers: IncomingMessage['headers']): boolean {
  const encoding = headers['content-encoding'];
  return (
    /^application\/json *(?:;|$)/i.test(headers['content-type'] ?? '') &&
    (encoding === undefined || encoding.toLowerCase() === 'identity')
  );
}

/**
 * Whether a path belongs to OAuth or OpenID discovery, also with the address of the resource before or after it. Such a
 * path is answered with a JSON 404 and nothing else: a 401, or HTML, sends Claude into a client registration.
 */
export function isDiscoveryPath(pathname: string): boolean {
  return pathname.includes('/.well-known/') || pathname.endsWith('/.well-known');
}

/** The token of `Authorization: Bearer ...`; undefined when there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** Compares secrets in a time that tells nothing about where, or in length, they differ. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest());
}
