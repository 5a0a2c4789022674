import { messageOf } from '../../base/errors.ts';

/** Failures of a connection that may pass: nobody listens yet, the network is not back, the other side hung up. */
const passing: ReadonlySet<string> = new Set([
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Why nothing of a request was processed. TLS and names that do not exist are matters for a person: `refused`. */
export function connectionFailure(error: unknown): {
  readonly kind: 'unreachable' | 'refused';
  readonly reason: string;
} {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return { kind: passing.has(code) ? 'unreachable' : 'refused', reason: reasonOf(error) };
}

/** What is to be read of an error; several addresses of one host give one error with an empty message. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  return messageOf(error);
}

/**
 * Whether an answer means that the upstream knows the session no more. 404 is what the specification has for that; servers
 * in use also answer 400 and 503, which mean other things as well, so that these must speak of a session.
 */
export function saysSessionLost(status: number, hadSession: boolean, text: string): boolean {
  if (!hadSession) return false;
  if (status === 404) return true;
  return (status === 400 || status === 503) && /session|not initiali[sz]ed/i.test(text);
}

/** An answer of an upstream that is none of success. */
export interface RefusedAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly text: string;
  /** What was asked. */
  readonly url: URL;
  readonly hadSession: boolean;
  /** It is a JSON-RPC response to the request. */
  readonly isAnswer: boolean;
}

/** What such an answer means. `login`: it may be one that only a person can do. */
export type RefusalReading =
  | { readonly kind: 'moved'; readonly to: URL }
  | { readonly kind: 'session lost'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'login'; readonly reason: string }
  /** An error in the words of JSON-RPC, with a status that says the same. */
  | { readonly kind: 'answer' }
  /** The upstream works, and does not want this message. */
  | { readonly kind: 'request refused'; readonly reason: string };

/** How much of an unexpected answer is told. */
const shownCharacters = 200;

/** A status with the beginning of what was said to it. */
export function statusReason(status: number, text: string): string {
  return `HTTP ${status}${text.trim() === '' ? '' : `: ${text.trim().slice(0, shownCharacters)}`}`;
}

/** The reason where a status refuses the credentials; undefined: it does not. */
export function credentialsRefusal(status: number): string | undefined {
  return [401, 403, 407].includes(status) ? `it refuses the credentials (HTTP ${status})` : undefined;
}

/** Whether somebody gave credentials for an upstream. One that wants some all the same wants others, not a login. */
export function hasCredentials(headers: Readonly<Record<string, string>>): boolean {
  return 'authorization' in lowerCase(headers);
}

/** Headers as Node names them. */
export function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

export function readRefusal({ status, location, text, url, hadSession, isAnswer }: RefusedAnswer): RefusalReading {
  if (status === 307 || status === 308) {
    const to = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (to?.origin === url.origin) return { kind: 'moved', to };
    return { kind: 'refused', reason: `it redirects to another address (HTTP ${status}): ${to?.origin ?? 'none'}` };
  }
  const reason = statusReason(status, text);
  if (saysSessionLost(status, hadSession, text)) return { kind: 'session lost', reason };
  const credentials = credentialsRefusal(status);
  if (credentials !== undefined) return { kind: status === 401 ? 'login' : 'refused', reason: credentials };
  if (isAnswer) return { kind: 'answer' };
  if (status === 404 || status === 405) {
    return { kind: 'refused', reason: `no MCP server is at this address (HTTP ${status})` };
  }
  return status >= 500 ? { kind: 'unknown', reason } : { kind: 'request refused', reason };
}
