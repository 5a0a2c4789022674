import * as z from 'zod/mini';
import { sessionRevisions, statelessRevision } from '../../mcp/revisions.ts';
import { KeptAnswer } from '../forwardAnswer.ts';
import { parsed } from '../httpEvents.ts';
import { TimeLimit } from '../timeLimit.ts';
import type { UpstreamSession } from '../upstreamSession.ts';
import type { ClientSide } from './requests.ts';

/** What a server says of itself in answer to `server/discover`. */
export interface ServerSide {
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** `Implementation` of MCP, as it came. */
  readonly info: Readonly<Record<string, unknown>> | undefined;
  readonly instructions: string | undefined;
}

export type Discovery =
  | { readonly kind: 'stateless'; readonly server: ServerSide }
  /** It is of the stateless family, in revisions that are not known here. */
  | { readonly kind: 'not served'; readonly reason: string }
  /** Nothing says that it is of the stateless family. */
  | { readonly kind: 'none' };

const anything = z.record(z.string(), z.unknown());
const serverInfoKey = 'io.modelcontextprotocol/serverInfo';

const discoveredSchema = z.object({
  result: z.object({
    supportedVersions: z.array(z.string()),
    capabilities: z._default(anything, {}),
    instructions: z.exactOptional(z.string()),
    _meta: z.exactOptional(z.object({ [serverInfoKey]: z.exactOptional(anything) })),
  }),
});

/** `UnsupportedProtocolVersionError` of revision 2026-07-28. */
const unsupportedSchema = z.object({
  error: z.object({ code: z.literal(-32022), data: z.object({ supported: z.array(z.string()) }) }),
});

/** A server of another kind may say nothing to a method that it does not know (MCP, stdio: Backward Compatibility). */
const discoveryLimit = 3_000;

/**
 * Asks an upstream that has refused `initialize` whether it is of the stateless family. As the revision 2026-07-28 has it
 * (Versioning and Compatibility): what `server/discover` or the error for unsupported versions tells counts, nothing else.
 */
export async function discover(session: UpstreamSession, client: ClientSide): Promise<Discovery> {
  const message = client.request('bowline-discover', 'server/discover', {});
  const answer = new KeptAnswer('bowline-discover');
  const limit = new TimeLimit(discoveryLimit, () => {
    answer.giveUp();
  });
  await session.exchange(message, answer);
  limit.dispose();
  return readDiscovery(answer.message);
}

function readDiscovery(text: string | undefined): Discovery {
  const message = text === undefined ? undefined : parsed(text);
  const result = discoveredSchema.safeParse(message).data?.result;
  const supported = result?.supportedVersions ?? unsupportedSchema.safeParse(message).data?.error.data.supported;
  if (supported === undefined || !supported.some((version) => version >= statelessRevision)) return { kind: 'none' };
  if (result === undefined || !supported.includes(statelessRevision)) {
    const named = supported.map((version) => version.slice(0, 20)).slice(0, 5);
    const served = [...sessionRevisions].reverse().join(', ');
    return {
      kind: 'not served',
      reason: `it speaks MCP ${named.join(', ')} only, and Bowline serves ${served} and ${statelessRevision}`,
    };
  }
  const { capabilities, instructions, _meta: meta } = result;
  return { kind: 'stateless', server: { capabilities, instructions, info: meta?.[serverInfoKey] } };
}
