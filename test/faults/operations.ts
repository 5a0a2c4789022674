import { existsSync, readFileSync } from 'node:fs';
import { currentLaunch } from '../../src/core/fleet/agent.ts';
import { openRestoration } from '../../src/core/fleet/restore.ts';
import type { Expected, FaultFleet, Victim } from './faultFleet.ts';
import type { Fault } from './report.ts';

/** One time that an operation is done. */
export interface Run {
  readonly expected: Expected;
  /** The conversation that an agent must be in at the end; absent: the one that the operation made. */
  readonly conversations: Readonly<Record<string, string | undefined>>;
  /** What the person does. May reject when the answer is lost. */
  readonly act: () => Promise<void>;
  /** Whether the fleet knows of it, as a person sees it who got no answer. */
  readonly isTaken: () => boolean;
  /** Whether it has come to its end; the agents that are to run are ready then, too. */
  readonly isDone: (victim: Victim | undefined) => boolean;
  /** Whether it brings agents back by itself yet. */
  readonly isUnderWay?: () => boolean;
  /** What is wrong in the end, but for what is wrong with any operation. */
  readonly faults: (victim: Victim | undefined, asked: number) => readonly Fault[];
}

/** Something that a person does with the fleet. */
export interface Operation {
  readonly name: string;
  /** `away`: there is no tmux server to be killed before the operation starts one. */
  readonly tmux?: 'away';
  /** Brings the fleet to where it can be done. */
  readonly prepare: (fleet: FaultFleet) => Promise<Run>;
}

/** Is never touched by an operation, and shares the directory with the agents that are. */
const bystander = 'bo';
const subject = 'ada';
let count = 0;

const others = (fleet: FaultFleet, name: string): string[] =>
  Object.keys(fleet.rig.state.agents).filter((other) => other !== name);

async function readyFleet(fleet: FaultFleet): Promise<Run> {
  await fleet.ensureReady(bystander);
  await fleet.ensureReady(subject);
  const names = Object.keys(fleet.rig.state.agents);
  return {
    expected: { running: names, stopped: [] },
    conversations: Object.fromEntries(names.map((name) => [name, fleet.agent(name)?.session?.id])),
    act: () => Promise.resolve(),
    isTaken: () => true,
    isDone: () => true,
    faults: () => [],
  };
}

/** Relaunches that only the operation, and the person after the end of tmux, may have asked for. */
function launchFaults(fleet: FaultFleet, name: string, before: number, wanted: number): Run['faults'] {
  return (victim, asked) => {
    const more = (fleet.agent(name)?.launchCount ?? 0) - before;
    const most = wanted * asked + (victim === 'tmux' ? 1 : 0);
    if (more >= wanted && more <= most) return [];
    return [`${more < wanted ? 'lost' : 'doubled'}: ${name} was launched ${more} times`];
  };
}

const create: Operation = {
  name: 'create and launch',
  prepare: async (fleet) => {
    for (const name of Object.keys(fleet.rig.state.agents).filter((one) => one.startsWith('new'))) {
      await fleet.request({ kind: 'remove', name });
      await fleet.until(`${name} to be gone`, () => fleet.agent(name) === undefined);
    }
    const run = await readyFleet(fleet);
    const name = `new${++count}`;
    return {
      ...run,
      expected: { running: [...run.expected.running, name], stopped: [] },
      act: () => fleet.rig.create(name, 'work'),
      isTaken: () => fleet.agent(name) !== undefined,
      isDone: () => fleet.isReady(name),
      faults: launchFaults(fleet, name, 0, 1),
    };
  },
};

const remove: Operation = {
  name: 'remove',
  prepare: async (fleet) => {
    const name = Object.keys(fleet.rig.state.agents).find((one) => one.startsWith('new')) ?? `new${++count}`;
    await fleet.ensureReady(name);
    const run = await readyFleet(fleet);
    return {
      ...run,
      expected: { running: others(fleet, name), stopped: [] },
      conversations: { ...run.conversations, [name]: undefined },
      act: () => fleet.request({ kind: 'remove', name }),
      isTaken: () => {
        const life = fleet.agent(name)?.life;
        return life === undefined || (life.kind === 'stopping' && life.then === 'remove');
      },
      isDone: () => fleet.agent(name) === undefined,
      faults: () => {
        const { key } = fleet.rig.paths.agent(name);
        return existsSync(key) ? [`other: the key of ${name} is left`] : [];
      },
    };
  },
};

const stop: Operation = {
  name: 'stop',
  prepare: async (fleet) => {
    const run = await readyFleet(fleet);
    return {
      ...run,
      expected: { running: others(fleet, subject), stopped: [subject] },
      act: () => fleet.request({ kind: 'stop', name: subject }),
      isTaken: () => ['stopping', 'stopped'].includes(fleet.agent(subject)?.life.kind ?? ''),
      isDone: () => fleet.agent(subject)?.life.kind === 'stopped',
    };
  },
};

