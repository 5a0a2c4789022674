import * as z from 'zod/mini';
import { ownServerSchema } from './fleetState.ts';

/** `GET /agents/<name>/servers`: the agent's own MCP servers as its files name them now. */
export const serverListSchema = z.object({
  servers: z.array(
    z.object({
      server: ownServerSchema,
      /** What the project's file says, as JSON with nothing filled in; absent: it names no such server. */
      project: z.exactOptional(z.object({ file: z.string(), definition: z.string() })),
    }),
  ),
});

export type ServerList = z.infer<typeof serverListSchema>;
