import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { silentLog } from '../../src/base/log.ts';
import { type AgentRow, select } from '../../src/core/fleet/select.ts';
import type { Agent } from '../../src/core/fleet/state.ts';
import { GatewayClient } from '../../src/extension/gatewayClient.ts';
import { HandsHost } from '../../src/extension/handsHost.ts';
import { ensureHolder, type EnsureHolderOptions } from '../../src/node/gatewayLauncher.ts';
import { Hands } from '../../src/node/hands/hands.ts';
import { installPrograms } from '../../src/node/programs.ts';
import { loadPty } from '../../src/node/pty.ts';
import { type StatePaths, statePaths } from '../../src/node/statePaths.ts';
import type { Command } from '../../src/protocol/commands.ts';
import { type Endpoint, holderFileSchema } from '../../src/protocol/endpointFile.ts';
import { claudeBinary, claudeEnvironment, type ClaudeVersion, prepareClaudeHome, scriptedApiKey } from './claude.ts';
import { endProcesses } from './processes.mjs';
import { type ScriptedModel, startScriptedModel } from './scriptedModel.ts';
import { waitFor } from './waitFor.ts';

const run = promisify(execFile);
const repository = path.resolve(__dirname, '../..');

/** How patient the rig is, in milliseconds: a claude takes seconds to start, more on a busy machine. */
const patience = 60_000;

/** The name under which the rig's window has the hands. */
export const rigWindow = 'test-window';

/** What a window brings to the fleet. */
interface RigWindow {
  readonly client: GatewayClient;
  readonly hands: HandsHost;
}

export interface FleetRigOptions {
  readonly version: ClaudeVersion;
  /** Names of directories below the rig's; `trusted` ones start without a dialog. */
  readonly trusted: readonly string[];
  readonly untrusted?: readonly string[];
  /** Environment of the process that hosts the hands, over a plain one. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Transport of the tmux client; a pseudo terminal by default. */
  readonly transport?: 'pty' | 'pipes';
}

/**
 * A fleet of real claudes without VS Code: the built holder and gateway, real tmux, the extension's own client and
 * hands, and a scripted model, in one private directory.
 */
export class FleetRig {
  private constructor(
    /** Holds state, home and the agents' directories. */
    readonly root: string,
    readonly paths: StatePaths,
    readonly model: ScriptedModel,
    private readonly options: FleetRigOptions,
    private window: RigWindow,
  ) {}

  static async open(options: FleetRigOptions): Promise<FleetRig> {
    // Short, because Unix sockets lie in it.
    const parent = os.tmpdir().length > 40 ? '/tmp' : os.tmpdir();
    const root = await realpath(await mkdtemp(path.join(parent, 'bowline-')));
    const below = (name: string): string => path.join(root, name);
    for (const name of [...options.trusted, ...(options.untrusted ?? []), 'tmp']) {
      await mkdir(below(name), { recursive: true });
    }
    const home = below('home');
    await prepareClaudeHome({ home, apiKey: scriptedApiKey, directories: options.trusted.map(below) });
    const model = await startScriptedModel();
    const paths = statePaths(below('state'));
    const rig = new FleetRig(root, paths, model, options, createWindow(paths, options));
    try {
      await rig.connect();
      await rig.request({
        kind: 'configure',
        settings: {
          claudePath: claudeBinary(options.version),
          environment: claudeEnvironment({ home, modelUrl: model.url, apiKey: scriptedApiKey }),
          healing: 'auto',
        },
      });
      return rig;
    } catch (error) {
      await rig.dispose();
      throw error;
    }
  }

  /** Ends the window; the gateway and the agents go on. What {@link agent} and {@link row} tell stands still. */
  closeWindow(): void {
    this.window.hands.dispose();
    this.window.client.dispose();
  }

  /** Opens a window again after {@link closeWindow}, and resolves when it is connected. */
  async openWindow(): Promise<void> {
    this.window = createWindow(this.paths, this.options);
    await this.connect();
  }

  /** Starts holder and gateway without a window, unless they run. */
  startGateway(): Promise<Endpoint> {
    return ensureHolder(holderOptions(this.paths));
  }

  /**
   * Ends holder and gateway, and the loop that would start them again, with kill -9, and keeps the port closed: nothing
   * can be started until `open` is called.
   */
  async closePort(): Promise<{ open(): Promise<void> }> {
    const { versions } = this.paths;
    const holder = holderFileSchema.parse(JSON.parse(await readFile(this.paths.holder, 'utf8')));
    const { stdout: loop } = await run('ps', ['-o', 'ppid=', '-p', String(holder.pid)]);
    await rename(versions, `${versions}.aside`);
    await writeFile(versions, '');
    for (const pid of [Number(loop), holder.pid, holder.child?.pid])
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    return {
      open: async () => {
        await rm(versions);
        await rename(`${versions}.aside`, versions);
      },
    };
  }