const resume: Operation = {
  name: 'resume',
  prepare: async (fleet) => {
    const run = await readyFleet(fleet);
    await fleet.request({ kind: 'stop', name: subject });
    await fleet.until(`${subject} to be stopped`, () => fleet.agent(subject)?.life.kind === 'stopped');
    const before = fleet.agent(subject)?.launchCount ?? 0;
    return {
      ...run,
      act: () => fleet.request({ kind: 'start', name: subject }),
      isTaken: () => (fleet.agent(subject)?.launchCount ?? 0) > before,
      isDone: () => fleet.isReady(subject),
      faults: launchFaults(fleet, subject, before, 1),
    };
  },
};

const restart: Operation = {
  name: 'restart',
  prepare: async (fleet) => {
    const run = await readyFleet(fleet);
    const before = fleet.agent(subject)?.launchCount ?? 0;
    const isTaken = (): boolean => (fleet.agent(subject)?.launchCount ?? 0) > before;
    return {
      ...run,
      act: () => fleet.request({ kind: 'restart', name: subject, mode: 'resume', guard: 'enforce' }),
      isTaken,
      isDone: () => isTaken() && fleet.isReady(subject),
      faults: launchFaults(fleet, subject, before, 1),
    };
  },
};

const configure: Operation = {
  name: 'configure',
  prepare: async (fleet) => {
    const run = await readyFleet(fleet);
    const mark = String(++count);
    const before = fleet.agent(subject)?.launchCount ?? 0;
    const isTaken = (): boolean => fleet.agent(subject)?.configuration.environment['MARK'] === mark;
    return {
      ...run,
      act: () => fleet.request({ kind: 'configure agent', name: subject, change: { environment: { MARK: mark } } }),
      isTaken,
      isDone: () => isTaken() && (fleet.agent(subject)?.launchCount ?? 0) > before && fleet.isReady(subject),
      faults: (victim, asked): readonly Fault[] => {
        const pid = fleet.living.find(({ agent }) => agent === subject)?.pid ?? 0;
        const isSet = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`MARK=${mark}\0`);
        return [
          ...(isSet ? [] : [`lost: ${subject} runs without what was configured` as const]),
          ...launchFaults(fleet, subject, before, 1)(victim, asked),
        ];
      },
    };
  },
};

const prompt: Operation = {
  name: 'send prompt',
  prepare: async (fleet) => {
    const run = await readyFleet(fleet);
    const id = crypto.randomUUID();
    const text = `say ${id}`;
    const state = (): string => fleet.agent(subject)?.prompts?.find((one) => one.id === id)?.state.kind ?? 'lost';
    return {
      ...run,
      act: () => fleet.request({ kind: 'prompt', name: subject, id, text }),
      isTaken: () => state() !== 'lost',
      isDone: () => ['received', 'unknown', 'failed'].includes(state()),
      faults: () => {
        const taken = fleet.notes.filter((note) => note.what === 'submits' && note.text === text).length;
        const fits = { received: taken === 1, unknown: taken <= 1, failed: taken === 0 }[state()] ?? false;
        return fits
          ? []
          : [`${taken > 1 ? 'doubled' : 'lost'}: a prompt that is ${state()} was submitted ${taken} times`];
      },
    };
  },
};

const reconnect: Operation = {
  name: 'reconnect typing',
  prepare: async (fleet) => {
    const run = await readyFleet(fleet);
    const line = '/mcp reconnect bowline-self';
    const typed = (): number => fleet.notes.filter(({ what, text }) => what === 'submits' && text === line).length;
    const before = typed();
    const incidents = (): number => Object.keys(fleet.agent(subject)?.incidents ?? {}).length;
    return {
      ...run,
      act: () => fleet.request({ kind: 'reconnect', name: subject, server: 'bowline-self' }),
      isTaken: () => incidents() > 0 || typed() > before,
      isDone: (victim) => incidents() === 0 && (victim === 'tmux' || typed() > before),
      faults: (victim, asked): readonly Fault[] => {
        const times = typed() - before;
        return times <= asked && (times > 0 || victim === 'tmux')
          ? []
          : [`${times > asked ? 'doubled' : 'lost'}: the line was typed ${times} times`];
      },
    };
  },
};

const clear: Operation = {
  name: 'conversation change by /clear',
  prepare: async (fleet) => {
    const run = await readyFleet(fleet);
    const before = run.conversations[subject];
    return {
      ...run,
      conversations: { ...run.conversations, [subject]: undefined },
      act: () => fleet.rig.prompt(subject, '/clear'),
      isDone: (victim) => victim === 'tmux' || fleet.agent(subject)?.session?.id !== before,
      faults: (victim) => {
        const isKept = fleet.agent(subject)?.lineage.some(({ id }) => id === before) === true;
        return isKept || victim === 'tmux' ? [] : ['lost: the conversation before /clear is not on record' as const];
      },
    };
  },
};

