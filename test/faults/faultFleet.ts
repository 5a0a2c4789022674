import { readFileSync } from 'node:fs';
import { appendFile, chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Agent, currentLaunch, knownLaunchIds } from '../../src/core/fleet/agent.ts';
import { readState } from '../../src/node/stateFiles.ts';
import type { Command } from '../../src/protocol/commands.ts';
import { bundlePrograms } from '../harness/bundle.ts';
import { FleetRig } from '../harness/fleetRig.ts';
import { kill } from '../harness/holderRig.ts';
import { gatewayProcesses } from '../harness/gatewayProcesses.ts';
import { waitFor } from '../harness/waitFor.ts';
import { bundleWindowProgram, type WindowProcess, type WindowProgram } from '../harness/windowProcess.ts';
import { isLiving } from './livingProcess.ts';
import { type Note, readNotes } from './notes.ts';
import type { Order } from './order.ts';
import type { Fault } from './report.ts';

/** The stand-in for claude, what watches steps, and the window, bundled once for all fleets. */
export interface FaultPrograms {
  readonly directory: string;
  readonly window: WindowProgram;
  dispose(): Promise<void>;
}

export async function bundleFaultPrograms(): Promise<FaultPrograms> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'bowline-faults-'));
  const entry = (name: string): string => path.join(__dirname, `${name}.ts`);
  await bundlePrograms({
    entryPoints: { claudeStandInMain: entry('claudeStandInMain'), stepsPreload: entry('stepsPreload') },
    directory,
  });
  const window = await bundleWindowProgram();
  return {
    directory,
    window,
    dispose: async () => {
      await window.dispose();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const patience = { timeoutMs: 40_000, everyMs: 20 };

/** Who is killed at a step. */
export type Victim = 'gateway' | 'window' | 'tmux';

/** Names of the agents that are to run, and of those that are to be there and not run. */
export interface Expected {
  readonly running: readonly string[];
  readonly stopped: readonly string[];
}

/**
 * A fleet of stand-ins for claude on the real holder, gateway, hooks, tmux and hands, in a directory of its own. Two windows
 * are processes of their own, one of which has the hands; the rig's own window is the person who asks and looks.
 */
export class FaultFleet {
  private windows: readonly WindowProcess[] = [];
  private windowCount = 0;
  private gatewayKills = 0;
  private runSince = 0;

  private constructor(
    readonly rig: FleetRig,
    private readonly programs: FaultPrograms,
  ) {}

  static async open(programs: FaultPrograms): Promise<FaultFleet> {
    const rig = await FleetRig.open({
      version: '2.1.332',
      trusted: ['work'],
      hands: 'not offered',
      transport: 'pipes',
      node: async (root) => {
        await mkdir(path.join(root, 'steps'));
        const exports = `export BOWLINE_STEPS='${root}/steps' NODE_OPTIONS='--require=${programs.directory}/stepsPreload.js'`;
        return script(path.join(root, 'node'), `${exports}\nexec '${process.execPath}' "$@"`);
      },
    });
    const fleet = new FaultFleet(rig, programs);
    try {
      const standIn = path.join(programs.directory, 'claudeStandInMain.js');
      const claudePath = await script(path.join(rig.root, 'claude'), `exec '${process.execPath}' '${standIn}' "$@"`);
      await appendFile(fleet.notesFile, '');
      const environment = { ...rig.state.settings.environment, STAND_IN_NOTES: fleet.notesFile };
      await rig.request({ kind: 'configure', settings: { ...rig.state.settings, claudePath, environment } });
      await fleet.keepWindows();
      return fleet;
    } catch (error) {
      await fleet.dispose();
      throw error;
    }
  }

  agent(name: string): Agent | undefined {
    return this.rig.state.agents[name];
  }

  /** What was told before is no fault of what is done from now on. */
  begin(): void {
    this.runSince = Date.now();
  }

  /** It runs, is bound and does nothing. */
  isReady(name: string): boolean {
    if (this.agent(name) === undefined) return false;
    const { life, worst, activity } = this.rig.row(name);
    return life === 'ready' && worst === 'bound' && activity === 'idle';
  }

  /** Brings an agent there that is ready, and whose conversation holds a prompt of its own. */
  async ensureReady(name: string): Promise<void> {
    if (this.agent(name) === undefined) await this.rig.create(name, 'work');
    const agent = this.agent(name);
    if (agent !== undefined && currentLaunch(agent) === undefined) await this.rig.request({ kind: 'start', name });
    await this.until(`${name} to be ready`, () => this.isReady(name));
    if (this.agent(name)?.session?.prompted !== true) await this.prompt(name, `the word of ${name}`);
  }

  /** A prompt and the end of its turn. */
  async prompt(name: string, text: string): Promise<void> {
    const id = crypto.randomUUID();
    const before = this.agent(name)?.session?.turnsCompleted ?? 0;
    await this.rig.request({ kind: 'prompt', name, id, text });
    await this.until(`${name} to have taken "${text}"`, () => {
      const agent = this.agent(name);
      const isTaken = agent?.prompts?.some((prompt) => prompt.id === id && prompt.state.kind === 'received') === true;
      const isOver = text.startsWith('POISON') || (agent?.session?.turnsCompleted ?? 0) > before;
      return isTaken && isOver && agent.activity.kind === 'idle';
    });
  }

  /** Waits; the error tells how the agents look instead. */
  async until(description: string, probe: () => boolean | Promise<boolean>): Promise<void> {
    try {
      await waitFor(description, probe, patience);
    } catch (error) {
      const shown = Object.keys(this.rig.state.agents).map((name) => `${name} ${this.shown(name)}`);
      throw new Error(`timed out waiting for ${description}; ${shown.join('; ')}`, { cause: error });
    }
  }

  get notes(): readonly Note[] {
    return readNotes(this.notesFile);
  }

  /** The stand-ins that live now. */
  get living(): readonly Note[] {
    return this.notes.filter((note) => note.what === 'starts' && runsAs(note));
  }

  /** The conversation in which a stand-in is now, by its live-session file. */
  async conversationOf(pid: number): Promise<string> {
    const text = await readFile(path.join(this.rig.root, 'home', '.claude', 'sessions', `${pid}.json`), 'utf8');
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'sessionId' in value ? String(value.sessionId) : '';
  }

  /** What the processes that watch their steps are to do. */
  async order(order: Order | undefined): Promise<void> {
    await rm(this.step('met.json'), { force: true });
    await rm(this.step('order.json'), { force: true });
    if (order === undefined) return;
    await writeFile(this.step('new.json'), JSON.stringify(order));
    await rename(this.step('new.json'), this.step('order.json'));
  }

  /** Whether the order to kill was followed. */
  get isMet(): boolean {
    return this.read('met.json') !== '';
  }

  /** The steps since they were taken last, each `<role> <label>`. */
  async takeSteps(): Promise<readonly string[]> {
    const steps = this.read('steps').split('\n').filter(Boolean);
    await rm(this.step('steps'), { force: true });
    return steps;
  }

  /** Ends the tmux server, and resolves when all agents are known to have ended with it. */
  async killTmux(): Promise<void> {
    kill(Number(await this.rig.tmux('display-message', '-p', '#{pid}')), 'SIGKILL');
    await this.until('the end of all agents', () => {
      const { agents } = this.rig.state;
      return this.living.length === 0 && Object.values(agents).every(({ life }) => life.kind === 'stopped');
    });
  }

  /** Makes up for a kill where nobody but a person does: a window is opened again. */
  async makeUp(victim: Victim): Promise<void> {
    if (victim === 'window') await this.keepWindows();
    // The holder waits longer before each start of a gateway that died young: a new one does not.
    if (victim === 'gateway' && ++this.gatewayKills % 3 === 0) {
      const former = this.rig.state.epoch?.id;
      for (const pid of Object.values(await gatewayProcesses(this.rig.paths))) kill(pid, 'SIGKILL');
      await this.until('a new holder', () => this.rig.isConnected && this.rig.state.epoch?.id !== former);
    }
  }

  async keepWindows(): Promise<void> {
    this.windows = this.windows.filter(({ pid }) => isLiving(pid));
    while (this.windows.length < 2) {
      this.windows = [...this.windows, this.rig.startWindow(this.programs.window, `window-${++this.windowCount}`)];
    }
    await this.until('a window with the hands', () => {
      return this.windows.some(({ window }) => window === this.rig.handsHolder);
    });
  }

  request(command: Command): Promise<void> {
    return this.rig.request(command);
  }

  /** What of the fleet is not as it must be, in words. */
  async faults({ running, stopped }: Expected, victim: Victim | undefined): Promise<readonly Fault[]> {
    const faults: Fault[] = [];
    const { agents } = this.rig.state;
    const { living } = this;
    const there = [...running, ...stopped].toSorted().join(', ');
    const found = Object.keys(agents).toSorted().join(', ');
    if (found !== there) faults.push(`lost: agents are ${found} instead of ${there}`);
    for (const name of running) {
      const agent = agents[name];
      if (agent === undefined || !this.isReady(name)) {
        faults.push(`lost: ${name} is not ready: ${agent === undefined ? 'missing' : this.shown(name)}`);
        continue;
      }
      const own = living.filter((note) => note.agent === name);
      const launch = currentLaunch(agent)?.id;
      const shown = own.map((note) => note.launch).join(', ');
      if (shown !== launch) {
        const kind = own.length > 1 ? 'doubled' : 'lost';
        faults.push(`${kind}: ${name} runs as ${shown || 'nothing'} instead of ${String(launch)}`);
      }
      if (!own.every(({ pid }) => isInTmux(pid))) faults.push(`lost: ${name} does not run in tmux`);
      const conversations = await Promise.all(own.map(({ pid }) => this.conversationOf(pid)));
      if (conversations.join() !== agent.session?.id) {
        faults.push(`conversation: ${name} is in ${conversations.join()} instead of ${String(agent.session?.id)}`);
      }
    }
    for (const { agent, launch } of living)
      if (!running.includes(agent)) faults.push(`doubled: ${agent} runs as ${launch}`);
    faults.push(...this.doubled(), ...(await this.onDisk()), ...this.told(victim));
    return faults;
  }

  async dispose(): Promise<void> {
    await this.rig.dispose();
  }

  private shown(name: string): string {
    const { life, worst, activity, detail } = this.rig.row(name);
    return [life, worst, activity, detail].join(' ').trim();
  }

  /** No launch is started twice, and none that the fleet does not know. */
  private doubled(): readonly Fault[] {
    const starts = this.notes.filter(({ what }) => what === 'starts');
    const ids = starts.map(({ launch }) => launch);
    const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
    const recent = starts.slice(-8).filter(({ agent, launch }) => {
      const known = this.agent(agent);
      return known !== undefined && !knownLaunchIds(known).includes(launch);
    });
    return [
      ...twice.map((id): Fault => `doubled: launch ${id} was started twice`),
      ...recent.map(({ launch }): Fault => `doubled: launch ${launch} is on no record`),
    ];
  }

  /** What the files hold is what the fleet holds. */
  private async onDisk(): Promise<readonly Fault[]> {
    const reading = await readState(this.rig.paths);
    if (reading.kind !== 'ok') return [`lost: the state on disk is ${reading.kind}`];
    const essence = (agents: Readonly<Record<string, Agent>>): string =>
      JSON.stringify(
        Object.entries(agents)
          .map(([name, { session, launchCount, life }]) => [name, session?.id, launchCount, life.kind])
          .toSorted(),
      );
    const [disk, shown] = [essence(reading.state.agents), essence(this.rig.state.agents)];
    return disk === shown ? [] : [`lost: on disk is ${disk} instead of ${shown}`];
  }

  /** The end of tmux is told, and nothing else went wrong. */
  private told(victim: Victim | undefined): readonly Fault[] {
    const told = victim === 'tmux' ? ['host-gone'] : [];
    const odd = this.rig.state.notices.filter(({ at, severity, code }) => {
      return at >= this.runSince && severity === 'error' && !told.includes(code);
    });
    return odd.map(({ code, sentence }): Fault => `other: told is ${code}: ${sentence}`);
  }

  private get notesFile(): string {
    return path.join(this.rig.root, 'notes');
  }

  private step(file: string): string {
    return path.join(this.rig.root, 'steps', file);
  }

  private read(file: string): string {
    try {
      return readFileSync(this.step(file), 'utf8');
    } catch {
      return ''; // not yet
    }
  }
}

async function script(file: string, text: string): Promise<string> {
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
  return file;
}

/** Whether the process lives and, since pids come again, is the one of this launch. */
function runsAs({ pid, launch }: Note): boolean {
  try {
    return isLiving(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`BOWLINE_LAUNCH=${launch}\0`);
  } catch {
    return false; // ended meanwhile
  }
}

/** What loses its tmux server may take a while to end. */
function isInTmux(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '';
    return readFileSync(`/proc/${parent}/comm`, 'utf8').startsWith('tmux');
  } catch {
    return false; // ended meanwhile
  }
}
