import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { type AgentRow, select } from '../../src/core/fleet/select.ts';
import type { Agent } from '../../src/core/fleet/agent.ts';
import type { FleetState } from '../../src/core/fleet/state.ts';
import { ensureHolder } from '../../src/node/gatewayLauncher.ts';
import { type StatePaths, statePaths } from '../../src/node/statePaths.ts';
import type { Command } from '../../src/protocol/commands.ts';
import type { Endpoint } from '../../src/protocol/endpointFile.ts';
import { AgentTerminals } from './agentTerminals.ts';
import { claudeBinary, claudeEnvironment, type ClaudeVersion, prepareClaudeHome, scriptedApiKey } from './claude.ts';
import { closePort } from './gatewayProcesses.ts';
import { endProcesses } from './processes.mjs';
import { createRigWindow, holderOptions, type RigWindow } from './rigWindow.ts';
import { type ScriptedModel, startScriptedModel } from './scriptedModel.ts';
import { waitFor } from './waitFor.ts';
import type { WindowProcess, WindowProgram } from './windowProcess.ts';

const repository = path.resolve(__dirname, '../..');

/** How patient the rig is, in milliseconds: a claude takes seconds to start, more on a busy machine. */
const patience = 60_000;

/** The name under which the rig's window has the hands. */
export const rigWindow = 'test-window';

export interface FleetRigOptions {
  readonly version: ClaudeVersion;
  /** Names of directories below the rig's; `trusted` ones start without a dialog. */
  readonly trusted: readonly string[];
  readonly untrusted?: readonly string[];
  /** Environment of the process that hosts the hands, over a plain one. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Transport of the tmux client; a pseudo terminal by default. */
  readonly transport?: 'pty' | 'pipes';
  /** `not offered`: the rig's window only watches. */
  readonly hands?: 'offered' | 'not offered';
  /** Makes what holder, gateway, hooks and windows of their own run on, in the root; this process's Node by default. */
  readonly node?: (root: string) => Promise<string>;
}

/**
 * A fleet of real claudes without VS Code: the built holder and gateway, real tmux, the extension's own client and
 * hands, and a scripted model, in one private directory.
 */
export class FleetRig {
  private readonly terminals: AgentTerminals;

  private constructor(
    /** Holds state, home and the agents' directories. */
    readonly root: string,
    readonly paths: StatePaths,
    readonly model: ScriptedModel,
    private readonly options: FleetRigOptions & { readonly nodePath?: string },
    private window: RigWindow,
  ) {
    this.terminals = new AgentTerminals(paths.fleetSocket, { inputMs: patience, echoMs: patience });
  }

  static async open(given: FleetRigOptions): Promise<FleetRig> {
    // Short, because Unix sockets lie in it.
    const parent = os.tmpdir().length > 40 ? '/tmp' : os.tmpdir();
    const root = await realpath(await mkdtemp(path.join(parent, 'bowline-')));
    const nodePath = await given.node?.(root);
    const options = { ...given, ...(nodePath !== undefined && { nodePath }) };
    const below = (name: string): string => path.join(root, name);
    for (const name of [...options.trusted, ...(options.untrusted ?? []), 'tmp']) {
      await mkdir(below(name), { recursive: true });
    }
    const home = below('home');
    await prepareClaudeHome({ home, apiKey: scriptedApiKey, directories: options.trusted.map(below) });
    const model = await startScriptedModel();
    // With spaces and letters beyond ASCII: nothing in between may quote or fold them.
    const paths = statePaths(below('État 状態'));
    const rig = new FleetRig(root, paths, model, options, openRigWindow(paths, options));
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
    this.window = openRigWindow(this.paths, this.options);
    await this.connect();
  }

  /** Starts holder and gateway without a window, unless they run. */
  startGateway(): Promise<Endpoint> {
    const { nodePath: node } = this.options;
    return ensureHolder(
      holderOptions({ paths: this.paths, repository, log: silentLog, ...(node !== undefined && { node }) }),
    );
  }

  /**
   * Ends holder and gateway, and the loop that would start them again, with kill -9, and keeps the port closed: nothing
   * can be started until `open` is called.
   */
  closePort(): Promise<{ open(): Promise<void> }> {
    return closePort(this.paths);
  }

  /** Starts one more window, in a process of its own that ends with the rig. Its log is `<name>.jsonl` in the root. */
  startWindow(program: WindowProgram, window: string): WindowProcess {
    return program.start({
      stateDirectory: this.paths.directory,
      repository,
      window,
      environment: rigEnvironment(this.paths, this.options),
      transport: this.options.transport ?? 'pty',
      ...(this.options.nodePath !== undefined && { node: this.options.nodePath }),
      logFile: path.join(this.root, `${window}.jsonl`),
    });
  }

  /** The fleet as the window knows it. */
  get state(): FleetState {
    return this.window.client.state;
  }

  get isConnected(): boolean {
    return this.window.client.connection.kind === 'connected';
  }

  /** Who has the hands, as the window knows it. */
  get handsHolder(): string | undefined {
    return this.state.hands?.holder;
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
  prompt(name: string, text: string): Promise<void> {
    return this.terminals.prompt(name, text);
  }

  /** A prompt, and the end of its turn as the hooks tell it. */
  async turn(name: string, text: string): Promise<void> {
    const before = this.agent(name).session?.turnsCompleted ?? 0;
    await this.prompt(name, text);
    await this.until(name, 'idle after a turn', (_row, agent) => {
      return (agent.session?.turnsCompleted ?? 0) > before && agent.activity.kind === 'idle';
    });
  }

  /** Waits for an empty input line. */
  untilInput(name: string): Promise<void> {
    return this.terminals.untilInput(name);
  }

  screen(name: string): Promise<string> {
    return this.terminals.screen(name);
  }

  tmux(...args: readonly string[]): Promise<string> {
    return this.terminals.tmux(...args);
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

function openRigWindow(paths: StatePaths, options: FleetRigOptions & { readonly nodePath?: string }): RigWindow {
  return createRigWindow({
    stateDirectory: paths.directory,
    repository,
    window: rigWindow,
    hands: options.hands ?? 'offered',
    environment: rigEnvironment(paths, options),
    transport: options.transport ?? 'pty',
    ...(options.nodePath !== undefined && { node: options.nodePath }),
    log: silentLog,
  });
}

function rigEnvironment(paths: StatePaths, options: FleetRigOptions): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    TMPDIR: path.join(path.dirname(paths.directory), 'tmp'),
    LANG: 'C.UTF-8',
    ...options.environment,
  };
}
