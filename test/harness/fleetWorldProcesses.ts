import type { HookFact } from '../../src/core/claude/facts.ts';
import { currentLaunch, runningLaunch } from '../../src/core/fleet/agent.ts';
import type { ProcessExit } from '../../src/core/fleet/events.ts';
import type { FleetWorld, SimulatedProcess, Temper } from './fleetWorld.ts';

/** Draws small numbers out of one big one, so that a whole step is one number that shrinks. */
export class Choice {
  constructor(private rest: number) {}

  below(limit: number): number {
    const drawn = this.rest % limit;
    this.rest = Math.floor(this.rest / limit);
    return drawn;
  }

  of<const T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }
}

export const names = ['ada', 'bo'] as const;

export const client = { name: 'claude-code', version: '2.1.332', protocolVersion: '2025-11-25' };

const olderClient = { ...client, version: '2.1.160' };

export const exits: readonly [ProcessExit, ...ProcessExit[]] = [
  { how: 'exited', status: 1, reading: 'other', detail: 'ended with status 1' },
  { how: 'exited', status: 0, reading: 'other', detail: 'ended' },
  { how: 'exited', status: 1, reading: 'conversation not found', detail: 'No conversation found' },
  { how: 'exited', status: 1, reading: 'login needed', detail: 'Please run /login' },
  { how: 'exited', status: 127, reading: 'binary missing', detail: 'not found' },
  { how: 'exited', status: 1, reading: 'configuration error', detail: 'Invalid MCP configuration' },
  { how: 'gone', reading: 'other', detail: 'its tmux pane was closed' },
];

export const tempers: readonly [Temper, ...Temper[]] = [
  { speech: 'tells', ears: 'connects' },
  { speech: 'tells', ears: 'connects' },
  { speech: 'tells', ears: 'shy' },
  { speech: 'tells', ears: 'deaf' },
  { speech: 'forgetful', ears: 'deaf' },
  { speech: 'silent', ears: 'connects' },
  { speech: 'silent', ears: 'deaf' },
];

/** `bo` has two endpoints. */
export function serversOf(name: string): Readonly<Record<string, 'on'>> {
  return name === 'bo' ? { 'bowline-self': 'on', 'bowline-memory': 'on' } : { 'bowline-self': 'on' };
}

export function serverOf({ servers }: Pick<SimulatedProcess, 'servers'>, choice: Choice): string {
  return servers[choice.below(servers.length)] ?? 'no-server';
}

export function aliveOf(world: FleetWorld, name: string): SimulatedProcess | undefined {
  return world.processes.find((process) => process.name === name && process.alive);
}

/** The process of the running launch, where it lives. */
export function runningOf(world: FleetWorld, name: string): SimulatedProcess | undefined {
  const agent = world.agent(name);
  const launch = agent === undefined ? undefined : runningLaunch(agent);
  const process = launch === undefined ? undefined : world.processOf(launch.launch.id);
  return process?.alive === true ? process : undefined;
}

export function hook(world: FleetWorld, name: string, fact: Partial<HookFact> & Pick<HookFact, 'event'>): void {
  const process = aliveOf(world, name);
  if (process === undefined || (!process.told && fact.event !== 'SessionStart')) return;
  const { error, ...rest } = fact;
  const detail = fact.event === 'StopFailure' && error !== undefined ? { error } : {};
  const common = { sessionId: process.session, transcriptExists: true, ...detail };
  world.tell({ kind: 'hook reported', name, launchId: process.launchId, hook: { ...common, ...rest } });
}

/** The next thing that a process does by itself: its SessionStart, then its connections. */
export function speak(world: FleetWorld, name: string): void {
  const process = aliveOf(world, name);
  if (process === undefined) return;
  const { speech, ears } = process.temper;
  if (!process.told && speech !== 'silent') {
    process.told = true;
    const launch = [world.agent(name)].flatMap((agent) => (agent === undefined ? [] : (currentLaunch(agent) ?? [])))[0];
    const source = launch?.mode === 'resume' ? 'resume' : 'startup';
    hook(world, name, { event: 'SessionStart', source });
    return;
  }
  if (!process.connected && ears === 'connects') connectAll(world, process);
}

export function connectAll(world: FleetWorld, process: SimulatedProcess): void {
  process.connected = true;
  for (const server of process.servers) {
    const subject = { name: process.name, server, launchId: process.launchId, session: `digest-${world.now}` };
    const version = process.launchId.length % 4 === 0 ? olderClient : client;
    world.tell({ ...subject, kind: 'mcp initialized', client: version });
    world.tell({ ...subject, kind: 'mcp tools listed' });
    world.tell({ ...subject, kind: 'mcp stream opened' });
  }
}

/** A connection of which not everything arrives. */
export function connect(world: FleetWorld, name: string, choice: Choice): void {
  const process = aliveOf(world, name);
  if (process === undefined || process.temper.ears === 'deaf') return;
  const subject = { name, server: serverOf(process, choice), launchId: process.launchId, session: 'digest' };
  const parts = choice.below(4);
  process.connected = parts === 3;
  world.tell({ ...subject, kind: 'mcp initialized', client: choice.below(3) === 0 ? olderClient : client });
  if (parts > 0) world.tell({ ...subject, kind: 'mcp tools listed' });
  if (parts > 1) world.tell({ ...subject, kind: 'mcp stream opened' });
}

export function endpointOf(
  process: SimulatedProcess,
  choice: Choice,
): {
  readonly name: string;
  readonly server: string;
  readonly launchId: string;
} {
  return { name: process.name, server: serverOf(process, choice), launchId: process.launchId };
}

export function saveContext(world: FleetWorld, name: string): void {
  const process = aliveOf(world, name);
  if (process === undefined) return;
  const context = { at: world.now, sessionId: process.session, launchId: process.launchId, bytes: 9 };
  world.tell({ kind: 'context saved', name, context: { ...context, origin: 'explicit' } });
}
