import type { HookFact } from '../claude/facts.ts';
import { type Reduction, without } from './agentUpdate.ts';
import type { FleetEvent, ProcessExit } from './events.ts';
import { afterLaunch, relaunchFailed } from './reduceConfiguration.ts';
import { withoutEnds } from './reduceHealing.ts';
import { belongs, reduceHook, strayed } from './reduceHook.ts';
import { afterRequest, withCarriedContext, withKeptConversation } from './conversationChoice.ts';
import { withNextStep } from './nextSteps.ts';
import { poisonSentence } from './poison.ts';
import { type Agent, currentLaunch } from './agent.ts';
import type { EndedLaunch, EndReason, Launch, Life } from './life.ts';

type LifeEvent = Extract<
  FleetEvent,
  {
    kind:
      | 'launch requested'
      | 'stop requested'
      | 'launched'
      | 'launch failed'
      | 'launch waits'
      | 'process ended'
      | 'sleep put off'
      | 'screen read'
      | 'activity observed'
      | 'hook reported'
      | 'launch verified'
      | 'launch unverified'
      | 'resume failed';
  }
>;

const launchesKept = 20;
const hookReportsKept = 64;

/** Folds one step of an agent's life. Reports of another launch than the current one change nothing. */
export function reduceLife(agent: Agent, event: LifeEvent): Reduction {
  switch (event.kind) {
    case 'launch requested':
      return launchRequested(agent, event.launch);
    case 'stop requested':
      return stopRequested(agent, event);
    case 'launched':
      return launched(agent, event);
    case 'launch failed':
      return launchFailed(agent, event);
    case 'launch waits':
      return launchWaits(agent, event);
    case 'process ended':
      return processEnded(agent, event);
    case 'sleep put off':
      return sleepPutOff(agent, event);
    case 'screen read':
      return screenRead(agent, event);
    case 'activity observed':
      if (currentLaunch(agent)?.id !== event.launchId || event.at <= agent.activity.since) return { agent };
      if (agent.activity.kind === event.activity) return { agent };
      return {
        agent: {
          ...agent,
          activity: { ...agent.activity, kind: event.activity, since: event.at, source: 'live-session file' },
        },
      };
    case 'hook reported':
      return hookReportedOnce(agent, event);
    case 'launch verified':
    case 'launch unverified':
      return judged(agent, event);
    case 'resume failed':
      return resumeFailed(agent, event);
  }
}

function launchRequested(agent: Agent, launch: Launch): Reduction {
  const { life } = agent;
  if (life.kind === 'stopping') return { agent };
  if (launch.mode === 'resume' && launch.expectedSessionId === agent.session?.id) {
    const poison = poisonSentence(agent);
    if (poison !== undefined) return refusedAsPoisoned(agent, launch.requestedAt, poison);
  }
  const next = {
    ...without(afterRequest(agent, launch), 'adoption'),
    launchCount: agent.launchCount + 1,
    ...(launch.cause !== 'healing' && { incidents: withoutEnds(agent.incidents) }),
  };
  if (life.kind === 'running') {
    return { agent: withLife(next, { kind: 'launching', launch, ending: life.running }) };
  }
  if (life.kind === 'launching') {
    const voided = ended(next, life.launch, launch.requestedAt, 'replaced', 'called off before it started');
    const ending = life.ending === undefined ? {} : { ending: life.ending };
    return { agent: withLife(voided, { kind: 'launching', launch, ...ending }) };
  }
  return { agent: withLife(next, { kind: 'launching', launch }) };
}

function stopRequested(agent: Agent, event: Extract<LifeEvent, { kind: 'stop requested' }>): Reduction {
  const { life } = agent;
  const { at, reason, then } = event;
  if (reason === 'idle') {
    if (life.kind !== 'running') return { agent };
    const { running } = life;
    return { agent: withLife(agent, { kind: 'stopping', launch: running.launch, running, reason, then }) };
  }
  if (life.kind === 'sleeping' && then === 'keep') return { agent: withLife(agent, { kind: 'stopped', at }) };
  // Of an agent that ended by itself the last launch's pane is still there, and goes with the agent.
  const last = then === 'remove' ? agent.launches.at(-1)?.launch : undefined;
  const launch = currentLaunch(agent) ?? last;
  if (launch === undefined) return { agent };
  const ending = life.kind === 'launching' || life.kind === 'stopping' ? life.ending : undefined;
  const calledOff = life.kind === 'launching' ? withKeptConversation(agent, life.launch) : agent;
  return {
    agent: withLife(calledOff, { kind: 'stopping', launch, ...(ending !== undefined && { ending }), reason, then }),
  };
}

