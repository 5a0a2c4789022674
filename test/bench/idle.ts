import { delay } from '../../src/base/async.ts';
import { holderFileSchema } from '../../src/protocol/endpointFile.ts';
import { readJsonFile } from '../../src/node/files.ts';
import { findProcesses } from '../harness/processes.mjs';
import { fleetSize } from './boundFleet.ts';
import { type Figure, median } from './figure.ts';
import { IdleFleet } from './idleFleet.ts';
import { processorTime } from './processorTime.ts';
import { TmuxPoller } from './tmuxPoller.ts';

/** Five spans of a minute, one beginning every 15 s: each holds every interval of Bowline's, the probes' twice. */
const stepMs = 15_000;
const stepsPerSpan = 4;
const spans = 5;
/**
 * An extension host is calm when no look at it, one every 10 s, shows more than this in the longest time for which V8 puts
 * off the collection of an idle heap's garbage: one takes 200 ms, which is more than a minute of what is measured.
 */
const calm = { lookMs: 10_000, atMostMs: 100, forMs: 110_000, givenUpAfterMs: 420_000 } as const;

type Part = 'host' | 'bare' | 'gateway' | 'holder' | 'tmux' | 'poller';

/**
 * What 50 idle agents cost: processor time of extension host, gateway, holder and tmux, beside that of a process which
 * starts one `tmux list-panes` a second on a tmux server with as many panes. What the same extension host uses without
 * Bowline, meanwhile, is taken off. Linux only.
 */
export const idle: Figure = {
  name: 'idle',
  measure: async () => {
    const fleet = await IdleFleet.open(fleetSize);
    try {
      const { directory, paths, hosts } = fleet;
      const poller = await TmuxPoller.start({ directory, configuration: paths.tmuxConfig, panes: fleetSize });
      const pids = await pidsOf(fleet);
      await settle([hosts.bare, hosts.withBowline]);
      const samples = [await sample(pids, poller)];
      while (samples.length < stepsPerSpan + spans) {
        await delay(stepMs);
        samples.push(await sample(pids, poller));
      }
      if (!(await fleet.isCalm())) throw new Error('an agent is not bound any more');
      return readings(samples);
    } finally {
      await fleet.dispose();
    }
  },
};

interface Sample {
  readonly at: number;
  /** Processor time so far, in milliseconds. */
  readonly time: Readonly<Record<Part, number>>;
}

async function pidsOf(fleet: IdleFleet): Promise<Readonly<Record<Exclude<Part, 'poller'>, readonly number[]>>> {
  const { hosts, paths } = fleet;
  const holder = await readJsonFile(paths.holder, holderFileSchema);
  if (holder.kind !== 'ok' || holder.value.child === undefined) throw new Error('the holder runs no gateway');
  const processes = findProcesses(paths.directory);
  const those = (mark: string): number[] =>
    processes.filter(({ command }) => command.includes(mark)).map(({ pid }) => pid);
  // The server carries the command line of the client that started it.
  const tmux = processes.filter(({ command }) => /^\S*tmux /.test(command) && command.includes(paths.fleetSocket));
  if (tmux.length !== 2) throw new Error(`tmux's server and Bowline's client are ${tmux.length} processes`);
  return {
    host: [hosts.withBowline],
    bare: [hosts.bare],
    gateway: [holder.value.child.pid],
    holder: [holder.value.pid, ...those(`${paths.launcher} holder`)],
    tmux: tmux.map(({ pid }) => pid),
  };
}

async function settle(extensionHosts: readonly number[]): Promise<void> {
  const times = (): Promise<readonly number[]> => Promise.all(extensionHosts.map(processorTime));
  const started = performance.now();
  let calmSince = started;
  let before = await times();
  while (performance.now() - calmSince < calm.forMs) {
    if (performance.now() - started > calm.givenUpAfterMs) throw new Error('VS Code does not come to rest');
    await delay(calm.lookMs);
    const after = await times();
    if (after.some((time, index) => time - (before[index] ?? 0) > calm.atMostMs)) calmSince = performance.now();
    before = after;
  }
}

async function sample(pids: Awaited<ReturnType<typeof pidsOf>>, poller: TmuxPoller): Promise<Sample> {
  const sum = async (ids: readonly number[]): Promise<number> =>
    (await Promise.all(ids.map(processorTime))).reduce((total, one) => total + one, 0);
  const time = {
    host: await sum(pids.host),
    bare: await sum(pids.bare),
    gateway: await sum(pids.gateway),
    holder: await sum(pids.holder),
    tmux: await sum(pids.tmux),
    poller: await poller.time(),
  };
  return { at: performance.now(), time };
}

function readings(samples: readonly Sample[]): Awaited<ReturnType<Figure['measure']>> {
  const used = samples.flatMap((end, index) => {
    const begin = samples[index - stepsPerSpan];
    if (begin === undefined) return [];
    const part = (name: Part): number => (100 * (end.time[name] - begin.time[name])) / (end.at - begin.at);
    // Noise of the other extension host is not to make this one look better than it is.
    const host = Math.max(0, part('host') - part('bare'));
    return { own: host + part('gateway') + part('holder') + part('tmux'), part };
  });
  const middle = (name: Part): string => median(used.map(({ part }) => part(name))).toFixed(2);
  const value = median(used.map(({ own }) => own));
  const parts = (['gateway', 'holder', 'tmux'] as const).map((name) => `${name} ${middle(name)}`).join(', ');
  const remark = `extension host ${middle('host')}, of it ${middle('bare')} without Bowline; ${parts}`;
  const reference = median(used.map(({ part }) => part('poller')));
  return [
    { name: 'idle: 50 agents, beside polling tmux', value, unit: '% core', reference, goal: 1 / 5, remark },
    { name: 'idle: 50 agents, part of a core', value, unit: '%', goal: 1 },
  ];
}
