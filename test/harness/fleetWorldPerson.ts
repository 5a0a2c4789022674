import { type Agent, currentLaunch, enabledServers, runningLaunch } from '../../src/core/fleet/agent.ts';
import type { AgentConfiguration, HealingPolicy } from '../../src/core/fleet/configuration.ts';
import { freshLaunch, nextLaunch, resumeOf, resumeOrFresh } from '../../src/core/fleet/launching.ts';
import type { Launch } from '../../src/core/fleet/life.ts';
import { takesPromptsAsleep } from '../../src/core/fleet/planPrompts.ts';
import { isSettled } from '../../src/core/fleet/reducePrompts.ts';
import { lostAgents, openRestoration, restoreVerdict } from '../../src/core/fleet/restore.ts';
import { saveTool } from '../../src/core/guard/saveTool.ts';
import { judgeRestart } from '../../src/core/guard/verdict.ts';
import type { FleetWorld } from './fleetWorld.ts';
import { type Choice, names, serversOf } from './fleetWorldProcesses.ts';
import { isUnderWay } from './fleetWorldRules.ts';

/** What a person does, as far as the gateway lets it through. */
export const personSteps: readonly ((world: FleetWorld, choice: Choice) => void)[] = [
  (world, choice) => {
    create(world, choice.of(names));
  },
  onAgent((world, agent) => {
    const { kind } = agent.life;
    if (kind === 'sleeping') launch(world, agent, { ...resumeOrFresh(agent, world.now), cause: 'wake' });
    if (kind === 'stopped' || kind === 'blocked' || kind === 'dead') start(world, agent.name);
  }),
  onAgent((world, agent, choice) => {
    if (choice.below(3) > 0) stop(world, agent);
    else for (const one of Object.values(world.state.agents)) stop(world, one);
  }),
  onAgent((world, agent, choice) => {
    if (choice.below(3) > 0) return;
    const { name } = agent;
    if (currentLaunch(agent) === undefined && agent.launches.length === 0) world.tell({ kind: 'agent removed', name });
    else world.tell({ kind: 'stop requested', name, reason: 'released', then: 'remove' });
  }),
  onAgent(restart),
  onAgent(fork),
  onAgent((world, agent, choice) => {
    if (currentLaunch(agent) !== undefined) return;
    const other = choice.of([agent.lineage.at(-1)?.id, agent.session?.id, `session-of-a-person-${world.now}`]);
    const isQuarantined = other === agent.session?.id && agent.session?.quarantine !== undefined;
    const isUsed = Object.values(world.state.agents).some(({ session }) => session?.id === other);
    if (other === undefined || isQuarantined || (isUsed && other !== agent.session?.id)) return;
    launch(world, agent, { ...resumeOf(agent, other, world.now), cause: 'person' });
  }),
  onAgent((world, agent) => {
    const { name, session } = agent;
    if (session?.quarantine === undefined) return;
    world.tell({ kind: 'conversation released', name, sessionId: session.id, by: 'window' });
    const after = world.agent(name);
    if (after !== undefined && currentLaunch(after) === undefined) start(world, name);
  }),
  onAgent((world, agent) => {
    if (runningLaunch(agent) === undefined) return;
    const server = enabledServers(agent)[0] ?? '';
    const incident = agent.incidents[server];
    if (incident !== undefined && isUnderWay(incident)) return;
    const attemptId = `${agent.name}-by-person-${world.now}`;
    world.tell({ kind: 'rung started', name: agent.name, server, attemptId, rung: 'reconnect', by: 'person' });
  }),
  onAgent((world, { name, incidents }) => {
    for (const server of Object.keys(incidents)) world.tell({ kind: 'incident reopened', name, server });
  }),
  onAgent((world, { name, incidents }) => {
    const detail = 'Healing was called off. Heal Now begins it again.';
    for (const [server, incident] of Object.entries(incidents)) {
      const last = incident.attempts.at(-1);
      if (last?.rung === 'reconnect' && isUnderWay(incident) && last.actedAt === undefined) {
        const attemptId = last.id;
        world.tell({ kind: 'rung ended', name, server, attemptId, outcome: 'failed', detail: 'called off' });
      }
      world.tell({ kind: 'incident ended', name, server, end: { kind: 'asked', reason: 'called off', detail } });
    }
  }),
  changeSettings,
  (world) => {
    const lost = lostAgents(world.state).filter((agent) => restoreVerdict(agent).kind !== 'blocked');
    const id = openRestoration(world.state)?.id ?? `restore-${world.now}`;
    world.tell({ kind: 'restore requested', id, by: 'window', agents: lost.map(({ name }) => name) });
  },
  (world) => {
    const open = openRestoration(world.state);
    if (open !== undefined) world.tell({ kind: 'restore ended', id: open.id, outcome: 'called off' });
  },
  onAgent((world, { name, configuration }, choice) => {
    world.tell({ kind: 'agent configured', name, configuration: changed(configuration, choice) });
  }),
  onAgent((world, agent, choice) => {
    const isTaken = takesPromptsAsleep(agent) || agent.life.kind === 'running' || agent.life.kind === 'launching';
    if (!isTaken) return;
    const { name, saveRestart } = agent;
    const id = `prompt-${world.now}`;
    const prompt = { id, requestedAt: world.now, by: 'window', digest: `digest-${id}`, characters: 4 };
    world.tell({ kind: 'prompt requested', name, prompt });
    if (choice.below(3) > 0 || (saveRestart !== undefined && saveRestart.ended === undefined)) return;
    world.tell({
      kind: 'save restart requested',
      name,
      request: { promptId: id, mode: choice.of(['fresh', 'resume']) },
    });
  }),
  onAgent((world, { name, prompts, saveRestart }) => {
    const prompt = prompts?.findLast((one) => !isSettled(one));
    if (prompt === undefined) return;
    const { id: promptId } = prompt;
    if (saveRestart?.promptId === promptId) {
      const detail = 'called off';
      world.tell({ kind: 'save restart ended', name, promptId, outcome: 'not restarted', detail });
    }
    world.tell({ kind: 'prompt ended', name, promptId, outcome: 'failed', detail: 'called off' });
  }),
  onAgent((world, agent) => {
    const { name, activity } = agent;
    const running = runningLaunch(agent);
    if (running === undefined || activity.kind !== 'busy') return;
    if (running.interrupt !== undefined && running.interrupt.ended === undefined) return;
    const request = { id: `interrupt-${world.now}`, turnSince: activity.since, by: 'window' };
    world.tell({ kind: 'interrupt requested', name, launchId: running.launch.id, request });
  }),
];