function sleepPutOff(agent: Agent, event: Extract<LifeEvent, { kind: 'sleep put off' }>): Reduction {
  const { life } = agent;
  if (life.kind !== 'stopping' || life.reason !== 'idle' || life.launch.id !== event.launchId) return { agent };
  if (life.running === undefined) return { agent };
  const { at, detail } = event;
  return {
    agent: withLife(agent, { kind: 'running', running: { ...life.running, awake: { at, detail } } }),
    timeline: [{ at, text: `not put to sleep: ${detail}` }],
  };
}

/** A process that runs goes on: what it is blocked by is shown. */
function refusedAsPoisoned(agent: Agent, at: number, detail: string): Reduction {
  if (currentLaunch(agent) !== undefined || agent.life.kind === 'blocked') return { agent };
  return { agent: withLife(agent, { kind: 'blocked', at, reason: 'conversation poisoned', detail }) };
}

function launched(agent: Agent, event: Extract<LifeEvent, { kind: 'launched' }>): Reduction {
  const { life } = agent;
  if (life.kind !== 'launching' || life.launch.id !== event.launchId) return { agent };
  const next =
    life.ending === undefined
      ? agent
      : ended(agent, life.ending.launch, event.at, 'replaced', 'replaced by a new launch');
  const confirmed = life.confirmedAt === undefined ? {} : { confirmedAt: life.confirmedAt };
  const strayed = life.otherStart === undefined ? {} : { otherStart: life.otherStart };
  // Since the request: who tells of the start may do so late, and its hooks may have happened before that.
  const since = Math.max(life.launch.requestedAt, agent.activity.since);
  const activity =
    life.confirmedAt === undefined ? { ...agent.activity, kind: 'unknown' as const, since } : agent.activity;
  return {
    agent: {
      ...withLife(afterLaunch(next, life.launch), {
        kind: 'running',
        running: { launch: life.launch, process: event.process, startedAt: event.at, ...confirmed, ...strayed },
      }),
      activity,
    },
    timeline: [{ at: event.at, text: `process started (${life.launch.mode})` }],
  };
}

/** A launch that could not start leaves the former process, if it still lives, as it was. */
function launchFailed(agent: Agent, event: Extract<LifeEvent, { kind: 'launch failed' }>): Reduction {
  const { life } = agent;
  if (life.kind !== 'launching' || life.launch.id !== event.launchId) return { agent };
  const refused = event.code === 'guard-blocked' ? ({ refused: 'guard' } as const) : {};
  const next = ended(agent, life.launch, event.at, 'crashed', event.sentence, refused);
  const timeline = [{ at: event.at, text: `launch failed: ${event.sentence}` }];
  if (life.ending !== undefined) {
    return {
      agent: withLife(relaunchFailed(withKeptConversation(next, life.launch), life.launch), {
        kind: 'running',
        running: life.ending,
      }),
      timeline,
    };
  }
  const outcome: Life =
    event.code === 'claude-missing'
      ? { kind: 'dead', at: event.at, reason: 'binary missing', detail: event.sentence }
      : {
          kind: 'blocked',
          at: event.at,
          reason: event.code === 'conversation-in-use' ? 'conversation in use' : 'launch refused',
          detail: event.sentence,
        };
  return { agent: withoutProcess(next, outcome), timeline };
}

function launchWaits(agent: Agent, event: Extract<LifeEvent, { kind: 'launch waits' }>): Reduction {
  const { life } = agent;
  if (life.kind !== 'launching' || life.launch.id !== event.launchId || life.waits === event.sentence) return { agent };
  return {
    agent: withLife(agent, { ...life, waits: event.sentence }),
    timeline: [{ at: event.at, text: `launch waits: ${event.sentence}` }],
  };
}

