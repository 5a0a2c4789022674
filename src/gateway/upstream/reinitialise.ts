import * as z from 'zod/mini';
import { type RequestId, readMessage } from '../mcp/jsonRpc.ts';
import { KeptAnswer } from './forwardAnswer.ts';
import { parsed } from './httpEvents.ts';
import { TimeLimit } from './timeLimit.ts';
import type { AgentMessage, UpstreamSession } from './upstreamSession.ts';

/** What an upstream says to `initialize`, as far as it matters here. */
const resultSchema = z.object({
  result: z.object({
    protocolVersion: z.string(),
    capabilities: z._default(z.record(z.string(), z.unknown()), {}),
  }),
});

/** How an upstream took `initialize`. `message` is its answer as it came. */
export type Introduction =
  | {
      readonly kind: 'introduced';
      readonly message: string;
      readonly protocolVersion: string;
      readonly capabilities: Readonly<Record<string, unknown>>;
    }
  /** It answered with an error: it works, and does not want this client. */
  | { readonly kind: 'declined'; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** Says `initialize` to an upstream, within `milliseconds`; an aborted `signal` ends the wait like the limit. */
export async function introduce(
  session: UpstreamSession,
  initialize: Buffer,
  headers: AgentMessage['headers'],
  { milliseconds, signal }: { readonly milliseconds: number; readonly signal: AbortSignal },
): Promise<Introduction> {
  const read = readMessage(initialize);
  if (read.kind !== 'request') return { kind: 'failed', reason: 'the stored initialize is damaged' };
  const { id, method } = read.message;
  const answer = new KeptAnswer(id);
  const giveUp = (): void => {
    answer.giveUp();
  };
  const limit = new TimeLimit(milliseconds, giveUp);
  signal.addEventListener('abort', giveUp);
  const outcome = await session.exchange(
    { body: initialize, reading: { kind: 'request', id, method }, headers },
    answer,
  );
  limit.dispose();
  signal.removeEventListener('abort', giveUp);
  if (outcome.kind !== 'answered') return { kind: 'failed', reason: outcome.reason };
  const { message } = answer;
  if (message === undefined) {
    return { kind: 'failed', reason: `it did not answer initialize within ${Math.round(milliseconds / 1000)} s` };
  }
  const told = resultSchema.safeParse(parsed(message)).data?.result;
  return told === undefined ? { kind: 'declined', message } : { kind: 'introduced', message, ...told };
}

/** What a new session must be told before it is as the former one was. */
export interface FormerSession {
  readonly subscriptions: readonly string[];
  readonly logLevel?: string;
}

/**
 * Ends the handshake and brings subscriptions and log level back, each within `milliseconds`. Resolves with what could not
 * be, for the log.
 */
export async function restore(
  session: UpstreamSession,
  former: FormerSession,
  milliseconds: number,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const tell = async (method: string, id: string | undefined, params: object | undefined): Promise<void> => {
    const message = {
      jsonrpc: '2.0',
      ...(id !== undefined && { id }),
      method,
      ...(params !== undefined && { params }),
    };
    const reading =
      id === undefined ? { kind: 'notification' as const, method } : { kind: 'request' as const, id, method };
    const answer = new KeptAnswer(id ?? '');
    const limit = new TimeLimit(milliseconds, () => {
      answer.giveUp();
    });
    const outcome = await session.exchange(
      { body: Buffer.from(JSON.stringify(message)), reading, headers: {} },
      answer,
    );
    limit.dispose();
    if (outcome.kind !== 'answered') problems.push(`${method}: ${outcome.reason}`);
    else if (answer.gone) problems.push(`${method}: it did not answer`);
  };
  await tell('notifications/initialized', undefined, undefined);
  const { subscriptions, logLevel } = former;
  await Promise.all([
    ...(logLevel === undefined ? [] : [tell('logging/setLevel', 'bowline-level', { level: logLevel })]),
    ...subscriptions.map((uri, index) => tell('resources/subscribe', `bowline-subscribe-${index}`, { uri })),
  ]);
  return problems;
}

/** The announcements after which a client asks anew for what it knows of a server with these capabilities. */
export function listChanges(capabilities: Readonly<Record<string, unknown>>): readonly string[] {
  return ['tools', 'prompts', 'resources']
    .filter((list) => list in capabilities)
    .map((list) => JSON.stringify({ jsonrpc: '2.0', method: `notifications/${list}/list_changed` }));
}

/**
 * What the gateway says for an upstream that cannot be asked now, so that its client does not give it up for good: that
 * there may be everything, and that it will be told when that changes.
 */
export function provisionalIntroduction(id: RequestId, server: string, protocolVersion: string): string {
  const changing = { listChanged: true };
  const result = {
    protocolVersion,
    capabilities: { tools: changing, prompts: changing, resources: { ...changing, subscribe: true }, logging: {} },
    serverInfo: { name: server, version: 'unknown' },
  };
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}
