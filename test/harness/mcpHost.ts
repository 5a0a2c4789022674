import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silentLog } from '../../src/base/log.ts';
import { plan } from '../../src/core/fleet/plan.ts';
import { ContextStore } from '../../src/gateway/contexts.ts';
import { sendError } from '../../src/gateway/http/answers.ts';
import { checkEdges, isDiscoveryPath } from '../../src/gateway/http/checks.ts';
import { McpEndpoint } from '../../src/gateway/mcp/endpoint.ts';
import type { EndpointServer } from '../../src/gateway/mcp/endpointServer.ts';
import { Prober } from '../../src/gateway/mcp/prober.ts';
import { selfServer } from '../../src/gateway/mcp/selfServer.ts';
import { SessionStore } from '../../src/gateway/mcp/sessionStore.ts';
import { StandingStreams } from '../../src/gateway/mcp/standingStreams.ts';
import type { Clock } from '../../src/gateway/ports.ts';
import type { Upstreams } from '../../src/gateway/upstream/forwarder.ts';
import { statePaths } from '../../src/node/statePaths.ts';
import { noUpstreams } from './handUpstreams.ts';
import { type MemoryFleet, memoryKeys } from './mcpFleet.ts';

export interface McpHostOptions {
  /** A state directory; what is durable in it survives into the next host. */
  readonly directory: string;
  readonly fleet: MemoryFleet;
  /** Absent: a free one. */
  readonly port?: number;
  readonly clock?: Clock;
  readonly longestSilenceMs?: number;
  readonly probeLimitMs?: number;
  /** Besides `bowline-self`, or instead of it under its name. */
  readonly servers?: readonly EndpointServer[];
  readonly upstreams?: Upstreams;
}

/** The MCP side of a gateway on a port of its own: real endpoint, sessions, streams, probes and files. */
export interface McpHost {
  readonly port: number;
  readonly endpoint: McpEndpoint;
  readonly sessions: SessionStore;
  readonly streams: StandingStreams;
  readonly prober: Prober;
  readonly contexts: ContextStore;
  /** How often `bowline-self` was opened for a session. */
  readonly opened: () => number;
  url(server?: string): string;
  /** Ends it as a kill would: connections cut, nothing reported. What was promised to be on disk stays. */
  kill(): Promise<void>;
}

/** Starts a host; probes run as the plan calls for them. */
export async function startMcpHost(options: McpHostOptions): Promise<McpHost> {
  const { directory, fleet } = options;
  const clock = options.clock ?? Date.now;
  const paths = statePaths(directory);
  const sessions = await SessionStore.open({ path: paths.mcpSessions, clock, log: silentLog });
  const streams = new StandingStreams({
    fleet,
    clock,
    ...(options.longestSilenceMs !== undefined && { longestSilenceMs: options.longestSilenceMs }),
  });
  const prober = new Prober({
    fleet,
    streams,
    clock,
    ...(options.probeLimitMs !== undefined && { limitMs: options.probeLimitMs }),
  });
  const contexts = new ContextStore(paths, fleet);
  let opened = 0;
  const self = selfServer({ fleet, contexts, clock, log: silentLog, version: '0.0.0' });
  const counted: EndpointServer = {
    ...self,
    open: (...parameters) => {
      opened++;
      return self.open(...parameters);
    },
  };
  const endpoint = new McpEndpoint({
    fleet,
    keys: memoryKeys,
    sessions,
    streams,
    prober,
    servers: options.servers ?? [counted],
    upstreams: options.upstreams ?? noUpstreams,
    clock,
    log: silentLog,
  });
  fleet.onReport = () => {
    for (const effect of plan(fleet.state, clock()).effects) if (effect.kind === 'probe') prober.run(effect);
  };
  const server = createServer();
  const port = await listen(server, options.port ?? 0);
  server.on('request', (request, response) => {
    const refusal = checkEdges(request, port);
    if (refusal !== undefined) {
      sendError(response, refusal.status, refusal.code, refusal.sentence);
      return;
    }
    const { pathname } = new URL(request.url ?? '/', `http://127.0.0.1:${port}`);
    const name = /^\/mcp\/([^/]+)$/.exec(pathname)?.[1];
    if (name === undefined || isDiscoveryPath(pathname)) sendError(response, 404, 'not-found', 'Nothing is here.');
    else void endpoint.handle(request, response, name);
  });
  return {
    port,
    endpoint,
    sessions,
    streams,
    prober,
    contexts,
    opened: () => opened,
    url: (name = 'bowline-self') => `http://127.0.0.1:${port}/mcp/${name}`,
    kill: async () => {
      fleet.onReport = () => undefined;
      prober.dispose();
      streams.dispose();
      endpoint.dispose();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await sessions.settled();
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}
