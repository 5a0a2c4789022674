import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { bundlePrograms } from '../bundle.ts';
import { endOf } from '../holderRig.ts';
import { waitFor } from '../waitFor.ts';

const patience = { timeoutMs: 30_000 };

/** What the program `workServerMain.ts` needs on disk, and what its processes have written down there. */
export class WorkServers {
  private constructor(readonly directory: string) {}

  /** Bundles the program into an existing directory. */
  static async create(directory: string): Promise<WorkServers> {
    for (const file of ['effects', 'stdio-servers']) writeFileSync(join(directory, file), '');
    const entryPoints = { server: join(import.meta.dirname, 'workServerMain.ts') };
    await bundlePrograms({ entryPoints, directory });
    return new WorkServers(directory);
  }

  get program(): string {
    return join(this.directory, 'server.js');
  }

  /** An entry of `mcpServers`: each client has a process of its own. */
  get stdioDefinition(): object {
    return { command: process.execPath, args: [this.program, this.directory, 'stdio'] };
  }

  /** Lines `<id of the call> <agent>`: what was carried out. */
  get effects(): readonly string[] {
    return this.lines('effects');
  }

  /** Pids of all servers over stdio that run. */
  stdioProcesses(): readonly number[] {
    return this.lines('stdio-servers')
      .map(Number.parseFloat)
      .filter((pid) => this.isServer(pid));
  }

  /** The one that was started last for an agent and runs. */
  stdioProcess(agent: string): number | undefined {
    return this.lines('stdio-servers')
      .filter((line) => line.endsWith(` ${agent}`))
      .map(Number.parseFloat)
      .findLast((pid) => this.isServer(pid));
  }

  private isServer(pid: number): boolean {
    return processName(pid).includes(this.directory);
  }

  private lines(file: string): readonly string[] {
    return readFileSync(join(this.directory, file), 'utf8').split('\n').filter(Boolean);
  }
}

/** One process that many clients reach by streamable HTTP, or HTTP with SSE; can be killed and started again on its port. */
export class NetworkServer {
  private constructor(
    readonly port: number,
    private readonly argv: readonly string[],
    private child: ChildProcess,
  ) {}

  /** Takes the first free port. `lostStatus`: what a session that it does not know is answered with. */
  static async start(
    { program, directory }: WorkServers,
    { lostStatus, fromPort }: { readonly lostStatus: number; readonly fromPort: number },
  ): Promise<NetworkServer> {
    const port = await freePort(fromPort);
    const argv = [program, directory, 'network', String(port), String(lostStatus)];
    return new NetworkServer(port, argv, await started(argv, port));
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** An entry of `mcpServers`. */
  definition(way: 'http' | 'sse'): object {
    const url = `http://127.0.0.1:${this.port}/${way === 'sse' ? 'sse' : 'mcp'}`;
    return { type: way, url, headers: { 'x-agent': '${BOWLINE_AGENT}' } };
  }

  /** kill -9; resolves when it is dead. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    this.child.kill('SIGKILL');
    await endOf(this.child);
  }

  /** Resolves when it listens. */
  async restart(): Promise<void> {
    this.child = await started(this.argv, this.port);
  }
}

async function started(argv: readonly string[], port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] });
  await waitFor(
    `the server at port ${port}`,
    async () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
      const response = await fetch(`http://127.0.0.1:${port}/messages`, { method: 'POST' });
      await response.text();
      return response.status === 404;
    },
    patience,
  );
  return child;
}

/** A port at which nobody listens, below those that the system gives to outgoing connections. */
async function freePort(from: number): Promise<number> {
  for (let port = from; ; port += 1) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => {
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        resolve(true);
      });
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/** The command line of a process; empty when there is no such process. */
export function processName(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
