import * as z from 'zod/mini';
import { ServerChannel } from '../../src/gateway/mcp/serverChannel.ts';
import type { EndpointServer } from '../../src/gateway/mcp/endpointServer.ts';

const resultSchema = z.object({
  content: z.array(z.object({ text: z.string() })),
  isError: z.optional(z.boolean()),
});

/** Calls a tool of `server` as `agent`, without HTTP; the text of the answer, after `ERROR ` where it is a failure. */
export async function callTool(
  server: EndpointServer,
  agent: string,
  name: string,
  input: object = {},
): Promise<string> {
  const channel = new ServerChannel(
    server,
    { agent, launchId: `${agent}.1` },
    () => undefined,
    () => undefined,
  );
  try {
    const params = { name, arguments: input };
    const { result } = await channel.request({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const { isError, content } = resultSchema.parse(result);
    return `${isError === true ? 'ERROR ' : ''}${content.map(({ text }) => text).join('\n')}`;
  } finally {
    channel.dispose();
  }
}
