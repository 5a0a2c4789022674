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