function onAgent(
  step: (world: FleetWorld, agent: Agent, choice: Choice) => void,
): (world: FleetWorld, choice: Choice) => void {
  return (world, choice) => {
    const agent = world.agent(choice.of(names));
    if (agent !== undefined) step(world, agent, choice);
  };
}

export function create(world: FleetWorld, name: string): void {
  if (world.agent(name) !== undefined) return;
  const configuration = { directory: '/work', extraArguments: [], environment: {}, servers: serversOf(name) };
  world.tell({ kind: 'agent created', name, configuration });
  start(world, name);
}

function start(world: FleetWorld, name: string): void {
  const agent = world.agent(name);
  if (agent !== undefined) launch(world, agent, { ...resumeOrFresh(agent, world.now), cause: 'person' });
}

function launch(world: FleetWorld, { name }: Agent, asked: Launch): void {
  world.tell({ kind: 'launch requested', name, launch: asked });
}

function stop(world: FleetWorld, agent: Agent): void {
  if (currentLaunch(agent) === undefined && agent.life.kind !== 'sleeping') return;
  const then = agent.life.kind === 'stopping' ? agent.life.then : 'keep';
  world.tell({ kind: 'stop requested', name: agent.name, reason: 'shutdown', then });
}

function restart(world: FleetWorld, agent: Agent, choice: Choice): void {
  if (agent.life.kind === 'stopping') return;
  const how = choice.of(['resume', 'fresh', 'bypass']);
  const mode = how === 'resume' ? 'resume' : 'fresh';
  const [self] = world.healths(agent);
  const verdict = judgeRestart(agent, mode, saveTool(self?.state), world.now);
  if (!verdict.allowed && how !== 'bypass') return;
  const asked: Launch = {
    ...nextLaunch(agent, mode, world.now),
    cause: 'person',
    ...(how === 'bypass' && { guard: 'bypassed' }),
  };
  if (mode === 'fresh') world.allowFresh(asked);
  launch(world, agent, asked);
}

/** Before the bad turn, in a copy. */
function fork(world: FleetWorld, agent: Agent): void {
  const { session, life } = agent;
  if (session?.prompted !== true || life.kind === 'stopping') return;
  if (!judgeRestart(agent, 'resume', 'reachable', world.now).allowed) return;
  const { id } = freshLaunch(agent, world.now);
  const copy = { expectedSessionId: `session-copy-${world.now}`, forkOf: session.id };
  launch(world, agent, { id, mode: 'resume', ...copy, requestedAt: world.now, cause: 'person' });
}

const policies: readonly [HealingPolicy, ...HealingPolicy[]] = [
  'auto',
  'auto',
  'auto to resume',
  'auto to reconnect',
  'ask',
  'off',
];

function changeSettings(world: FleetWorld, choice: Choice): void {
  const { settings } = world.state;
  const change = choice.of([
    { healing: choice.of(policies) },
    { healing: choice.of(policies) },
    { failedResume: choice.of(['ask', 'fresh']) },
    { idleMinutes: choice.of([0, 1, 3]) },
    { environment: { COLOR: choice.of(['red', 'blue']) } },
  ]);
  world.tell({ kind: 'settings changed', settings: { ...settings, ...change } });
}

function changed(configuration: AgentConfiguration, choice: Choice): AgentConfiguration {
  return {
    ...configuration,
    ...choice.of<Partial<AgentConfiguration>>([
      { model: choice.of(['opus', 'sonnet']) },
      { environment: { COLOR: choice.of(['red', 'green']) } },
      { healing: choice.of(policies) },
      { failedResume: choice.of(['fresh', 'ask']) },
      { idleMinutes: choice.of([1, 0, 3]) },
      { servers: { ...configuration.servers, 'bowline-memory': choice.of(['on', 'off']) } },
    ]),
  };
}
