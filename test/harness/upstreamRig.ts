import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bindingHealth } from '../../src/core/binding/health.ts';
import { HandUpstreams, type HandUpstreamsOptions } from './handUpstreams.ts';
import { agentRunning, epochStarted, MemoryFleet } from './mcpFleet.ts';
import { type McpHost, startMcpHost } from './mcpHost.ts';
import { identityOf, initializeRequest, wire, type WireAnswer, wireStream, type WireStream } from './mcpWire.ts';

/** The name of the upstream of the rig's agents. */
export const upstreamName = 'notes';

/** Agents `ada` and `bo` with one upstream, on the MCP side of a gateway. */
export class UpstreamRig {
  private lastId = 0;

  private constructor(
    readonly fleet: MemoryFleet,
    readonly upstreams: HandUpstreams,
    private readonly directory: string,
    public host: McpHost,
  ) {}

  static async start(options: HandUpstreamsOptions = {}): Promise<UpstreamRig> {
    const directory = await mkdtemp(join(tmpdir(), 'bowline-upstream-'));
    const upstreams = new HandUpstreams(options);
    const fleet = new MemoryFleet();
    fleet.report(epochStarted('e1', Date.now()));
    for (const name of ['ada', 'bo']) {
      for (const event of agentRunning(name, Date.now())) {
        if (event.kind !== 'agent created') {
          fleet.report(event);
          continue;
        }
        const { configuration } = event;
        const servers = { ...configuration.servers, [upstreamName]: 'on' as const };
        fleet.report({ ...event, configuration: { ...configuration, servers } });
      }
    }
    const host = await startMcpHost({ directory, fleet, upstreams: upstreams.upstreams });
    return new UpstreamRig(fleet, upstreams, directory, host);
  }

  get url(): string {
    return this.host.url(upstreamName);
  }

  /** Health of the endpoint, as the sidebar shows it. */
  health(name = 'ada'): string {
    const agent = this.fleet.state.agents[name];
    if (agent === undefined) return 'none';
    const health = bindingHealth(agent, upstreamName, this.fleet.state.epoch, Date.now());
    if (health.state !== 'degraded') return health.state;
    const update = health.update === undefined ? '' : `, ${health.update}`;
    return 'until' in health ? `verifying${update}` : `degraded${update}: ${health.detail}`;
  }

  /** Kills the gateway and starts another on the same port and state. */
  async restartGateway(): Promise<void> {
    const { port } = this.host;
    await this.host.kill();
    this.fleet.report(epochStarted('e2', Date.now()));
    const { directory, fleet, upstreams } = this;
    this.host = await startMcpHost({ directory, fleet, port, upstreams: upstreams.upstreams });
  }

  async client(name = 'ada'): Promise<RigClient> {
    const answer = await this.post(identityOf(name), initializeRequest());
    const session = answer.headers['mcp-session-id'];
    if (typeof session !== 'string') throw new Error(`no session: ${answer.status} ${answer.body}`);
    const headers = { ...identityOf(name), 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    await this.post(headers, { jsonrpc: '2.0', method: 'notifications/initialized' });
    return {
      ...{ session, headers, introduction: answer.json },
      post: (body) => this.post(headers, body),
      request: (method, params) => this.post(headers, { jsonrpc: '2.0', id: ++this.lastId, method, params }),
      call: (tool, input = {}) =>
        this.post(headers, {
          ...{ jsonrpc: '2.0', id: ++this.lastId, method: 'tools/call' },
          params: { name: tool, arguments: input },
        }),
      stream: (more = {}) =>
        wireStream(this.host.port, { path: `/mcp/${upstreamName}`, headers: { ...headers, ...more } }),
      callStream: (tool) =>
        wireStream(this.host.port, {
          ...{ method: 'POST', path: `/mcp/${upstreamName}`, headers },
          body: { jsonrpc: '2.0', id: ++this.lastId, method: 'tools/call', params: { name: tool, arguments: {} } },
        }),
      delete: () => wire(this.host.port, { method: 'DELETE', path: `/mcp/${upstreamName}`, headers }),
    };
  }

  async dispose(): Promise<void> {
    await this.host.kill();
    this.upstreams.dispose();
    await rm(this.directory, { recursive: true });
  }

  private post(headers: Record<string, string>, body: unknown): Promise<WireAnswer> {
    return wire(this.host.port, { path: `/mcp/${upstreamName}`, headers, body });
  }
}

/** A client by hand, without retries. */
export interface RigClient {
  readonly session: string;
  readonly headers: Record<string, string>;
  readonly introduction: unknown;
  post(body: unknown): Promise<WireAnswer>;
  request(method: string, params?: object): Promise<WireAnswer>;
  call(tool: string, input?: object): Promise<WireAnswer>;
  stream(headers?: Record<string, string>): Promise<WireStream>;
  /** A call whose answer is an event stream, as it comes. */
  callStream(tool: string): Promise<WireStream>;
  delete(): Promise<WireAnswer>;
}

/** The message that answers a request: the body, or the last one of a stream. */
export function answerOf(answer: WireAnswer): unknown {
  if (answer.json !== undefined) return answer.json;
  const data = answer.body
    .split('\n\n')
    .flatMap((event) => /^data: (.+)$/m.exec(event)?.[1] ?? [])
    .at(-1);
  const message: unknown = data === undefined ? answer.body : JSON.parse(data);
  return message;
}

/** In short: the text of a tool's result, or code and words of an error. */
export function brief(answer: WireAnswer): string {
  const message = answerOf(answer);
  if (typeof message !== 'object' || message === null) return `${answer.status} ${String(message)}`;
  if ('error' in message) {
    const { error } = message;
    return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : 'error';
  }
  const result = 'result' in message ? message.result : undefined;
  if (typeof result !== 'object' || result === null) return 'no result';
  const content: unknown[] = 'content' in result && Array.isArray(result.content) ? result.content : [];
  const [first] = content;
  return typeof first === 'object' && first !== null && 'text' in first ? String(first.text) : JSON.stringify(result);
}
