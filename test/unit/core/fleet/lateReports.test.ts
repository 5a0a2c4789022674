import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import type { HookFact } from '../../../../src/core/claude/facts.ts';
import type { Agent } from '../../../../src/core/fleet/agent.ts';
import { resumeOrFresh } from '../../../../src/core/fleet/launching.ts';
import { fleetStateSchema } from '../../../../src/protocol/fleetState.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

interface Report {
  readonly at: number;
  readonly hook: HookFact;
}

/** What a person does in one launch; each step is told by the hooks that Claude runs for it. */
const steps = ['prompt', 'stop', 'clear', 'compact', 'fork', 'fork of 2.1.160', 'question', 'end'] as const;
type Step = (typeof steps)[number];

const resumed = 'resumed-0';

/** The hooks of a launch in the order of their occurrence, and the conversation that is current after them. */
function reportsOf(
  mode: 'fresh' | 'resume',
  told: readonly Step[],
  stray: 'none' | 'before' | 'after',
): { readonly reports: readonly Report[]; readonly current: string } {
  const reports: Report[] = [];
  let id = mode === 'fresh' ? 'begun-0' : resumed;
  let count = 0;
  const tell = (hook: Partial<HookFact> & Pick<HookFact, 'event'>): void => {
    const at = 1_000_100 + 10 * reports.length;
    reports.push({ at, hook: { sessionId: id, transcriptExists: true, ...hook } });
  };
  const another = (): string => (id = `rotated-${(count += 1)}`);
  const strayStart = { event: 'SessionStart', source: 'startup', sessionId: 'stray', transcriptExists: false } as const;
  if (mode === 'resume' && stray === 'before') tell(strayStart);
  tell({ event: 'SessionStart', source: mode === 'fresh' ? 'startup' : 'resume', transcriptExists: mode === 'resume' });
  if (mode === 'resume' && stray === 'after') tell(strayStart);
  for (const step of told) {
    switch (step) {
      case 'prompt':
        tell({ event: 'UserPromptSubmit' });
        break;
      case 'stop':
        tell({ event: 'Stop' });
        break;
      case 'question':
        tell({ event: 'Notification', waitingFor: 'input' });
        break;
      case 'compact':
        tell({ event: 'SessionStart', source: 'compact' });
        break;
      case 'clear':
        tell({ event: 'SessionEnd', source: 'clear' });
        tell({ event: 'SessionStart', source: 'clear', sessionId: another(), transcriptExists: false });
        break;
      case 'fork':
        tell({ event: 'SessionStart', source: 'fork', sessionId: another() });
        break;
      case 'fork of 2.1.160':
        tell({ event: 'UserPromptSubmit', sessionId: another() });
        break;
      case 'end':
        tell({ event: 'SessionEnd', source: 'other' });
        break;
    }
  }
  return { reports, current: id };
}

function launched(mode: 'fresh' | 'resume'): FleetStory {
  const story = new FleetStory().create();
  if (mode === 'fresh') return story.request().launched();
  return story.request('ada', { mode, expectedSessionId: resumed }).launched();
}

function afterAll(mode: 'fresh' | 'resume', order: readonly Report[]): FleetStory {
  const story = launched(mode);
  for (const { at, hook } of order) story.hook(hook, 'ada', 'ada.1', at);
  return story;
}

/** All that decides what is resumed and shown. */
function known({ session, lineage, life }: Agent): unknown {
  return {
    current: [session?.id, session?.cause, session?.prompted, session?.turnsCompleted, session?.since],
    lineage: lineage.map(({ id, cause, prompted }) => `${id} (${cause}) ${prompted ? 'prompted' : 'untouched'}`),
    confirmedAt: life.kind === 'running' ? life.running.confirmedAt : undefined,
  };
}

