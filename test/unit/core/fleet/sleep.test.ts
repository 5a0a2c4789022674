import { deepStrictEqual } from 'node:assert/strict';
import type { Effect } from '../../../../src/core/fleet/effects.ts';
import { select } from '../../../../src/core/fleet/select.ts';
import type { FleetSettings } from '../../../../src/core/fleet/configuration.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const minute = 60_000;
const exit = { how: 'gone', reading: 'other', detail: 'stopped' } as const;
const server = 'bowline-self';

/** A verified agent that ended its turn, in a fleet that puts agents to sleep after ten minutes. */
function atRest(settings: Partial<FleetSettings> = { idleMinutes: 10 }): FleetStory {
  const story = FleetStory.bound();
  story.tell({ kind: 'settings changed', settings: { ...story.state.settings, ...settings } });
  story.tell({ kind: 'hands changed', holder: 'window' });
  story.settle();
  story.wait(1_000).hook({ event: 'UserPromptSubmit' }).wait(1_000).hook({ event: 'Stop' });
  return story;
}

function asleep(): FleetStory {
  const story = atRest().wait(10 * minute);
  story.settle();
  return story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
}

function prompt(story: FleetStory): FleetStory {
  return story.tell({
    kind: 'prompt requested',
    name: 'ada',
    prompt: { id: 'prompt-1', requestedAt: story.now, by: 'window', digest: 'd', characters: 5 },
  });
}

function shown(story: FleetStory): string {
  const [row] = select(story.state, { kind: 'connected' }, story.now).agents;
  return `${row?.life ?? ''}: ${row?.detail ?? ''}`;
}

function isWanted(story: FleetStory): boolean {
  return story.plan().decisions.some((one) => one.kind === 'stop requested' && one.reason === 'idle');
}

const lifeEffects = (effects: readonly Effect[]): readonly Effect[] => effects.filter(({ kind }) => kind !== 'probe');

