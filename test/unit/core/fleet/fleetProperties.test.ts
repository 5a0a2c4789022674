import { deepStrictEqual, match } from 'node:assert/strict';
import fc from 'fast-check';
import { without } from '../../../../src/core/fleet/agentUpdate.ts';
import type { FleetSettings } from '../../../../src/core/fleet/configuration.ts';
import type { FleetState } from '../../../../src/core/fleet/state.ts';
import type { Life } from '../../../../src/core/fleet/life.ts';
import { fleetStateSchema } from '../../../../src/protocol/fleetState.ts';
import { type Brain, type Temper, theBrain } from '../../../harness/fleetWorld.ts';
import { tempers } from '../../../harness/fleetWorldProcesses.ts';
import { calmDown, type Opening, openingOf, stopAll } from '../../../harness/fleetWorldRun.ts';
import { stepsBelow, takeStep } from '../../../harness/fleetWorldSteps.ts';

interface Story {
  readonly opening: Opening;
  readonly settings: Partial<FleetSettings>;
  readonly temper: Temper;
  readonly steps: readonly number[];
}

const story: fc.Arbitrary<Story> = fc.record({
  opening: fc.constantFrom('starting', 'working', 'working'),
  settings: fc.constantFrom<Partial<FleetSettings>>(
    {},
    { failedResume: 'fresh' },
    { idleMinutes: 1 },
    { failedResume: 'fresh', idleMinutes: 2, healing: 'auto to resume' },
  ),
  temper: fc.constantFrom(...tempers),
  steps: fc.noBias(fc.array(fc.nat(stepsBelow), { minLength: 8, maxLength: 26, size: 'max' })),
});

/** Plays a story: a random part, a calm part, the end. Throws at the first rule that is broken, with all that happened. */
function player(brain: Brain): (story: Story) => void {
  const openings = { starting: openingOf(brain, 'starting'), working: openingOf(brain, 'working') };
  return ({ opening, settings, temper, steps }) => {
    const world = openings[opening].copy();
    world.tell({ kind: 'settings changed', settings: { ...world.state.settings, ...settings } });
    for (const step of steps) takeStep(world, step);
    // Of some, for it takes as long as all the rest.
    if (steps.length % 4 === 0) {
      deepStrictEqual(fleetStateSchema.parse(JSON.parse(JSON.stringify(world.state))), world.state);
    }
    calmDown(world, temper);
    stopAll(world);
  };
}

/** Brains with one mistake each, and the rule that must notice it. */
const mistakes: readonly { readonly name: string; readonly rule: RegExp; readonly brain: Brain }[] = [
  {
    name: 'forgets the former process when a restart is stopped',
    rule: /a launch ended without a reason/,
    brain: {
      ...theBrain,
      reduce: (state, event) => {
        const next = theBrain.reduce(state, event);
        if (event.kind !== 'stop requested') return next;
        return changed(next, event.name, (life) => (life.kind === 'stopping' ? without(life, 'ending') : life));
      },
    },
  },
  {
    name: 'takes any launch that was asked for as the first one',
    rule: /two processes for|a launch ended without a reason/,
    brain: {
      ...theBrain,
      reduce: (state, event) => {
        const next = theBrain.reduce(state, event);
        if (event.kind !== 'launch requested') return next;
        return changed(next, event.name, (life) => (life.kind === 'launching' ? without(life, 'ending') : life));
      },
    },
  },
  {
    name: 'counts an end twice',
    rule: /a launch ended twice/,
    brain: {
      ...theBrain,
      reduce: (state, event) => {
        const next = theBrain.reduce(state, event);
        if (event.kind !== 'process ended') return next;
        const agent = next.agents[event.name];
        const last = agent?.launches.at(-1);
        if (agent === undefined || last === undefined || next === state) return next;
        return { ...next, agents: { ...next.agents, [event.name]: { ...agent, launches: [...agent.launches, last] } } };
      },
    },
  },
  {
    name: 'makes a new conversation of every resume',
    rule: /was started fresh without permission/,
    brain: {
      ...theBrain,
      plan: (state, now) => {
        const plan = theBrain.plan(state, now);
        const decisions = plan.decisions.map((decision) => {
          return decision.kind === 'launch requested' && decision.launch.mode === 'resume'
            ? { ...decision, launch: { ...without(decision.launch, 'expectedSessionId'), mode: 'fresh' as const } }
            : decision;
        });
        return { ...plan, decisions };
      },
    },
  },
  {
    name: 'opens no incident',
    rule: /is unbound without an incident/,
    brain: {
      ...theBrain,
      plan: (state, now) => {
        const plan = theBrain.plan(state, now);
        return { ...plan, decisions: plan.decisions.filter(({ kind }) => kind !== 'incident opened') };
      },
    },
  },
  {
    name: 'puts whoever runs to sleep',
    rule: /was put to sleep while/,
    brain: {
      ...theBrain,
      plan: (state, now) => {
        const plan = theBrain.plan(state, now);
        const runs = Object.values(state.agents).filter(({ life }) => life.kind === 'running');
        const sleeps = runs.map(({ name }) => {
          return { at: now, kind: 'stop requested', name, reason: 'idle', then: 'keep' } as const;
        });
        const isSleepy = state.settings.idleMinutes !== undefined;
        return isSleepy ? { ...plan, decisions: [...plan.decisions, ...sleeps] } : plan;
      },
    },
  },
  {
    name: 'stops trying without a word',
    rule: /it does not come to an end|without a sentence|nothing is done about it|a decision changed nothing/,
    brain: {
      ...theBrain,
      plan: (state, now) => {
        const plan = theBrain.plan(state, now);
        return { ...plan, decisions: plan.decisions.filter(({ kind }) => kind !== 'incident ended') };
      },
    },
  },
];

function changed(state: FleetState, name: string, change: (life: Life) => Life): FleetState {
  const agent = state.agents[name];
  return agent === undefined
    ? state
    : { ...state, agents: { ...state.agents, [name]: { ...agent, life: change(agent.life) } } };
}

describe('fleet, whatever happens in whatever order', () => {
  it('keeps its rules in 10,000 stories', () => {
    const play = player(theBrain);
    fc.assert(
      fc.property(story, (one) => {
        play(one);
      }),
      { numRuns: 10_000 },
    );
  }).timeout(300_000);

  for (const { name, rule, brain } of mistakes) {
    it(`notices a brain that ${name}`, () => {
      const play = player(brain);
      const result = fc.check(
        fc.property(story, (one) => {
          play(one);
        }),
        { numRuns: 3_000, endOnFailure: true },
      );
      const found = result.errorInstance instanceof Error ? result.errorInstance.message : 'nothing';
      match(found.split('\n')[0] ?? '', rule);
    }).timeout(120_000);
  }
});
