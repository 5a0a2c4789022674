import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod/mini';
import { isSameProcess, processIdentity } from '../../src/node/processIdentity.ts';
import { waitFor } from '../harness/waitFor.ts';

const run = promisify(execFile);
const methodSchema = z.object({ method: z.string() });

/** What {@link HandLaunches} starts claude with. */
export interface HandLaunchOptions {
  /** Private; the caller ends what runs there. */
  readonly directory: string;
  /** Configuration of the tmux server. */
  readonly tmuxConfiguration: string;
  readonly claude: string;
  /** Claude's working directory. */
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts claude as a person does, in a tmux of their own, with one MCP server of the public library. */
export class HandLaunches {
  private listedAt: number | undefined;
  private count = 0;
  private readonly transports = new Map<string, StreamableHTTPServerTransport>();

  private constructor(
    private readonly options: HandLaunchOptions,
    private readonly server: Server,
  ) {
    server.on('request', (request, response) => {
      this.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(options: HandLaunchOptions): Promise<HandLaunches> {
    await mkdir(options.directory, { recursive: true });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const launches = new HandLaunches(options, server);
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/mcp`;
    const headers = { 'X-Agent-Name': 'ada', Authorization: 'Bearer of-no-use' };
    const configuration = { mcpServers: { small: { type: 'http', url, headers } } };
    await writeFile(launches.mcpConfiguration, JSON.stringify(configuration));
    await launches.tmux('new-session', '-d', '-s', 'keeper', '--', 'tail', '-f', '/dev/null');
    return launches;
  }

  /** Milliseconds from the command line to the first `tools/list`. */
  async launch(): Promise<number> {
    const { claude, workingDirectory, environment } = this.options;
    const name = `hand-${(this.count += 1)}`;
    const variables = Object.entries(environment).flatMap(([variable, value]) => ['-e', `${variable}=${value}`]);
    this.listedAt = undefined;
    const started = performance.now();
    const pid = await this.tmux(
      ...['new-session', '-d', '-P', '-F', '#{pane_pid}', '-s', name, '-c', workingDirectory, ...variables],
      ...['--', claude, `--mcp-config=${this.mcpConfiguration}`, '--permission-mode=default'],
    );
    const listed = await waitFor('tools/list', () => this.listedAt, { timeoutMs: 60_000 });
    const identity = await processIdentity(Number(pid));
    await this.tmux('kill-session', '-t', `=${name}`);
    // Its end takes processor time, which is not to be counted to the launch that comes next.
    if (identity !== undefined) {
      await waitFor('the end of claude', async () => (await isSameProcess(identity)) === 'gone', { timeoutMs: 60_000 });
    }
    return listed - started;
  }

  async dispose(): Promise<void> {
    for (const transport of this.transports.values()) await transport.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private get mcpConfiguration(): string {
    return path.join(this.options.directory, 'mcp.json');
  }

  /** What tmux prints. */
  private async tmux(...args: readonly string[]): Promise<string> {
    const { directory, tmuxConfiguration } = this.options;
    const env = { PATH: process.env['PATH'], TMPDIR: directory, LANG: 'C.UTF-8' };
    const socket = path.join(directory, 'hand.sock');
    const { stdout } = await run('tmux', ['-f', tmuxConfiguration, '-S', socket, ...args], { cwd: directory, env });
    return stdout;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = request.method === 'POST' ? await json(request) : undefined;
    const known = this.transports.get(String(request.headers['mcp-session-id']));
    const transport = known ?? (await this.open());
    await transport.handleRequest(request, response, body);
    if (methodSchema.safeParse(body).data?.method === 'tools/list') this.listedAt ??= performance.now();
  }

  private async open(): Promise<StreamableHTTPServerTransport> {
    const server = new McpServer({ name: 'small', version: '1.0.0' });
    server.registerTool('hello', { description: 'Says hello.' }, () => ({
      content: [{ type: 'text', text: 'hello' }],
    }));
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.transports.set(id, transport);
      },
    });
    await server.connect(transport);
    return transport;
  }
}