  /** Who has the hands, as the window knows it. */
  get handsHolder(): string | undefined {
    return this.window.client.state.hands?.holder;
  }

  /** Asks the gateway; rejects with its error. */
  request(command: Command): Promise<void> {
    return this.window.client.request(command);
  }

  /** Creates and starts an agent in one of the rig's directories. */
  create(name: string, directory: string): Promise<void> {
    return this.request({
      kind: 'create',
      name,
      directory: path.join(this.root, directory),
      permissionMode: 'default',
    });
  }

  agent(name: string): Agent {
    const agent = this.window.client.state.agents[name];
    if (agent === undefined) throw new Error(`no agent ${name}`);
    return agent;
  }

  /** What a window shows of an agent. */
  row(name: string): AgentRow {
    const { client } = this.window;
    const view = select(client.state, client.connection, Date.now());
    const row = view.agents.find((one) => one.name === name);
    if (row === undefined) throw new Error(`no agent ${name}`);
    return row;
  }

  /** Waits until an agent fits; the error tells how it looks instead. */
  async until(name: string, description: string, fits: (row: AgentRow, agent: Agent) => boolean): Promise<void> {
    try {
      await waitFor(`${name}: ${description}`, () => fits(this.row(name), this.agent(name)), { timeoutMs: patience });
    } catch (error) {
      const screen = await this.screen(name).catch(() => '(no screen)');
      throw new Error(`${name} is not ${description} but ${JSON.stringify(this.row(name))}\n${screen}`, {
        cause: error,
      });
    }
  }

  /** Waits until the agent's n-th launch is bound, and confirmed by its SessionStart. */
  async untilBound(name: string, launchCount = 1): Promise<void> {
    await this.until(name, `bound in launch ${launchCount}`, (row, agent) => {
      return row.worst === 'bound' && row.life === 'ready' && agent.launchCount === launchCount;
    });
  }

  /** Types a prompt as a person at the terminal would. */
  async prompt(name: string, text: string): Promise<void> {
    await this.tmux('send-keys', '-t', `=${name}:`, '-l', text);
    await waitFor(`the text in the input line of ${name}`, async () => (await this.screen(name)).includes(text), {
      timeoutMs: patience,
    });
    await this.tmux('send-keys', '-t', `=${name}:`, 'Enter');
  }

  /** A prompt, and the end of its turn as the hooks tell it. */
  async turn(name: string, text: string): Promise<void> {
    const before = this.agent(name).session?.turnsCompleted ?? 0;
    await this.prompt(name, text);
    await this.until(name, 'idle after a turn', (_row, agent) => {
      return (agent.session?.turnsCompleted ?? 0) > before && agent.activity.kind === 'idle';
    });
  }

  screen(name: string): Promise<string> {
    return this.tmux('capture-pane', '-p', '-t', `=${name}:`);
  }

  async tmux(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-S', this.paths.fleetSocket, ...args]);
    return stdout;
  }

  /** Ends the window, the fleet and every process of this directory, and removes it. */
  async dispose(): Promise<void> {
    this.closeWindow();
    await this.model.dispose();
    await endProcesses(this.root);
    await rm(this.root, { recursive: true, force: true, maxRetries: 3 });
  }

  private connect(): Promise<void> {
    const { client } = this.window;
    client.start();
    return client.whenConnected(patience, new AbortController().signal);
  }
}

function holderOptions(paths: StatePaths): EnsureHolderOptions {
  return {
    paths,
    install: () =>
      installPrograms({
        distDirectory: path.join(repository, 'dist'),
        version: 'test',
        paths,
        nodes: [process.execPath],
      }),
    log: silentLog,
  };
}

function createWindow(paths: StatePaths, options: FleetRigOptions): RigWindow {
  const client = new GatewayClient({
    paths,
    log: silentLog,
    window: rigWindow,
    hands: () => 'offered',
    ensure: (signal) => ensureHolder({ ...holderOptions(paths), signal }),
  });
  const environment = {
    PATH: process.env['PATH'] ?? '',
    TMPDIR: path.join(path.dirname(paths.directory), 'tmp'),
    LANG: 'C.UTF-8',
    ...options.environment,
  };
  const hands = new HandsHost(
    client,
    rigWindow,
    () =>
      new Hands({
        stateDirectory: paths.directory,
        environment,
        ...(options.transport !== 'pipes' && { loadPty: () => loadPty(() => createRequire(__filename)('node-pty')) }),
        fleet: () => client.state,
        report: (facts) => {
          client.report(facts);
        },
        log: silentLog,
      }),
    silentLog,
  );
  return { client, hands };
}