function processEnded(agent: Agent, event: Extract<LifeEvent, { kind: 'process ended' }>): Reduction {
  const { life } = agent;
  const timeline = [{ at: event.at, text: event.exit.detail }];
  const { ending } = 'ending' in life ? life : {};
  if (ending?.launch.id === event.launchId) {
    const reason = life.kind === 'stopping' ? life.reason : 'replaced';
    return { agent: ended(withoutEnding(agent), ending.launch, event.at, reason, event.exit.detail) };
  }
  if (currentLaunch(agent)?.id !== event.launchId) return { agent };
  if (life.kind === 'stopping') {
    if (life.then === 'remove') return { agent: 'removed' };
    // The hands report this end when nothing of the agent is left: the former launch has ended with it.
    const former =
      life.ending === undefined
        ? agent
        : ended(agent, life.ending.launch, event.at, life.reason, 'stopped during its restart');
    const next = ended(former, life.launch, event.at, life.reason, event.exit.detail);
    const kind = life.reason === 'idle' ? 'sleeping' : 'stopped';
    const after: Life =
      life.failed === undefined
        ? { kind, at: event.at }
        : { kind: 'blocked', at: event.at, reason: 'resume failed', detail: life.failed };
    return { agent: withoutProcess(next, after), timeline };
  }
  if (life.kind !== 'running') return { agent };
  const { launch } = life.running;
  const { reason, after } = readEnd(launch, event.exit, event.at);
  return { agent: withoutProcess(ended(agent, launch, event.at, reason, event.exit.detail), after), timeline };
}

/** What an end that nobody asked for means. The process's own last words come before its status. */
function readEnd(launch: Launch, exit: ProcessExit, at: number): { readonly reason: EndReason; readonly after: Life } {
  const blocked = (reason: 'resume failed' | 'login needed' | 'configuration error'): Life => {
    return { kind: 'blocked', at, reason, detail: withNextStep(exit.detail, reason) };
  };
  const dead = (reason: 'crashed' | 'binary missing'): Life => {
    return { kind: 'dead', at, reason, detail: withNextStep(exit.detail, reason) };
  };
  if (exit.how === 'host gone') return { reason: 'host gone', after: { kind: 'stopped', at, detail: exit.detail } };
  switch (exit.reading) {
    case 'conversation not found':
      return { reason: 'crashed', after: launch.mode === 'resume' ? blocked('resume failed') : dead('crashed') };
    case 'login needed':
      return { reason: 'crashed', after: blocked('login needed') };
    case 'configuration error':
      return { reason: 'crashed', after: blocked('configuration error') };
    case 'binary missing':
      return { reason: 'crashed', after: dead('binary missing') };
    case 'other':
      break;
  }
  if (exit.how === 'exited' && exit.status === 0 && exit.signal === undefined) {
    return { reason: 'released', after: { kind: 'stopped', at, detail: exit.detail } };
  }
  return { reason: exit.status === undefined ? 'killed' : 'crashed', after: dead('crashed') };
}

function screenRead(agent: Agent, event: Extract<LifeEvent, { kind: 'screen read' }>): Reduction {
  const { life } = agent;
  if (life.kind !== 'running' || life.running.launch.id !== event.launchId) return { agent };
  if (life.running.dialog === event.dialog) return { agent };
  const rest = without(life.running, 'dialog');
  const running = event.dialog === undefined ? rest : { ...rest, dialog: event.dialog };
  return {
    agent: withLife(agent, { kind: 'running', running }),
    timeline: [{ at: event.at, text: event.dialog === undefined ? 'dialog gone' : `dialog: ${event.dialog}` }],
  };
}

/** A report that was posted to a slow gateway and spooled comes twice: as far apart as a gateway can hang. */
function hookReportedOnce(agent: Agent, event: Extract<LifeEvent, { kind: 'hook reported' }>): Reduction {
  const { launchId, hook, at, reportId } = event;
  const seen = agent.hookReports ?? [];
  if (reportId !== undefined && seen.includes(reportId)) return { agent };
  const reduction = hookReported(agent, launchId, hook, at);
  const next = reduction.agent;
  if (reportId === undefined || next === agent || next === 'removed') return reduction;
  return { ...reduction, agent: { ...next, hookReports: [...seen, reportId].slice(-hookReportsKept) } };
}

