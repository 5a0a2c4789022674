import { writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { Emitter } from '../../src/base/events.ts';
import type { Connection } from '../../src/core/fleet/select.ts';
import { AgentsTree } from '../../src/extension/agentsTree.ts';
import { FleetPresenter } from '../../src/extension/fleetPresenter.ts';
import { StatusBar } from '../../src/extension/statusBar.ts';
import { FleetStory } from '../harness/fleetStory.ts';

const agents = 200;
const everyMs = 20;
/** Between two looks of the watch on the event loop, in milliseconds. */
const lookEveryMs = 5;

/** 200 agents, each bound and idle. */
function fleet(): FleetStory {
  const story = new FleetStory();
  for (let index = 0; index < agents; index += 1) {
    const name = nameOf(index);
    story.create(name).request(name).launched(name);
    story.hook({ event: 'SessionStart', source: 'startup', sessionId: `of-${name}` }, name).connect(name);
    story.probe('answered', name);
  }
  story.settle();
  return story;
}

function nameOf(index: number): string {
  return `agent-${String(index).padStart(3, '0')}`;
}

/** Runs in a real extension host: plays hooks at a steady rate and writes what it took to the file of the environment. */
export async function run(): Promise<void> {
  const story = fleet();
  const changed = new Emitter<undefined>();
  const connection: Connection = { kind: 'connected' };
  const source = {
    get state() {
      return story.state;
    },
    connection,
    onDidChange: changed.event,
  };
  const presenter = new FleetPresenter(source, () => story.now);
  const memory = { get: () => undefined, update: () => Promise.resolve() };
  const tree = new AgentsTree(presenter, memory);
  const statusBar = new StatusBar(presenter, { startProblem: () => undefined, handsProblem: () => undefined });
  const open: number[] = [];
  const settled: number[] = [];
  // The last that is told: view and status bar are set by then.
  presenter.onDidChangeNow(() => {
    const now = performance.now();
    settled.push(...open.splice(0).map((since) => now - since));
  });
  await vscode.commands.executeCommand('bowline.agents.focus');
  const events = Number(process.env['BOWLINE_BENCH_EVENTS']);
  await play(story, changed, { events: 50, open }); // what is compiled and drawn at first
  settled.length = 0;
  const cpuBefore = process.cpuUsage();
  const watch = watchLoop();
  await play(story, changed, { events, open });
  const { user, system } = process.cpuUsage(cpuBefore);
  const { longest, latest } = watch.end();
  const share = (user + system) / 1_000 / (events * everyMs);
  writeFileSync(process.env['BOWLINE_BENCH_FILE'] ?? '', JSON.stringify({ settled, longest, latest, share }));
  for (const one of [statusBar, tree, presenter]) one.dispose();
}

/**
 * Looks how late the event loop comes. `latest`: by the clock, with whatever else the machine ran meanwhile. `longest`: no
 * more of it than this process computed, which is what it held up itself.
 */
function watchLoop(): { end(): { readonly longest: number; readonly latest: number } } {
  let [longest, latest] = [0, 0];
  let before = performance.now();
  let cpu = process.cpuUsage();
  const timer = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    const late = now - before - lookEveryMs;
    latest = Math.max(latest, late);
    longest = Math.max(longest, Math.min(late, (user + system) / 1_000));
    before = now;
    cpu = process.cpuUsage();
  }, lookEveryMs);
  return {
    end() {
      clearInterval(timer);
      return { longest, latest };
    },
  };
}

/** One agent after another begins a turn and, in the next round, ends it. */
async function play(
  story: FleetStory,
  changed: Emitter<undefined>,
  { events, open }: { readonly events: number; readonly open: number[] },
): Promise<void> {
  let done = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const name = nameOf(done % agents);
      const event = story.agent(name).activity.kind === 'busy' ? 'Stop' : 'UserPromptSubmit';
      open.push(performance.now());
      story.wait(everyMs).hook({ event, sessionId: `of-${name}` }, name);
      changed.fire(undefined);
      done += 1;
      if (done < events) return;
      clearInterval(timer);
      setTimeout(resolve, 500); // for what is still to be shown
    }, everyMs);
  });
}
