import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { readEndpointFile } from '../../src/node/endpointFile.ts';
import { type StatePaths } from '../../src/node/statePaths.ts';
import type { Endpoint } from '../../src/protocol/endpointFile.ts';
import { bundlePrograms } from './bundle.ts';
import { HolderRig, kill } from './holderRig.ts';
import { waitFor } from './waitFor.ts';

/** holder.js, gateway.js and hook.js in a private directory. */
export interface GatewayPrograms {
  readonly directory: string;
  dispose(): void;
}

/** A source file (end of its path) that the bundles get with a changed text. */
export interface Cut {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Bundles the programs as the build does; a `cut` changes one place of the source, and fails if that is not there. */
export async function bundleGatewayPrograms(cut?: Cut): Promise<GatewayPrograms> {
  const directory = mkdtempSync(join(tmpdir(), 'bowline-programs-'));
  await bundlePrograms({
    entryPoints: { holder: 'src/holder/main.ts', gateway: 'src/gateway/main.ts', hook: 'src/hook/main.ts' },
    directory,
    plugins: cut === undefined ? [] : [cutting(cut)],
  });
  return {
    directory,
    dispose: () => {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function cutting({ file, from, to }: Cut): Plugin {
  return {
    name: 'cut',
    setup: (context) => {
      context.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!path.endsWith(file)) return undefined;
        const text = readFileSync(path, 'utf8');
        if (text.split(from).length !== 2) throw new Error(`${file} does not have exactly one "${from}"`);
        return { contents: text.replace(from, to), loader: 'ts' };
      });
    },
  };
}

/** What the gateway answered: the status, and the body, parsed where it is JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** One private state directory with the real holder and gateway. `dispose` ends every process of this directory. */
export class GatewayRig {
  private readonly rig: HolderRig;
  private readonly extraDirectories: string[] = [];
  private ownsPrograms = false;

  constructor(readonly programs: GatewayPrograms) {
    this.rig = new HolderRig(programs);
  }

  /** One with programs of its own, which go with it. */
  static async bundled(): Promise<GatewayRig> {
    const rig = new GatewayRig(await bundleGatewayPrograms());
    rig.ownsPrograms = true;
    return rig;
  }

  get paths(): StatePaths {
    return this.rig.paths;
  }

  /** Installs the programs and starts the holder, without the launcher's loop; resolves when the gateway answers. */
  async start(): Promise<Endpoint> {
    await this.install();
    this.startHolder();
    return this.up();
  }

  install(): Promise<string> {
    return this.rig.install();
  }

  startHolder(heartbeatLimitMs?: number): ChildProcess {
    return this.rig.startHolder(heartbeatLimitMs);
  }

  /** Waits until a gateway (other than the run `not`) has published itself and answers. */
  async up(options: { readonly not?: Endpoint } = {}): Promise<Endpoint> {
    return waitFor(
      'the gateway',
      async () => {
        const reading = await readEndpointFile(this.paths);
        if (reading.kind !== 'ok' || reading.endpoint.gateway.instance === options.not?.gateway.instance) return false;
        const answer = await call(reading.endpoint, 'GET', '/health');
        return answer.status === 200 && reading.endpoint;
      },
      { timeoutMs: 30_000 },
    );
  }

  /** kill -9 of the gateway alone; resolves when the next one answers. */
  async restartGateway(endpoint: Endpoint): Promise<Endpoint> {
    kill(endpoint.gateway.pid, 'SIGKILL');
    return this.up({ not: endpoint });
  }

  /** A new private directory, by its real path, removed with the rig. */
  directory(): string {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'bowline-project-')));
    this.extraDirectories.push(directory);
    mkdirSync(join(directory, '.git'));
    return directory;
  }

  /** Lines of the gateway's log. */
  logLines(): string[] {
    return readFileSync(this.paths.log('gateway'), 'utf8').split('\n').filter(Boolean);
  }

  processes(): number[] {
    return this.rig.processes();
  }

  async dispose(): Promise<void> {
    await this.rig.dispose();
    for (const directory of this.extraDirectories) rmSync(directory, { recursive: true, force: true });
    if (this.ownsPrograms) this.programs.dispose();
  }
}

/** One request with the admin token (or with `headers`) on a new connection. */
export function call(
  endpoint: Pick<Endpoint, 'port' | 'token'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = { authorization: `Bearer ${endpoint.token}` },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port: endpoint.port, method, path, headers, agent: false, timeout: 20_000 },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body: parsed(text) });
        });
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${path} was not answered`)));
    outgoing.on('error', reject);
    if (typeof body === 'string') outgoing.end(body);
    else outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Runs a line of /bin/sh as Claude runs a hook: with the payload on its standard input. */
export function runHookLine(
  line: string,
  payload: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<{ readonly code: number | null; readonly stdout: string; readonly milliseconds: number }> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn('/bin/sh', ['-c', line], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
    child.on('error', reject);
    child.stdin.on('error', () => undefined);
    child.stdin.end(payload);
    child.on('close', (code) => {
      resolve({ code, stdout, milliseconds: performance.now() - started });
    });
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
