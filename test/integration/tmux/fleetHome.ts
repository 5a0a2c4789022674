import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { silentLog } from '../../../src/base/log.ts';
import { processIdentity } from '../../../src/node/processIdentity.ts';
import { loadPty } from '../../../src/node/pty.ts';
import { TmuxClient, type TmuxClientOptions } from '../../../src/node/tmux/tmuxClient.ts';
import { waitFor } from '../../harness/waitFor.ts';

const run = promisify(execFile);

const reportSchema = z.object({
  argv: z.array(z.string()),
  directory: z.string(),
  environment: z.record(z.string(), z.string()),
});

/** What the probe program of {@link FleetHome.probe} saw. */
export type ProbeReport = z.infer<typeof reportSchema>;

/** A private state directory with its own tmux server. `dispose` ends the server, whatever state it is in. */
export class FleetHome {
  private readonly clients: TmuxClient[] = [];

  private constructor(
    /** Real path of the private directory. */
    readonly root: string,
    readonly stateDirectory: string,
  ) {}

  static async create(): Promise<FleetHome> {
    const root = await mkdtemp(join(tmpdir(), 'bowline-tmux-'));
    const stateDirectory = join(root, 'state');
    await mkdir(stateDirectory, { mode: 0o700 });
    await writeFile(
      join(root, 'probe.cjs'),
      `const { renameSync, writeFileSync } = require('node:fs');
       const [, , report, ...argv] = process.argv;
       const seen = { argv, directory: process.cwd(), environment: process.env };
       writeFileSync(report + '.part', JSON.stringify(seen));
       renameSync(report + '.part', report);
       setInterval(() => undefined, 60_000);`,
    );
    return new FleetHome(root, stateDirectory);
  }

  /** A client that is disposed with the home. */
  client(options: Partial<TmuxClientOptions> = {}): TmuxClient {
    const client = new TmuxClient({
      stateDirectory: this.stateDirectory,
      environment: process.env,
      log: silentLog,
      ...options,
    });
    this.clients.push(client);
    return client;
  }

  /** A new empty directory below the home, with a name of any characters but `/`. */
  async directory(name: string): Promise<string> {
    const directory = join(this.root, 'directories', name);
    await mkdir(directory, { recursive: true });
    return directory;
  }

  /** The argv of a program that reports what it got, then stays. */
  probe(report: string, argv: readonly string[] = []): string[] {
    return [process.execPath, join(this.root, 'probe.cjs'), join(this.root, report), ...argv];
  }

  async report(report: string): Promise<ProbeReport> {
    const text = await waitFor(`the report ${report}`, () => readFile(join(this.root, report), 'utf8'));
    return reportSchema.parse(JSON.parse(text));
  }

  /** tmux as a process of its own, on the home's socket. */
  async tmux(...args: string[]): Promise<string> {
    const { socketPath, environment } = this.client().server;
    const { stdout } = await run('tmux', ['-S', socketPath, ...args], { env: environment, timeout: 5000 });
    return stdout;
  }

  async dispose(): Promise<void> {
    for (const client of this.clients) client.dispose();
    const record = await readFile(join(this.stateDirectory, 'tmux-server.json'), 'utf8').catch(() => undefined);
    const pid = record === undefined ? undefined : Number(/"pid":(\d+)/.exec(record)?.[1]);
    if (pid !== undefined) signal(pid, 'SIGCONT');
    await this.tmux('kill-server').catch(() => undefined);
    if (pid !== undefined) {
      const ended = async (): Promise<boolean> => (await processIdentity(pid)) === undefined;
      await waitFor('the end of the tmux server', ended).catch(() => {
        signal(pid, 'SIGKILL');
      });
    }
    await rm(this.root, { recursive: true, force: true });
  }
}

/** The real node-pty. */
export const realPty = (): ReturnType<typeof loadPty> => loadPty(() => createRequire(__filename)('node-pty'));

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}