describe('sleep', () => {
  it('comes when an agent was idle for its time, and only when the hands find that nobody uses it', () => {
    const story = atRest();
    const before = story.wait(10 * minute - 1).settle();
    deepStrictEqual([before.wakeAt, shown(story)], [story.now + 1, 'ready: ']);
    const effects = lifeEffects(story.wait(1).settle().effects);
    deepStrictEqual(effects, [{ kind: 'end', id: 'sleep:ada.1', name: 'ada', launchId: 'ada.1', unless: 'in use' }]);
    deepStrictEqual(shown(story), 'stopping: is being put to sleep');
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
    deepStrictEqual(
      [shown(story), story.agent().launches.map(({ launch, reason }) => `${launch.id} ${reason}`)],
      ['sleeping: a prompt or Attach wakes it, with its conversation', ['ada.1 idle']],
    );
    deepStrictEqual(select(story.state, { kind: 'connected' }, story.now).status.text, '1 sleeping');
    deepStrictEqual([lifeEffects(story.settle().effects), story.settle().wakeAt], [[], undefined]);
  });

  it('is put off where the agent is in use, and its time begins anew', () => {
    const story = atRest().wait(10 * minute);
    story.settle();
    story.tell({ kind: 'sleep put off', name: 'ada', launchId: 'ada.1', detail: 'a terminal is attached to it' });
    deepStrictEqual([shown(story), story.settle().wakeAt], ['ready: ', story.now + 10 * minute]);
    deepStrictEqual(story.state.timeline.at(-1)?.text, 'not put to sleep: a terminal is attached to it');
    deepStrictEqual(lifeEffects(story.wait(10 * minute).settle().effects).length, 1);
  });

  const awake: Readonly<Record<string, (story: FleetStory) => FleetStory>> = {
    'a setting that is off': (story) => {
      const { idleMinutes: _off, ...settings } = story.state.settings;
      return story.tell({ kind: 'settings changed', settings });
    },
    'a turn': (story) => story.hook({ event: 'UserPromptSubmit' }),
    'a question': (story) => story.hook({ event: 'Notification', waitingFor: 'permission' }),
    'a dialog': (story) => story.tell({ kind: 'screen read', name: 'ada', launchId: 'ada.1', dialog: 'other' }),
    'an open prompt': prompt,
    'an incident': (story) => story.tell({ kind: 'incident opened', name: 'ada', server, cause: 'asked' }),
    'tools that are being checked': (story) => story.tell({ kind: 'doubted', name: 'ada', server, cause: 'asked' }),
    'a restart that waits for a save': (story) => {
      return story.tell({ kind: 'save restart requested', name: 'ada', request: { promptId: 'p', mode: 'fresh' } });
    },
    'a conversation that is not saved': (story) => {
      const { session } = story.agent();
      if (session === undefined) throw new Error('no session');
      const unsaved = { path: '/t.jsonl', since: story.now, missingAt: story.now };
      const agents = { ada: { ...story.agent(), session: { ...session, unsaved } } };
      story.state = { ...story.state, agents };
      return story;
    },
    'the absence of hands': (story) => story.tell({ kind: 'hands changed' }),
  };
  for (const [what, keep] of Object.entries(awake)) {
    it(`does not come over ${what}`, () => {
      const story = keep(atRest()).wait(10 * minute);
      deepStrictEqual(isWanted(story), false);
    });
  }

  it('does not come over a launch that is not verified', () => {
    const story = new FleetStory().create().request().launched();
    story.tell({ kind: 'settings changed', settings: { ...story.state.settings, idleMinutes: 1 } });
    story.tell({ kind: 'hands changed', holder: 'window' });
    story.hook({ event: 'SessionStart', source: 'startup' }).wait(minute);
    deepStrictEqual(isWanted(story), false);
  });

  it('ends for a prompt, which is typed when the conversation is back', () => {
    const story = prompt(asleep());
    story.settle();
    const { life } = story.agent();
    const launch = life.kind === 'launching' ? life.launch : undefined;
    deepStrictEqual([launch?.mode, launch?.expectedSessionId, launch?.cause], ['resume', 'session-1', 'wake']);
    const id = launch?.id ?? '';
    story.launched('ada', id).hook({ event: 'SessionStart', source: 'resume' }, 'ada', id);
    story.connect('ada', '2.1.332', id).probe();
    deepStrictEqual(
      lifeEffects(story.settle().effects).map(({ kind }) => kind),
      ['prompt'],
    );
  });

  it('ends for a prompt that came while it began, which stays queued until then', () => {
    const story = atRest().wait(10 * minute);
    story.settle();
    prompt(story).settle();
    deepStrictEqual([story.agent().life.kind, story.agent().prompts?.[0]?.state.kind], ['stopping', 'queued']);
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit }).settle();
    deepStrictEqual([story.agent().life.kind, story.agent().prompts?.[0]?.state.kind], ['launching', 'queued']);
  });

  it('fails a prompt whose conversation does not come back', () => {
    const story = prompt(asleep());
    story.settle();
    const { life } = story.agent();
    const launchId = life.kind === 'launching' ? life.launch.id : '';
    story.tell({ kind: 'launch failed', name: 'ada', launchId, code: 'tmux-failed', sentence: 'tmux is gone' });
    story.settle();
    deepStrictEqual([story.agent().life.kind, story.agent().prompts?.[0]?.state.kind], ['blocked', 'failed']);
  });

  it("follows the agent's own time before that of the fleet", () => {
    const story = atRest({});
    const { configuration } = story.agent();
    const own = (idleMinutes: number): FleetStory => {
      const agents = { ada: { ...story.agent(), configuration: { ...configuration, idleMinutes } } };
      story.state = { ...story.state, agents };
      return story;
    };
    deepStrictEqual([isWanted(own(2).wait(2 * minute - 1)), isWanted(story.wait(1))], [false, true]);
    story.tell({ kind: 'settings changed', settings: { ...story.state.settings, idleMinutes: 10 } });
    deepStrictEqual(isWanted(own(0).wait(10 * minute)), false);
  });
});
