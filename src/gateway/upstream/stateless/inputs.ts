import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { Disposable } from '../../../base/lifecycle.ts';
import { type RequestId, rpcCodes } from '../../mcp/jsonRpc.ts';
import { parsed } from '../httpEvents.ts';
import type { InputRequired } from './results.ts';

/** What an upstream may ask of a client in this way (MCP 2026-07-28, Multi Round-Trip Requests). */
const askable: readonly string[] = ['elicitation/create', 'sampling/createMessage', 'roots/list'];

/** Of one result. */
const mostRequests = 64;

/** How long an answer may take, in milliseconds: a person may have to give it. */
const longestWait = 3_600_000;

const responseSchema = z.object({
  result: z.exactOptional(z.unknown()),
  error: z.exactOptional(z.object({ code: z.number(), message: z.string() })),
});

type Response = z.infer<typeof responseSchema>;

/** The client's answers by the upstream's keys; or why there are none, as an error for the request that they were for. */
export type Inputs =
  | { readonly kind: 'given'; readonly responses: Readonly<Record<string, unknown>> }
  | { readonly kind: 'none'; readonly code: number; readonly problem: string };

/** The requests within results of the stateless revision, asked of the client as requests of its own revision. */
export class InputRequests implements Disposable {
  private readonly waiting = new Map<RequestId, (response: Response) => void>();
  /** Makes the ids unlike all others that this client ever gets. */
  private readonly prefix = `bowline-input-${randomBytes(6).toString('base64url')}-`;
  private last = 0;

  /** Asks all at once. `write` takes a request on its way to the client, which waits no more once `gone` resolves. */
  async ask(
    requests: InputRequired['inputRequests'],
    write: (request: string) => void,
    gone: Promise<unknown>,
  ): Promise<Inputs> {
    const asked = Object.entries(requests);
    const unknown = asked.find(([, { method }]) => !askable.includes(method));
    if (unknown !== undefined || asked.length > mostRequests) {
      const what = unknown?.[1].method.slice(0, 100) ?? `${asked.length} things at once`;
      return {
        kind: 'none',
        code: rpcCodes.internalError,
        problem: `asks its client for ${what}, which cannot be done`,
      };
    }
    const responses: [string, unknown][] = [];
    const answers = asked.map(async ([key, request]) => {
      const { result, error } = await this.askOne(request, write, gone);
      if (error === undefined) responses.push([key, result ?? {}]);
      return { request, error };
    });
    for (const { request, error } of await Promise.all(answers)) {
      if (error === undefined) continue;
      return { kind: 'none', code: error.code, problem: `needs ${request.method}, which fails: ${error.message}` };
    }
    return { kind: 'given', responses: Object.fromEntries(responses) };
  }

  /** A response of the client; one that nobody waits for is dropped. */
  answered(id: RequestId, body: Buffer): void {
    const response = responseSchema.safeParse(parsed(body.toString('utf8'))).data;
    this.waiting.get(id)?.(response ?? failure('its answer cannot be read'));
  }

  dispose(): void {
    for (const answer of this.waiting.values()) answer(failure('the session has ended'));
  }

  private async askOne(
    { method, params }: InputRequired['inputRequests'][string],
    write: (request: string) => void,
    gone: Promise<unknown>,
  ): Promise<Response> {
    const id = `${this.prefix}${++this.last}`;
    let limit: ReturnType<typeof setTimeout> | undefined;
    const response = await new Promise<Response>((resolve) => {
      this.waiting.set(id, resolve);
      void gone.then(() => {
        resolve(failure('the client waits no longer'));
      });
      limit = setTimeout(() => {
        resolve(failure(`it was not answered within ${longestWait / 60_000} min`));
      }, longestWait).unref();
      write(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params: known(params, id) }) }));
    });
    clearTimeout(limit);
    this.waiting.delete(id);
    return response;
  }
}

function failure(message: string): Response {
  return { error: { code: rpcCodes.internalError, message } };
}

/** Clients of 2025-11-25 know an elicitation by address only with an id of its own. */
function known(params: unknown, id: string): unknown {
  const isByAddress = typeof params === 'object' && params !== null && 'mode' in params && params.mode === 'url';
  return isByAddress ? { elicitationId: id, ...params } : params;
}