function hookReported(agent: Agent, launchId: string, hook: HookFact, at: number): Reduction {
  const launch = currentLaunch(agent);
  if (launch?.id !== launchId) return { agent };
  if (!belongs(agent, launch, hook)) return { agent: strayed(agent, launch, hook, at) };
  const told = reduceHook(agent, launch, hook, at);
  const isStart = hook.event === 'SessionStart';
  const next = isStart ? confirmed(told, at) : told;
  const isRotation = next.session?.id !== agent.session?.id;
  const text = `session ${hook.sessionId.slice(0, 8)} (${hook.source ?? (isStart ? 'start' : 'rotated')})`;
  const timeline = next !== agent && (isStart || isRotation) ? [{ at, text }] : [];
  const { earlyHooks: early = [] } = next;
  if (early.length === 0) return { agent: next, timeline };
  return early
    .toSorted((one, other) => one.at - other.at)
    .reduce<{ agent: Agent; timeline: readonly { at: number; text: string }[] }>(
      (folded, one) => {
        const { agent: after, timeline: more = [] } = hookReported(folded.agent, one.launchId, one.hook, one.at);
        return after === 'removed' ? folded : { agent: after, timeline: [...folded.timeline, ...more] };
      },
      { agent: without(next, 'earlyHooks'), timeline },
    );
}

/** The launch is confirmed by the first SessionStart that fits it, also where that one is told late. */
function confirmed(agent: Agent, at: number): Agent {
  const { life } = agent;
  const isFirst = (known: { readonly confirmedAt?: number }): boolean => at < (known.confirmedAt ?? Infinity);
  if (life.kind === 'running' && isFirst(life.running)) {
    const running = { ...without(life.running, 'otherStart'), confirmedAt: at };
    return withLife(agent, { kind: 'running', running });
  }
  if (life.kind !== 'launching' || !isFirst(life)) return agent;
  return withLife(agent, { ...without(life, 'otherStart'), confirmedAt: at });
}

/** Nothing of such a launch is kept: its process is ended first. */
function resumeFailed(agent: Agent, event: Extract<LifeEvent, { kind: 'resume failed' }>): Reduction {
  const { life } = agent;
  if (life.kind !== 'running' || life.running.launch.id !== event.launchId) return { agent };
  const { launch } = life.running;
  const failed = event.detail;
  return {
    agent: withLife(agent, { kind: 'stopping', launch, reason: 'killed', then: 'keep', failed }),
    timeline: [{ at: event.at, text: `resume failed: ${failed}` }],
  };
}

/** Proven, or silent beyond its time: what a launch is taken for once it runs. */
function judged(agent: Agent, event: Extract<LifeEvent, { kind: 'launch verified' | 'launch unverified' }>): Reduction {
  const { life } = agent;
  if (life.kind !== 'running' || life.running.launch.id !== event.launchId) return { agent };
  const { verifiedAt, unverified } = life.running;
  if (verifiedAt !== undefined) return { agent };
  if (event.kind === 'launch verified') {
    const running = { ...without(life.running, 'unverified'), verifiedAt: event.at };
    return {
      agent: withLife(withCarriedContext(agent, running.launch), { kind: 'running', running }),
      timeline: [{ at: event.at, text: 'launch verified' }],
    };
  }
  if (unverified?.detail === event.detail) return { agent };
  const running = { ...life.running, unverified: { at: event.at, detail: event.detail } };
  return { agent: withLife(agent, { kind: 'running', running }), timeline: [{ at: event.at, text: event.detail }] };
}

/** The former launch is gone, whatever the agent is about to do. */
function withoutEnding(agent: Agent): Agent {
  const { life } = agent;
  if (life.kind === 'launching') return withLife(agent, without(life, 'ending'));
  return life.kind === 'stopping' ? withLife(agent, without(life, 'ending')) : agent;
}

function withLife(agent: Agent, life: Life): Agent {
  return { ...agent, life };
}

/** What is gone does nothing. */
function withoutProcess(agent: Agent, life: Life): Agent {
  return { ...without(agent, 'relaunch'), life, activity: { ...agent.activity, kind: 'unknown' } };
}

function ended(
  agent: Agent,
  launch: Launch,
  endedAt: number,
  reason: EndReason,
  detail: string,
  more: Pick<EndedLaunch, 'refused'> = {},
): Agent {
  const record: EndedLaunch = { launch, endedAt, reason, detail, ...more };
  return { ...agent, launches: [...agent.launches, record].slice(-launchesKept) };
}
