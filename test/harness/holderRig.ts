import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readJsonFile } from '../../src/node/files.ts';
import { installPrograms } from '../../src/node/programs.ts';
import { type StatePaths, statePaths } from '../../src/node/statePaths.ts';
import { type HolderFile, holderFileSchema } from '../../src/protocol/endpointFile.ts';
import { bundlePrograms } from './bundle.ts';
import type { FakeAnswer } from './holderFakeGateway.ts';
import { waitFor } from './waitFor.ts';

const answerSchema = z.object({
  pid: z.number(),
  holder: z.string(),
  lastExit: z.optional(z.string()),
  portTaken: z.optional(z.string()),
  started: z.optional(z.number()),
});

/** For the slowest machine: what is waited for comes within a second on an idle one. */
const limits = { timeoutMs: 30_000 };

/** Holder and fake gateway, bundled once per test run. Call `dispose` of the result after the suite. */
export interface HolderPrograms {
  readonly directory: string;
  dispose(): void;
}

/** Bundles src/holder as holder.js and the fake gateway as gateway.js, as the build does; hook.js prints its arguments. */
export async function bundleHolderPrograms(): Promise<HolderPrograms> {
  const directory = mkdtempSync(join(tmpdir(), 'bowline-programs-'));
  await bundlePrograms({
    entryPoints: { holder: 'src/holder/main.ts', gateway: 'test/harness/holderFakeGateway.ts' },
    directory,
  });
  await writeFile(
    join(directory, 'hook.js'),
    'process.stdin.on("data", (text) => console.log(process.argv.slice(2).join(","), process.env.BOWLINE_HOME, String(text)));',
  );
  return {
    directory,
    dispose: () => {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** One private state directory with a holder and a fake gateway. `dispose` ends every process of this directory. */
export class HolderRig {
  readonly paths: StatePaths;

  constructor(private readonly programs: HolderPrograms) {
    this.paths = statePaths(mkdtempSync(join(tmpdir(), 'bowline-hólder 状態 ')));
  }

  /** Starts holder.js itself, without the loop of the launcher. */
  startHolder(heartbeatLimitMs = 10_000): ChildProcess {
    const { directory } = this.programs;
    const program = join(directory, 'holder.js');
    const argv = [program, this.paths.directory, join(directory, 'gateway.js'), String(heartbeatLimitMs)];
    return spawn(process.execPath, argv, { stdio: 'ignore', env: this.environment() });
  }

  /** Installs the programs and starts the launcher's loop. */
  async startLauncher(): Promise<ChildProcess> {
    await this.install();
    return spawn(this.paths.launcher, ['holder'], { stdio: 'ignore', env: this.environment() });
  }

  install(options: { readonly nodes?: readonly string[] } = {}): Promise<string> {
    const nodes = options.nodes ?? [process.execPath];
    return installPrograms({ distDirectory: this.programs.directory, version: '0.0.0-test', paths: this.paths, nodes });
  }

  /** Sets the words of the next fake gateway, see holderFakeGateway.ts. */
  async instruct(words: string): Promise<void> {
    await writeFile(join(this.paths.directory, 'fake-gateway'), words);
  }

  /** Pids of all fake gateways that were started so far. */
  async starts(): Promise<number[]> {
    const text = await readFile(join(this.paths.directory, 'fake-gateway.starts'), 'utf8').catch(() => '');
    return text.split('\n').filter(Boolean).map(Number);
  }

  async record(): Promise<HolderFile | undefined> {
    const reading = await readJsonFile(this.paths.holder, holderFileSchema);
    return reading.kind === 'ok' ? reading.value : undefined;
  }

  /** Waits until a holder (other than `not`) has written its file and its gateway answers. */
  async up(options: { readonly not?: HolderFile } = {}): Promise<{ holder: HolderFile; answer: FakeAnswer }> {
    return waitFor(
      'holder and fake gateway',
      async () => {
        const holder = await this.record();
        if (!holder || holder.instance === options.not?.instance) return undefined;
        const answer = await ask(holder.port);
        return holder.child?.pid === answer.pid && { holder, answer };
      },
      limits,
    );
  }

  /** Processes that carry this state directory in their environment. */
  processes(): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => isOf(pid, this.paths.directory));
  }

  async dispose(): Promise<void> {
    await waitFor(
      'the end of all processes of the rig',
      () => {
        const pids = this.processes();
        for (const pid of pids) kill(pid, 'SIGKILL');
        return pids.length === 0;
      },
      limits,
    );
    rmSync(this.paths.directory, { recursive: true, force: true });
  }

  private environment(): NodeJS.ProcessEnv {
    // Whoever runs the tests may have MCP servers of their own.
    const home = join(this.paths.directory, 'home');
    return { ...process.env, HOME: home, CLAUDE_CONFIG_DIR: undefined, BOWLINE_HOME: this.paths.directory };
  }
}

/** One request on a new connection. Rejects when it is refused, reset, or not answered within `timeoutMs` (30 s). */
export function ask(port: number, path = '/', timeoutMs = 30_000): Promise<FakeAnswer> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, agent: false, timeout: timeoutMs }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('error', reject);
      response.on('end', () => {
        const parsed = answerSchema.safeParse(JSON.parse(text));
        if (!parsed.success) reject(parsed.error);
        else resolve(parsed.data);
      });
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    request.on('error', reject);
  });
}

/** Resolves with exit code or signal. */
export function endOf(child: ChildProcess): Promise<number | string> {
  return waitFor(`the end of process ${String(child.pid)}`, () => child.signalCode ?? child.exitCode, limits);
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended before.
  }
}

function isOf(pid: number, directory: string): boolean {
  try {
    if (!existsSync(`/proc/${pid}`)) return false;
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`BOWLINE_HOME=${directory}`);
  } catch {
    return false;
  }
}
