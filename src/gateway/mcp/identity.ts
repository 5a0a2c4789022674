import { causeText } from '../../core/binding/causes.ts';
import { agentNamePattern } from '../../core/fleet/names.ts';
import { type Agent, liveLaunchIds, mayUseServer } from '../../core/fleet/agent.ts';
import type { IdentityFaultCause } from '../../core/binding/bindingRecord.ts';
import { agentOf } from '../../core/fleet/state.ts';
import { bearerToken } from '../http/checks.ts';

/** The three headers by which an agent is known, as they arrived; undefined where absent. */
export interface IdentityHeaders {
  readonly name: string | undefined;
  readonly launch: string | undefined;
  readonly authorization: string | undefined;
}

/** What identity is judged against. */
export interface IdentityContext {
  readonly agents: Readonly<Record<string, Agent>>;
  /** Whose key this is. */
  ownerOf(key: string): string | undefined;
  /** Whether the gateway has a server of this name. */
  serves(server: string): boolean;
  /** The agent that opened the MCP session which the request names. */
  readonly sessionOwner: string | undefined;
}

/** Who asks; or why nobody is served. Expected refusals are values. */
export type IdentityReading =
  { readonly kind: 'known'; readonly agent: Agent; readonly launchId: string } | IdentityFault;

export interface IdentityFault {
  readonly kind: 'fault';
  readonly cause: IdentityFaultCause;
  readonly status: 400 | 403;
  /** What is wrong with this request, for a person. */
  readonly sentence: string;
  readonly nextStep: string;
  /** Whose binding is at fault: told by key, launch id or MCP session, never by a claimed name alone. */
  readonly attributedTo?: string;
}

/**
 * Judges the identity of a request for `server` (spec, Identity). Forms are refused with 400, everything else with 403:
 * a 401 would send Claude into an OAuth registration.
 */
export function readIdentity(headers: IdentityHeaders, server: string, context: IdentityContext): IdentityReading {
  const key = bearerToken(headers.authorization);
  const owner = key === undefined ? undefined : context.ownerOf(key);
  const fault = (cause: IdentityFaultCause, status: 400 | 403, particular?: string): IdentityFault => {
    const text = causeText(cause);
    const attributedTo = attribute(headers, owner, context);
    return {
      kind: 'fault',
      cause,
      status,
      sentence: particular ?? text.what,
      nextStep: text.nextStep,
      ...(attributedTo !== undefined && { attributedTo }),
    };
  };
  const { name, launch } = headers;
  if (name === undefined) return fault('name missing', 400);
  if (name.trim() === '') return fault('name blank', 400);
  if (isLiteralVariable(name)) {
    return fault('name literal variable', 400, `The X-Agent-Name header is ${shown(name)}: never filled in.`);
  }
  if (!agentNamePattern.test(name)) {
    return fault('name malformed', 400, `The X-Agent-Name header is ${shown(name)}, which is not a valid name.`);
  }
  const agent = agentOf(context, name);
  if (agent === undefined) return fault('name unknown', 403, `No agent is named ${shown(name)}.`);
  if (key === undefined || isLiteralVariable(key)) return fault('key missing', 403);
  if (owner === undefined) return fault('key wrong', 403);
  if (owner !== name) {
    return fault('key of another agent', 403, `The name is ${shown(name)}, the key is that of ${shown(owner)}.`);
  }
  if (launch === undefined || launch.trim() === '') {
    return fault('launch stale', 403, 'Requests carry no X-Agent-Launch header, so their process is not known.');
  }
  if (isLiteralVariable(launch)) {
    return fault('launch stale', 403, `The X-Agent-Launch header is ${shown(launch)}: never filled in.`);
  }
  if (!liveLaunchIds(agent).includes(launch)) {
    const sentence = `A process of launch ${shown(launch)} uses the name ${shown(name)}; that launch is over.`;
    return fault('launch stale', 403, sentence);
  }
  if (!mayUseServer(agent, server) || !context.serves(server)) {
    return fault('server unknown', 403, `No MCP server ${shown(server)} is switched on for ${shown(name)}.`);
  }
  return { kind: 'known', agent, launchId: launch };
}

function attribute(
  headers: IdentityHeaders,
  keyOwner: string | undefined,
  context: IdentityContext,
): string | undefined {
  if (keyOwner !== undefined && Object.hasOwn(context.agents, keyOwner)) return keyOwner;
  const { launch } = headers;
  const launched =
    launch === undefined
      ? undefined
      : Object.values(context.agents).find((agent) => liveLaunchIds(agent).includes(launch));
  return launched?.name ?? context.sessionOwner;
}

function isLiteralVariable(value: string): boolean {
  return value.includes('${');
}

/** A text of unknown origin, short and printable. */
function shown(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]/g, '?');
  return `"${printable.length > 60 ? `${printable.slice(0, 60)}...` : printable}"`;
}
