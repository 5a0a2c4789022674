import type { IncomingMessage, ServerResponse } from 'node:http';
import { BowlineError, type ErrorCode, messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { type AdminParts, type AdminRoute, adminRoutes } from './adminRoutes.ts';
import { sendError, sendJson } from './http/answers.ts';
import { readBody } from './http/body.ts';
import { bearerToken, equalSecrets } from './http/checks.ts';
import { FailureLimit } from './http/failureLimit.ts';
import { keyShown } from './http/strangers.ts';

/** What {@link AdminApi} works with. */
export interface AdminApiOptions extends AdminParts {
  readonly log: Log;
  /** Bearer token of the endpoint file. */
  readonly token: string;
}

const largestBody = 1024 * 1024;

/** All others are 500. */
export const errorStatuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  'bad-request': 400,
  'name-invalid': 400,
  'directory-missing': 400,
  'unknown-agent': 404,
  'name-taken': 409,
  'not-running': 409,
  'already-running': 409,
  'guard-blocked': 409,
  'conversation-poisoned': 409,
  'conversation-in-use': 409,
  'conversation-ambiguous': 409,
  'launch-refused': 409,
  'definition-changed': 409,
  'takeover-refused': 409,
  'too-large': 413,
};

/** The HTTP API for scripts. Every route but `/health` wants the bearer token; errors are `{error: {code, sentence}}`. */
export class AdminApi {
  private readonly failures = new FailureLimit();

  constructor(private readonly options: AdminApiOptions) {}

  /** Whether a request may use the API (also the stream of the windows). */
  authorizes(request: IncomingMessage): boolean {
    const token = bearerToken(request.headers.authorization);
    return token !== undefined && equalSecrets(token, this.options.token);
  }

  /** Answers a request whose edges are checked. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    try {
      await this.route(request, response, url);
    } catch (error) {
      if (error instanceof BowlineError) {
        const { code, message: sentence, details } = error;
        sendJson(response, errorStatuses[code] ?? 500, { error: { code, sentence, ...details } });
        return;
      }
      this.options.log.error('a request failed', { path: url.pathname, reason: messageOf(error) });
      sendError(response, 500, 'internal', `The gateway failed (${messageOf(error)}). Its log tells more.`);
    }
  }

  private async route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { method = 'GET' } = request;
    if (url.pathname === '/health') {
      const { epoch } = this.options.fleet.state;
      if (method !== 'GET') refuseMethod(response, 'GET');
      else sendJson(response, 200, { product: 'bowline', epoch: epoch?.id });
      return;
    }
    if (!this.authorizes(request)) {
      this.refuse(response);
      return;
    }
    keyShown(request);
    const parts = url.pathname.split('/').map(decoded);
    const found = adminRoutes.filter(({ path }) => matches(path, parts));
    const route = found.find((one) => one.method === method);
    if (route !== undefined) {
      const name = route.path.includes('<name>') ? (parts[2] ?? '') : '';
      await route.answer(this.options, { name, query: url.searchParams, body: () => bodyOf(request), response });
    } else if (found.length > 0) {
      refuseMethod(response, found.map((one: AdminRoute) => one.method).join(', '));
    } else {
      sendError(response, 404, 'unknown-route', `The gateway has no ${url.pathname.slice(0, 200)}.`);
    }
  }

  private refuse(response: ServerResponse): void {
    const wait = this.failures.failed('token');
    const sentence = 'The token is missing or wrong. It stands in endpoint.json of the state directory.';
    if (wait === undefined) sendError(response, 401, 'unauthorized', sentence, { 'www-authenticate': 'Bearer' });
    else sendError(response, 429, 'too-many-failures', sentence, { 'retry-after': wait });
  }
}

/** `<name>` is any part that is not empty. */
function matches(path: string, parts: readonly string[]): boolean {
  const wanted = path.split('/');
  if (wanted.length !== parts.length) return false;
  return wanted.every((part, index) => (part === '<name>' ? parts[index] !== '' : part === parts[index]));
}

/** One part of a path; as it stands where it cannot be decoded. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function bodyOf(request: IncomingMessage): Promise<object> {
  const reading = await readBody(request, { limit: largestBody });
  if (reading.kind === 'too large') {
    throw new BowlineError('too-large', `The body is larger than ${largestBody} bytes. Send less.`);
  }
  if (reading.kind === 'aborted') throw new BowlineError('cancelled', 'The request was broken off.');
  if (reading.body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(reading.body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // answered below
  }
  throw new BowlineError('bad-request', 'The body is not a JSON object.');
}

function refuseMethod(response: ServerResponse, allow: string): void {
  sendError(response, 405, 'method-not-allowed', `Only ${allow} is served here.`, { allow });
}
