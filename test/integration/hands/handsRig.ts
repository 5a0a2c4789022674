import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { silentLog } from '../../../src/base/log.ts';
import { lifeOf } from '../../../src/core/fleet/lifeOf.ts';
import type { Launch } from '../../../src/core/fleet/life.ts';
import { Hands, type HandsOptions } from '../../../src/node/hands/hands.ts';
import type { HandsTask } from '../../../src/protocol/stream.ts';
import { FleetStory } from '../../harness/fleetStory.ts';
import { endProcesses } from '../../harness/processes.mjs';
import { waitFor } from '../../harness/waitFor.ts';

const run = promisify(execFile);

export type LaunchTask = Extract<HandsTask, { kind: 'launch' }>;

/** The real hands on a real tmux in a private directory, with the brain of a {@link FleetStory} and programs of the test. */
export class HandsRig {
  story = new FleetStory();
  hands: Hands;
  private tasks: readonly LaunchTask[] = [];

  private constructor(
    /** Real path; `work` in it is a directory for agents. */
    readonly root: string,
    private readonly options: Partial<HandsOptions>,
  ) {
    this.hands = this.createHands();
  }

  static async open(options: (root: string) => Partial<HandsOptions> = () => ({})): Promise<HandsRig> {
    const root = await realpath(await mkdtemp(path.join(tmpdir(), 'bowline-hands-')));
    await mkdir(path.join(root, 'state'), { mode: 0o700 });
    await mkdir(path.join(root, 'work'));
    return new HandsRig(root, options(root));
  }

  /** Writes a script that may be run, and resolves with its path. */
  async program(name: string, ...lines: readonly string[]): Promise<string> {
    const file = path.join(this.root, name);
    await writeFile(`${file}.part`, ['#!/bin/sh', ...lines, ''].join('\n'));
    await chmod(`${file}.part`, 0o755);
    await run('mv', [`${file}.part`, file]);
    return file;
  }

  /** Requests the next launch of an agent, which is created if it is new, and gives it to the hands with all open ones. */
  launch(program: string, changed: Partial<LaunchTask> = {}, launch: Partial<Launch> = {}): void {
    const name = changed.name ?? 'ada';
    if (this.story.state.agents[name] === undefined) this.story.create(name);
    const settings = { claudePath: program, environment: changed.environment ?? {}, healing: 'auto' } as const;
    this.story.tell({ kind: 'settings changed', settings });
    const launchId = changed.launchId ?? `${name}.${this.story.agent(name).launchCount + 1}`;
    this.story.request(name, { id: launchId, ...launch });
    const directory = path.join(this.root, 'work');
    const task = { launchId, directory, program, arguments: ['--stand-in'], environment: {} };
    const isOpen = (other: LaunchTask): boolean => this.story.state.agents[other.name]?.life.kind === 'launching';
    this.tasks = [
      ...this.tasks.filter((other) => other.name !== name && isOpen(other)),
      { kind: 'launch', id: `launch:${launchId}`, name, ...task, ...changed },
    ];
    this.giveAgain();
  }

  /** Gives all open launches to the hands. */
  giveAgain(): void {
    this.hands.setTasks(this.tasks);
  }

  /** What a person sees of an agent, with the rig's directory as `ROOT`. */
  shown(name = 'ada'): string {
    const { life, detail } = lifeOf(this.story.agent(name), [], this.story.state.hands);
    return `${life}${detail === '' ? '' : `: ${detail}`}`.replaceAll(this.root, 'ROOT');
  }

  /** Waits until an agent has this life, as it is stored, and resolves with what a person sees. */
  async until(life: string, name = 'ada'): Promise<string> {
    const fits = (): boolean => this.story.agent(name).life.kind === life;
    await waitFor(`${name} to be ${life}`, fits, { timeoutMs: 60_000 }).catch((error: unknown) => {
      throw new Error(`${name} is not ${life} but ${this.shown(name)}`, { cause: error });
    });
    return this.shown(name);
  }

  /** Launches and resolves with the pid of the process. */
  async running(program: string, changed: Partial<LaunchTask> = {}): Promise<number> {
    this.launch(program, changed);
    await this.until('running', changed.name);
    return this.pid(changed.name);
  }

  pid(name = 'ada'): number {
    const { life } = this.story.agent(name);
    return life.kind === 'running' ? life.running.process.pid : 0;
  }

  /** When the start of the process was told, in milliseconds since the epoch. */
  startedAt(name = 'ada'): number {
    const { life } = this.story.agent(name);
    return life.kind === 'running' ? life.running.startedAt : 0;
  }

  async tmux(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-S', path.join(this.root, 'state', 'fleet.sock'), ...args]);
    return stdout.trim();
  }

  /** Ends the hands, as a window that is closed, and opens others. */
  renewHands(): void {
    this.hands.dispose();
    this.hands = this.createHands();
    this.hands.setTasks([]);
  }

  async dispose(): Promise<void> {
    this.hands.dispose();
    await endProcesses(this.root);
    await rm(this.root, { recursive: true, force: true });
  }

  private createHands(): Hands {
    const hands: Hands = new Hands({
      stateDirectory: path.join(this.root, 'state'),
      environment: process.env,
      fleet: () => this.story.state,
      report: (facts) => {
        for (const fact of facts) this.story.tell(fact, fact.at);
        hands.fleetChanged();
      },
      log: silentLog,
      ...this.options,
    });
    return hands;
  }
}
