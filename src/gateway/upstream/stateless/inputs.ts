import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { type RequestId, rpcCodes } from '../../mcp/jsonRpc.ts';
import { parsed } from '../httpEvents.ts';
import type { InputRequired } from './results.ts';

/** What an upstream may ask of a client in this way (MCP 2026-07-28, Multi Round-Trip Requests). */
const askable: readonly string[] = ['elicitation/create', 'sampling/createMessage', 'roots/list'];

const responseSchema = z.object({
  result: z.exactOptional(z.unknown()),
  error: z.exactOptional(z.object({ code: z.number(), message: z.string() })),
});

/** The client's answers by the upstream's keys; or why there are none, as an error for the request that they were for. */
export type Inputs =
  | { readonly kind: 'given'; readonly responses: Readonly<Record<string, unknown>> }
  | { readonly kind: 'none'; readonly code: number; readonly problem: string };

/** The requests within results of the stateless revision, asked of the client as requests of its own revision. */
export class InputRequests {
  private readonly waiting = new Map<RequestId, (body: Buffer) => void>();
  /** Makes the ids unlike all others that this client ever gets. */
  private readonly prefix = `bowline-input-${randomBytes(6).toString('base64url')}-`;
  private last = 0;

  /** Asks all at once. `write` takes a request on its way to the client. Never resolves for one who is gone. */
  async ask(requests: InputRequired['inputRequests'], write: (request: string) => void): Promise<Inputs> {
    const asked = Object.entries(requests);
    const unknown = asked.find(([, { method }]) => !askable.includes(method));
    if (unknown !== undefined) {
      const method = unknown[1].method.slice(0, 100);
      return {
        kind: 'none',
        code: rpcCodes.internalError,
        problem: `asks its client for ${method}, which is not known`,
      };
    }
    const responses: [string, unknown][] = [];
    const answers = asked.map(async ([key, request]) => {
      const { result, error } = await this.askOne(request, write);
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
    this.waiting.get(id)?.(body);
    this.waiting.delete(id);
  }

  private async askOne(
    { method, params }: InputRequired['inputRequests'][string],
    write: (request: string) => void,
  ): Promise<z.infer<typeof responseSchema>> {
    const id = `${this.prefix}${++this.last}`;
    const answer = new Promise<Buffer>((resolve) => this.waiting.set(id, resolve));
    write(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params: known(params, id) }) }));
    const body = await answer;
    const unreadable = { error: { code: rpcCodes.invalidRequest, message: 'its answer cannot be read' } };
    return responseSchema.safeParse(parsed(body.toString('utf8'))).data ?? unreadable;
  }
}

/** Clients of 2025-11-25 know an elicitation by address only with an id of its own. */
function known(params: unknown, id: string): unknown {
  const isByAddress = typeof params === 'object' && params !== null && 'mode' in params && params.mode === 'url';
  return isByAddress ? { elicitationId: id, ...params } : params;
}