const fork: Operation = {
  name: 'fork before the bad turn',
  prepare: async (fleet) => {
    const run = await readyFleet(fleet);
    for (const text of ['words to keep', 'words before', 'POISON one', 'POISON two']) await fleet.prompt(subject, text);
    await fleet.until(`${subject} to be quarantined`, () => fleet.agent(subject)?.session?.quarantine !== undefined);
    const { session: before, launchCount = 0 } = fleet.agent(subject) ?? {};
    const original = readFileSync(before?.transcriptPath ?? '', 'utf8');
    return {
      ...run,
      conversations: { ...run.conversations, [subject]: undefined },
      act: () => fleet.request({ kind: 'fork', name: subject }),
      isTaken: () => (fleet.agent(subject)?.launchCount ?? 0) > launchCount,
      isDone: () => fleet.agent(subject)?.session?.id !== before?.id,
      faults: (victim, asked): readonly Fault[] => {
        const copy = readFileSync(fleet.agent(subject)?.session?.transcriptPath ?? '', 'utf8');
        return [
          ...(copy.includes('words to keep') && !copy.includes('POISON')
            ? []
            : ['lost: the copy does not hold what it must' as const]),
          ...(readFileSync(before?.transcriptPath ?? '', 'utf8') === original
            ? []
            : ['lost: the original was changed' as const]),
          ...launchFaults(fleet, subject, launchCount, 1)(victim, asked),
        ];
      },
    };
  },
};

const restore: Operation = {
  name: 'restore all',
  tmux: 'away',
  prepare: async (fleet) => {
    const run = await readyFleet(fleet);
    await fleet.killTmux();
    const former = fleet.rig.state.restoration?.id;
    const launches = run.expected.running.map((name) => [name, fleet.agent(name)?.launchCount ?? 0] as const);
    const isUnderWay = (): boolean => openRestoration(fleet.rig.state) !== undefined;
    const isTaken = (): boolean =>
      fleet.rig.state.restoration !== undefined && fleet.rig.state.restoration.id !== former;
    return {
      ...run,
      act: () => fleet.request({ kind: 'restore all' }),
      isTaken,
      isUnderWay,
      isDone: () => isTaken() && !isUnderWay(),
      faults: (victim, asked): readonly Fault[] => {
        return launches.flatMap(([name, before]) => launchFaults(fleet, name, before, 1)(victim, asked));
      },
    };
  },
};

const fresh: Operation = {
  name: 'force fresh restart',
  prepare: async (fleet) => {
    const run = await readyFleet(fleet);
    const { session, launchCount = 0 } = fleet.agent(subject) ?? {};
    const isTaken = (): boolean => (fleet.agent(subject)?.launchCount ?? 0) > launchCount;
    return {
      ...run,
      conversations: { ...run.conversations, [subject]: undefined },
      act: () => fleet.request({ kind: 'restart', name: subject, mode: 'fresh', guard: 'bypass', reason: 'asked' }),
      isTaken,
      isDone: () => isTaken() && fleet.agent(subject)?.session?.id !== session?.id,
      faults: (victim, asked): readonly Fault[] => {
        const former = fleet.agent(subject)?.lineage.findLast(({ id }) => id === session?.id);
        return [
          ...(former?.givenUp?.why === 'fresh restart'
            ? []
            : ['lost: the former conversation is not kept as given up' as const]),
          ...launchFaults(fleet, subject, launchCount, 1)(victim, asked),
        ];
      },
    };
  },
};

/** In groups that are done in turn on one fleet: the end of one is the beginning of the next. */
export const operationGroups: readonly (readonly Operation[])[] = [
  [restore],
  [create, remove],
  [stop, resume],
  [restart, configure],
  [prompt, reconnect],
  [fork, clear, fresh],
];

/** The conversation of a launch that was asked for stands in it before a hook has told it. */
export function conversationFaults(fleet: FaultFleet, { conversations }: Run): readonly Fault[] {
  return Object.entries(conversations).flatMap(([name, id]): readonly Fault[] => {
    const found = fleet.agent(name)?.session?.id;
    return id === undefined || found === id
      ? []
      : [`conversation: ${name} is back in ${String(found)} instead of ${id}`];
  });
}

/** Agents that are to run and do not, with nothing under way that would start them. */
export function fallen(fleet: FaultFleet, { expected }: Run): readonly string[] {
  return expected.running.filter((name) => {
    const agent = fleet.agent(name);
    return agent !== undefined && currentLaunch(agent) === undefined;
  });
}
