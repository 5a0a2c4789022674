import { deepStrictEqual } from 'node:assert/strict';
import { withRecords } from '../../../../src/core/fleet/audit.ts';
import { type AuditRecord, emptyFleet } from '../../../../src/core/fleet/state.ts';
import { fleetStateSchema } from '../../../../src/protocol/fleetState.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

/** Each record in one line, without its time. */
function lines({ state }: FleetStory): readonly string[] {
  return state.audit.map((record) => {
    if (record.action === 'guard bypassed') return `guard bypassed (${record.verdict}) by ${record.by}`;
    const what = record.action === 'deed' ? record.what : `${record.trigger}: ${record.from} -> ${record.to}`;
    const detail = record.detail === undefined ? '' : ` [${record.detail}]`;
    return `${what}${detail} by ${record.by ?? 'nobody'}`;
  });
}

describe('audit', () => {
  it('tells who asked for a launch, who did it, and what came of it', () => {
    const story = new FleetStory().create();
    const launch = { id: 'ada.1', mode: 'fresh', requestedAt: story.now, cause: 'person' } as const;
    story.tell({ kind: 'launch requested', name: 'ada', launch, asker: 'window-1' }).launched();
    story.hook({ event: 'SessionStart', source: 'startup' });
    story.tell({ kind: 'launch verified', name: 'ada', launchId: 'ada.1' });
    story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'keep', asker: 'admin API' });
    const exit = { how: 'exited', status: 0, reading: 'other', detail: 'ended with status 0' } as const;
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
    deepStrictEqual(lines(story), [
      'agent created: none -> stopped by gateway',
      'launch requested: stopped -> launching [fresh] by window-1',
      'launched: launching -> running [process 4711] by hands: window',
      'conversation began (startup) [session-1] by hook',
      'launch verified by gateway',
      'stop requested: running -> stopping [released] by admin API',
      'process ended: stopping -> stopped [ended with status 0] by hands: window',
    ]);
  });

  it('tells of an agent that is created with its first launch as of both', () => {
    const story = new FleetStory();
    const { configuration } = FleetStory.bound().agent();
    const launch = { id: 'ada.1', mode: 'fresh', requestedAt: story.now, cause: 'person' } as const;
    const created = { kind: 'agent created', name: 'ada', configuration, launch, asker: 'window-1' } as const;
    story.tell(created).tell({ ...created, launch: { ...launch, id: 'ada.2' } });
    deepStrictEqual(
      [lines(story), story.agent().launchCount, story.agent().life.kind],
      [
        ['agent created: none -> stopped by window-1', 'launch requested: stopped -> launching [fresh] by window-1'],
        1,
        'launching',
      ],
    );
  });

  it('names the rule where nobody asked', () => {
    const story = FleetStory.bound();
    const before = story.state.audit.length;
    const launch = { id: 'ada.2', mode: 'resume', expectedSessionId: 'session-1', requestedAt: story.now } as const;
    story.tell({ kind: 'launch requested', name: 'ada', launch: { ...launch, cause: 'healing' } });
    const server = 'bowline-self';
    story.tell({ kind: 'incident opened', name: 'ada', server, cause: 'gateway was away' });
    story.tell({ kind: 'rung started', name: 'ada', server, attemptId: 'a', rung: 'nudge', by: 'policy' });
    story.tell({ kind: 'rung ended', name: 'ada', server, attemptId: 'a', outcome: 'failed', detail: 'no answer' });
    story.tell({
      kind: 'rung started',
      name: 'ada',
      server,
      attemptId: 'b',
      rung: 'reconnect',
      by: 'person',
      asker: 'w',
    });
    deepStrictEqual(lines(story).slice(before), [
      'launch requested: running -> launching [resume session-1] by rule: healing',
      'bowline-self lost [gateway was away] by gateway',
      'nudge of bowline-self started by rule: healing',
      'nudge of bowline-self failed [no answer] by gateway',
      'reconnect of bowline-self started by w',
    ]);
  });

  it('tells of prompts, interrupts, saves, other settings and bypasses, and holds nothing of a text', () => {
    const story = FleetStory.bound();
    const before = story.state.audit.length;
    const at = story.now;
    const prompt = { id: 'prompt-12345', requestedAt: at, by: 'window-2', digest: 'digest', characters: 12 };
    story.tell({ kind: 'prompt requested', name: 'ada', prompt });
    story.tell({ kind: 'prompt taken', name: 'ada', promptId: prompt.id, launchId: 'ada.1' });
    story.hook({ event: 'UserPromptSubmit', promptDigest: 'digest' });
    const request = { id: 'escape', turnSince: at, by: 'window-2' };
    story.tell({ kind: 'interrupt requested', name: 'ada', launchId: 'ada.1', request });
    story.tell({
      kind: 'context saved',
      name: 'ada',
      context: { at, launchId: 'ada.1', origin: 'explicit', bytes: 3 },
    });
    const { configuration } = story.agent();
    const changed = { ...configuration, model: 'opus', environment: { TOKEN: 'secret' } };
    story.tell({ kind: 'agent configured', name: 'ada', configuration: changed, asker: 'window-2' });
    const bypass = {
      action: 'guard bypassed',
      mode: 'fresh',
      by: 'window-2',
      verdict: 'save too old',
      reason: '',
    } as const;
    story.tell({ kind: 'guard bypassed', record: { ...bypass, at, agent: 'ada' } });
    deepStrictEqual(lines(story).slice(before), [
      'prompt prompt-1 of 12 characters by window-2',
      'prompt prompt-1 of 12 characters: received by hook',
      'interrupt asked for by window-2',
      'context saved (explicit) by agent',
      'configuration changed [model, environment] by window-2',
      'guard bypassed (save too old) by window-2',
    ]);
  });

  it('tells a fault once, and nothing of facts that changed nothing', () => {
    const story = FleetStory.bound();
    const before = story.state.audit.length;
    for (let time = 0; time < 3; time += 1) {
      const fault = { cause: 'key wrong', detail: 'another key', name: 'ada', server: 'bowline-self' } as const;
      story.wait(1).tell({ kind: 'identity fault', ...fault });
      story.tell({ kind: 'launch verified', name: 'ada', launchId: 'ada.7' });
      story.hook({ event: 'Notification', waitingFor: 'input' });
    }
    deepStrictEqual(lines(story).slice(before), ['identity fault: key wrong [another key] by gateway']);
  });

  it('keeps the story of a calm agent however restless another one is', () => {
    const record = (agent: string, at: number): AuditRecord => ({
      at,
      agent,
      action: 'deed',
      what: 'x',
      by: 'gateway',
    });
    let state = withRecords(emptyFleet, [record('calm', 1), record('calm', 2)]);
    for (let at = 3; at < 1_000; at += 1) state = withRecords(state, [record('restless', at)]);
    deepStrictEqual(
      [state.audit.length, state.audit.filter(({ agent }) => agent === 'calm').length, state.audit.at(-1)?.at],
      [500, 2, 999],
    );
    fleetStateSchema.parse(JSON.parse(JSON.stringify(state)));
  });
});