describe('reports of hooks that come late', () => {
  const stories = fc.record({
    mode: fc.constantFrom('fresh' as const, 'resume' as const),
    told: fc.array(fc.constantFrom(...steps), { maxLength: 8 }),
    stray: fc.constantFrom('none' as const, 'before' as const, 'after' as const),
    seed: fc.array(fc.nat(), { minLength: 24, maxLength: 24 }),
  });

  it('lead to the same conversation, lineage and next launch in any order of arrival', () => {
    fc.assert(
      fc.property(stories, ({ mode, told, stray, seed }) => {
        const { reports, current } = reportsOf(mode, told, stray);
        const shuffled = reports
          .map((report, index) => ({ report, key: seed[index % seed.length] ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ report }) => report);
        const inOrder = afterAll(mode, reports).agent();
        const agent = afterAll(mode, shuffled).agent();
        deepStrictEqual(inOrder.session?.id, current);
        deepStrictEqual(known(agent), known(inOrder));
        const next = ({ mode: how, expectedSessionId }: ReturnType<typeof resumeOrFresh>): unknown => {
          return [how, expectedSessionId];
        };
        deepStrictEqual(next(resumeOrFresh(agent, 2e6)), next(resumeOrFresh(inOrder, 2e6)));
      }),
      { numRuns: 500 },
    );
  });

  it('count once, also what came before the launch was confirmed, and are kept over the disk until then', () => {
    const story = launched('resume');
    const later = { event: 'UserPromptSubmit', sessionId: 'rotated-1' } as const;
    story.hook(later, 'ada', 'ada.1', 1_000_300);
    const before = [story.agent().session?.id, fleetStateSchema.parse(JSON.parse(JSON.stringify(story.state)))];
    const kept = story.state;
    story.hook({ event: 'SessionStart', source: 'resume', sessionId: resumed }, 'ada', 'ada.1', 1_000_100);
    deepStrictEqual(
      [before, story.agent().session?.id, story.agent().session?.prompted, story.agent().earlyHooks],
      [[undefined, kept], 'rotated-1', true, undefined],
    );
  });

  it('of another launch change nothing, whenever they happened', () => {
    const story = launched('fresh').hook({ event: 'SessionStart', source: 'startup' });
    const before = story.state;
    for (const at of [story.now - 5, story.now + 5]) {
      story.hook({ event: 'SessionStart', source: 'clear', sessionId: 'other' }, 'ada', 'ada.0', at);
    }
    deepStrictEqual(story.state === before, true);
  });

  it('confirm a launch whose first prompt was told before its start', () => {
    const story = launched('resume').hook({ event: 'UserPromptSubmit', sessionId: resumed }, 'ada', 'ada.1', 1_000_200);
    story.hook({ event: 'SessionStart', source: 'resume', sessionId: resumed }, 'ada', 'ada.1', 1_000_100);
    const { life, session } = story.agent();
    deepStrictEqual(
      [life.kind === 'running' ? life.running.confirmedAt : undefined, session?.id, session?.prompted],
      [1_000_100, resumed, true],
    );
  });

  it('tell that the agent is idle also where the hands told the start late, because others were killed before they did', () => {
    const story = new FleetStory().create().request().wait(1_000);
    const happened = story.now;
    story.wait(200).launched();
    story.hook({ event: 'SessionStart', source: 'startup' }, 'ada', 'ada.1', happened);
    deepStrictEqual(story.agent().activity.kind, 'idle');
  });

  it('tell the timeline of each rotation, with its cause', () => {
    const story = launched('fresh').hook({ event: 'SessionStart', source: 'startup', sessionId: 'first' });
    story.wait(1).hook({ event: 'UserPromptSubmit', sessionId: 'second' });
    story.wait(1).hook({ event: 'SessionStart', source: 'compact', sessionId: 'second' });
    story.wait(1).hook({ event: 'SessionStart', source: 'clear', sessionId: 'third' });
    deepStrictEqual(
      story.state.timeline.map(({ text }) => text).filter((text) => text.startsWith('session')),
      ['session first (startup)', 'session second (rotated)', 'session second (compact)', 'session third (clear)'],
    );
  });
});
