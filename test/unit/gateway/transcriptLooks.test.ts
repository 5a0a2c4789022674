import { deepStrictEqual } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { emptyFleet } from '../../../src/core/fleet/state.ts';
import { FleetService } from '../../../src/gateway/fleetService.ts';
import { promptDigest } from '../../../src/node/promptDigest.ts';
import { followTranscripts } from '../../../src/gateway/transcriptLooks.ts';
import { FleetStory } from '../../harness/fleetStory.ts';
import { noJournal } from '../../harness/gatewayParts.ts';
import { waitFor } from '../../harness/waitFor.ts';

const line = (type: string, text: string, more: object = {}): string =>
  `${JSON.stringify({ type, timestamp: new Date(9e12).toISOString(), message: { content: [{ type: 'text', text }] }, ...more })}\n`;
const bad =
  line('user', 'look') + line('assistant', 'API Error: 400 Could not process image', { isApiErrorMessage: true });

const key = 'a key';

describe('looks at transcripts', () => {
  let directory: string;
  let path: string;
  let fleet: FleetService;
  let looks: { dispose(): void };
  let now: number;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'bowline-looks-'));
    path = join(directory, 'session-1.jsonl');
    const story = FleetStory.bound();
    now = story.now;
    const clock = (): number => now;
    const state = { ...emptyFleet, ...story.state };
    fleet = new FleetService({ state, clock, log: silentLog, journal: noJournal });
    looks = followTranscripts({ fleet, clock, keys: { keyOf: () => Promise.resolve(key) }, log: silentLog });
  });
  afterEach(() => {
    looks.dispose();
    fleet.dispose();
    rmSync(directory, { recursive: true, force: true });
  });
  const hook = (event: 'SessionStart' | 'UserPromptSubmit', transcriptExists: boolean): void => {
    const fact = { event, sessionId: 'session-1', transcriptPath: path, transcriptExists, source: 'resume' };
    fleet.report({ at: (now += 1), kind: 'hook reported', name: 'ada', launchId: 'ada.1', hook: fact });
  };
  const session = (): NonNullable<(typeof emptyFleet.agents)[string]['session']> => {
    const found = fleet.state.agents['ada']?.session;
    if (found === undefined) throw new Error('no session');
    return found;
  };

  it('tell that it is missing, and that it came', async () => {
    fleet.start();
    hook('UserPromptSubmit', false);
    now += 30_000;
    fleet.report({ at: now, kind: 'settings changed', settings: fleet.state.settings });
    await waitFor('the alarm', () => session().unsaved?.missingAt !== undefined);
    writeFileSync(path, bad);
    now += 60_000;
    fleet.report({ at: now, kind: 'settings changed', settings: fleet.state.settings });
    await waitFor('its end', () => session().unsaved === undefined);
    deepStrictEqual(
      fleet.state.notices.map(({ code, agent }) => [code, agent]),
      [['not-saved', 'ada']],
    );
  });

  it('tell that a prompt stands there which no hook told, and where none does that too', async () => {
    fleet.start();
    hook('UserPromptSubmit', true);
    const busy = (): void => {
      now += 60_000;
      fleet.report({ at: now, kind: 'activity observed', name: 'ada', launchId: 'ada.1', activity: 'idle' });
      now += 15_000;
      fleet.report({ at: now, kind: 'settings changed', settings: fleet.state.settings });
    };
    const checked = (): { readonly checkedAt: number; readonly silentSince?: number } | undefined => {
      const life = fleet.state.agents['ada']?.life;
      return life?.kind === 'running' ? life.running.hooks : undefined;
    };
    busy();
    await waitFor('a look at nothing', () => checked()?.checkedAt === now);
    const first = checked();
    writeFileSync(path, line('user', 'told by nobody'));
    hook('UserPromptSubmit', true);
    busy();
    await waitFor('a look at the prompt', () => checked()?.checkedAt === now);
    deepStrictEqual([first?.silentSince, checked()?.silentSince], [undefined, 9e12]);
  });

  it('find the poison of a conversation that is resumed, in its last turns only', async () => {
    writeFileSync(
      path,
      `${'x'.repeat(2 * 1024 * 1024)}\n${line('user', 'one')}${line('assistant', 'fine')}${bad}${bad}`,
    );
    hook('SessionStart', true);
    await waitFor('the quarantine', () => session().quarantine !== undefined);
    deepStrictEqual(session().quarantine, { at: 9e12, error: 'poisoned: image' });
  });

  it('find a prompt that was typed and that no hook told, by its text and its time', async () => {
    const said = (text: string, at: number): string => line('user', text, { timestamp: new Date(at).toISOString() });
    const state = (id: string): string | undefined =>
      fleet.state.agents['ada']?.prompts?.find((prompt) => prompt.id === id)?.state.kind;
    const type = (id: string, text: string): void => {
      const prompt = { id, requestedAt: now, by: 'window', digest: promptDigest(text, key), characters: 5 };
      for (const kind of ['prompt requested', 'prompt taken', 'prompt typed'] as const) {
        const common = { at: (now += 1), name: 'ada' };
        if (kind === 'prompt requested') fleet.report({ ...common, kind, prompt });
        else fleet.report({ ...common, kind, promptId: id, launchId: 'ada.1' });
      }
    };
    const pass = (milliseconds: number): void => {
      now += milliseconds;
      fleet.report({ at: now, kind: 'settings changed', settings: fleet.state.settings });
    };
    hook('SessionStart', true);
    fleet.start();
    writeFileSync(path, said('look again', now) + said('another text', now + 100));
    type('p1', 'look again');
    pass(20_000);
    await waitFor('the end of the patience', () => state('p1') === 'unknown');
    type('p2', 'look\tonce more');
    writeFileSync(path, said('look again', now - 40_000) + said('<pasted_content id="1">\nlook once  more ', now));
    pass(5_000);
    await waitFor('the receipt', () => state('p2') === 'received');
    deepStrictEqual(
      [state('p1'), fleet.state.timeline.at(-1)?.text],
      ['unknown', 'prompt received, as its transcript tells; no hook told it'],
    );
  });
});
