import { mkdtemp, rm } from 'node:fs/promises';
import * as promises from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { delay } from '../../src/base/async.ts';
import type { FleetEvent } from '../../src/core/fleet/events.ts';
import type { FileOperations } from '../../src/gateway/stateJournal.ts';
import { exists } from '../../src/node/files.ts';
import { ensureStateDirectories, type StatePaths, statePaths } from '../../src/node/statePaths.ts';
import { GatewayRig } from '../harness/gatewayRig.ts';
import { WindowStandIn } from '../harness/gatewayWindow.ts';
import { kill } from '../harness/holderRig.ts';
import { JournaledFleet } from '../harness/journaledFleet.ts';
import { repository } from '../host/setup.mjs';
import { type Figure, median, type Reading } from './figure.ts';

const agents = 200;
const events = 100_000;
const rounds = 5;
/** The holder restarts at once only a gateway that has lived for 5 s. */
const lifeMs = 5_500;

/** The state of 200 agents on disk: read at a start, compacted, written. */
export const state: Figure = {
  name: 'state',
  measure: async () => [await start(), ...(await journal())],
};

/** From kill -9 of the gateway, built and minified, until a window that waits has the fleet. */
async function start(): Promise<Reading> {
  const rig = new GatewayRig({ directory: path.join(repository, 'dist'), dispose: () => undefined });
  const times: number[] = [];
  try {
    await rig.install();
    const fleet = await JournaledFleet.open(rig.paths);
    await fleet.commit(...fleetEvents());
    rig.startHolder();
    let endpoint = await rig.up();
    for (let round = 0; round < rounds; round += 1) {
      await delay(lifeMs);
      kill(endpoint.gateway.pid, 'SIGKILL');
      const started = performance.now();
      const window = await WindowStandIn.join(endpoint, `bench-${round}`, 'not offered');
      times.push(performance.now() - started);
      if (Object.keys(window.state.agents).length !== agents) throw new Error('agents are missing');
      window.close();
      endpoint = await rig.up({ not: endpoint });
    }
  } finally {
    await rig.dispose();
  }
  const name = `state: ${agents} agents, kill -9 to snapshot`;
  return { name, value: median(times), unit: 'ms', goal: 300, remark: `worst ${Math.round(Math.max(...times))} ms` };
}

async function journal(): Promise<readonly Reading[]> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'bowline-bench-state-'));
  try {
    const paths = statePaths(directory);
    await ensureStateDirectories(paths);
    const syncs = await syncsPerChange(paths);
    const { longest, took } = await compaction(paths);
    return [
      {
        name: 'state: fsyncs per change',
        value: median(syncs),
        unit: '',
        goal: 1,
        remark: `worst ${Math.max(...syncs)}`,
      },
      {
        name: `state: longest block, ${events} compacted`,
        value: longest,
        unit: 'ms',
        goal: 20,
        remark: `compacted in ${Math.round(took)} ms`,
      },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** How often each change of a fleet that is in use has something brought to disk; then the journal has all events. */
async function syncsPerChange(paths: StatePaths): Promise<readonly number[]> {
  let count = 0;
  const files: FileOperations = { ...promises, open: async (...given) => counting(await promises.open(...given)) };
  const counting = (file: promises.FileHandle): promises.FileHandle => {
    const [sync, datasync] = [file.sync.bind(file), file.datasync.bind(file)];
    const counted = (operation: () => Promise<void>) => (): Promise<void> => {
      count += 1;
      return operation();
    };
    return Object.assign(file, { sync: counted(sync), datasync: counted(datasync) });
  };
  const fleet = await JournaledFleet.open(paths, { files, compactAt: Infinity });
  await fleet.commit(...fleetEvents());
  const counts: number[] = [];
  for (let change = 1; change <= events;) {
    const before = count;
    // Some of them one by one, the others in bursts.
    const burst = change <= 200 ? 1 : 998;
    await fleet.commit(...Array.from({ length: burst }, () => saved(change++)));
    counts.push(count - before);
  }
  return counts;
}

/** The longest time that the event loop does not turn, and how long all takes. */
async function compaction(paths: StatePaths): Promise<{ readonly longest: number; readonly took: number }> {
  const fleet = await JournaledFleet.open(paths, { compactAt: 1 });
  const started = performance.now();
  const written = fleet.commit(saved(events + 1));
  let longest = 0;
  let last = started;
  while (!(await exists(paths.previousState)) || (await exists(`${paths.state}.tmp`))) {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    await nextTurn();
  }
  await written;
  return { longest, took: performance.now() - started };
}

function saved(number: number): FleetEvent {
  const name = `agent-${number % agents}`;
  const context = { at: number, launchId: `${name}.1`, origin: 'explicit', bytes: number } as const;
  return { at: number, kind: 'context saved', name, context };
}

/** Agents whose tools are in use. */
function fleetEvents(): readonly FleetEvent[] {
  const at = Date.now();
  const epoch = { id: 'bench', startedAt: at, port: 'was closed' } as const;
  const server = 'bowline-self';
  const perAgent = Array.from({ length: agents }, (_, index): readonly FleetEvent[] => {
    const name = `agent-${index}`;
    const launchId = `${name}.1`;
    const launch = { id: launchId, mode: 'fresh', requestedAt: at, cause: 'person' } as const;
    const configuration = {
      directory: '/work',
      extraArguments: [],
      environment: {},
      servers: { [server]: 'on' },
    } as const;
    const process = { tmuxSession: `$${index}`, pane: `%${index}`, pid: 1000 + index };
    const hook = { event: 'SessionStart', sessionId: `session-${index}`, transcriptExists: true } as const;
    const endpoint = { at, name, server, launchId };
    const session = `digest${index}`;
    const client = { name: 'claude-code', version: '2.1.332', protocolVersion: '2025-11-25' };
    return [
      { at, kind: 'agent created', name, configuration },
      { at, kind: 'launch requested', name, launch },
      { at, kind: 'launched', name, launchId, process },
      { at, kind: 'hook reported', name, launchId, hook },
      { ...endpoint, kind: 'mcp initialized', session, client },
      { ...endpoint, kind: 'mcp tools listed', session },
      { ...endpoint, kind: 'mcp stream opened', session },
      { ...endpoint, kind: 'mcp proof seen', session },
    ];
  });
  return [{ at, kind: 'epoch started', epoch }, ...perAgent.flat()];
}
