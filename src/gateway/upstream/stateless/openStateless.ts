import type { AgentMessage, UpstreamSession } from '../upstreamSession.ts';
import { discover, type Discovery } from './discovery.ts';
import { ClientSide } from './requests.ts';
import { StatelessSession, type StatelessSessionOptions } from './statelessSession.ts';

export interface StatelessOpening {
  readonly kind: 'opened';
  readonly session: UpstreamSession;
  /** The answer to the agent's `initialize`. */
  readonly introduction: string;
}

/** Opens a session for an agent on an upstream that refused its `initialize`, if it is of the stateless family. */
export async function openStateless(
  initialize: AgentMessage,
  options: Omit<StatelessSessionOptions, 'client' | 'server'>,
): Promise<StatelessOpening | Exclude<Discovery, { readonly kind: 'stateless' }>> {
  const client = new ClientSide(initialize.body);
  const found = await discover(options.carrier, client);
  if (found.kind !== 'stateless') return found;
  const session = new StatelessSession({ ...options, client, server: found.server });
  return { kind: 'opened', session, introduction: session.introduction(initialize.body.toString('utf8')) };
}
