import { type Reduction, without } from './agentUpdate.ts';
import type { FleetEvent } from './events.ts';
import { afterReading, cleared } from './poison.ts';
import { promptFound } from './reducePrompts.ts';
import { type Agent, currentLaunch, type SessionRecord } from './agent.ts';
import { searchFor } from './findConversation.ts';
import type { RunningLaunch } from './life.ts';

type AlarmEvent = Extract<
  FleetEvent,
  {
    kind:
      | 'conversation released'
      | 'conversation found'
      | 'hooks checked'
      | 'transcript seen'
      | 'conversation shared'
      | 'launch doubled'
      | 'program changed';
  }
>;

/** Folds what endangers a conversation, and what a person decided about it. */
export function reduceAlarms(agent: Agent, event: AlarmEvent): Reduction {
  switch (event.kind) {
    case 'conversation released': {
      const { session } = agent;
      if (session?.id !== event.sessionId || session.quarantine === undefined) return { agent };
      return {
        agent: { ...agent, session: cleared(session, event.at) },
        timeline: [{ at: event.at, text: `goes on in its poisoned conversation, as ${event.by} chose` }],
      };
    }
    case 'conversation found':
      return found(agent, event);
    case 'hooks checked': {
      const { at: checkedAt, silentSince } = event;
      const hooks = { checkedAt, ...(silentSince !== undefined && { silentSince }) };
      return reduceRunning(agent, event.launchId, (running) => ({ ...running, hooks }));
    }
    case 'transcript seen': {
      const { session } = agent;
      if (session?.id !== event.sessionId) return { agent };
      const { at, promptId } = event;
      const read = afterReading(afterLooking(session, event), event.errors ?? []);
      const next = promptId === undefined || read.prompted ? read : { ...read, prompted: true };
      const known = next === session ? agent : { ...agent, session: next };
      return promptId === undefined ? { agent: known } : promptFound(known, promptId, at);
    }
    case 'conversation shared':
      return reduceRunning(agent, event.launchId, (running) => {
        if (running.shared?.pid === event.pid) return running;
        const rest = without(running, 'shared');
        return event.pid === undefined ? rest : { ...rest, shared: { at: event.at, pid: event.pid } };
      });
    case 'launch doubled':
      return reduceRunning(agent, event.launchId, (running) => {
        const { at, process } = event;
        if (running.doubled?.pid === process?.pid && running.doubled?.startTime === process?.startTime) return running;
        const rest = without(running, 'doubled');
        return process === undefined ? rest : { ...rest, doubled: { at, ...process } };
      });
    case 'program changed':
      return reduceRunning(agent, event.launchId, (running) => {
        return running.program === event.what ? running : { ...running, program: event.what };
      });
  }
}

/** It was lost from the record; what is on record by now is newer. */
function found(agent: Agent, event: Extract<AlarmEvent, { kind: 'conversation found' }>): Reduction {
  const { at, sessionId: id, transcriptPath } = event;
  const search = searchFor(agent);
  if (search.kind === 'nothing' || (search.kind === 'one' && search.sessionId !== id)) return { agent };
  const launchId = currentLaunch(agent)?.id ?? agent.launches.at(-1)?.launch.id ?? '';
  const known: SessionRecord = agent.session ?? {
    ...{ id, launchId, cause: 'found', since: at, reportedAt: at, prompted: true, turnsCompleted: 0 },
  };
  return {
    agent: { ...agent, session: { ...without(known, 'unsaved'), transcriptPath, prompted: true } },
    timeline: [{ at, text: `session ${id.slice(0, 8)} (found among the transcripts)` }],
  };
}

function afterLooking(
  session: SessionRecord,
  { at, file }: Extract<AlarmEvent, { kind: 'transcript seen' }>,
): SessionRecord {
  if (session.unsaved === undefined) return session;
  return file === 'there'
    ? without(session, 'unsaved')
    : { ...session, unsaved: { ...session.unsaved, missingAt: at } };
}

function reduceRunning(agent: Agent, launchId: string, change: (running: RunningLaunch) => RunningLaunch): Reduction {
  const { life } = agent;
  if (life.kind !== 'running' || life.running.launch.id !== launchId) return { agent };
  const running = change(life.running);
  return { agent: running === life.running ? agent : { ...agent, life: { ...life, running } } };
}
