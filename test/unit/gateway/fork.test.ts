import { deepStrictEqual, rejects } from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BowlineError } from '../../../src/base/errors.ts';
import { currentLaunch } from '../../../src/core/fleet/agent.ts';
import { ConversationCommands } from '../../../src/gateway/conversationCommands.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

const line = (type: string, text: string, more: object = {}): string =>
  `${JSON.stringify({ type, sessionId: 'session-1', cwd: '/p', message: { content: [{ type: 'text', text }] }, ...more })}\n`;
const error = line('assistant', 'API Error: 400 Could not process image', { isApiErrorMessage: true });
const good = [line('mode', ''), line('user', 'one'), line('assistant', 'answer'), '{torn\n'];
const bad = [line('user', 'look'), error, line('user', 'again'), error];

describe('what a person decides about a poisoned conversation', () => {
  let directory: string;
  let original: string;
  let story: FleetStory;
  let commands: ConversationCommands;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'bowline-fork-'));
    original = join(directory, 'session-1.jsonl');
    writeFileSync(original, [...good, ...bad, '{"type":"us'].join(''));
    story = FleetStory.bound();
    for (let turn = 0; turn < 2; turn += 1) {
      const hook = { transcriptPath: original };
      story.wait(1_000).hook({ ...hook, event: 'UserPromptSubmit' });
      story.wait(1_000).hook({ ...hook, event: 'StopFailure', error: 'poisoned: image' });
    }
    commands = new ConversationCommands({ clock: () => story.now, fleet: story.port });
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const coded = (code: string) => (thrown: unknown) => thrown instanceof BowlineError && thrown.code === code;
  const stop = (): void => {
    story.tell({ kind: 'stop requested', name: 'ada', reason: 'released', then: 'keep' });
    const exit = { how: 'gone', reading: 'other', detail: 'stopped' } as const;
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
  };

  it('forks it before the bad turn into a file of its own, and leaves the original byte for byte', async () => {
    const before = readFileSync(original);
    await commands.fork(story.agent(), 'window');
    const launch = currentLaunch(story.agent());
    const copy = join(directory, `${launch?.expectedSessionId ?? ''}.jsonl`);
    deepStrictEqual(
      {
        launch: [launch?.mode, launch?.cause, launch?.forkOf],
        copy: readFileSync(copy, 'utf8'),
        mode: (statSync(copy).mode & 0o777).toString(8),
        original: readFileSync(original).equals(before),
        files: readdirSync(directory).length,
        told: story.state.notices.map(({ sentence }) => sentence),
      },
      {
        launch: ['resume', 'person', 'session-1'],
        copy: good.join(''),
        mode: '600',
        original: true,
        files: 2,
        told: [
          'ada goes on in a copy of its conversation, without the last 2 turns. The original stays as it is: session-1.',
        ],
      },
    );
  });

  it('forks nothing in a turn, without a transcript, or where nothing good stands before the bad turn', async () => {
    story.wait(1_000).hook({ event: 'UserPromptSubmit' });
    await rejects(commands.fork(story.agent(), 'window'), coded('guard-blocked'));
    stop();
    writeFileSync(original, bad.join(''));
    await rejects(commands.fork(story.agent(), 'window'), coded('bad-request'));
    rmSync(original);
    await rejects(commands.fork(story.agent(), 'window'), coded('bad-request'));
    await rejects(commands.fork(new FleetStory().create().agent(), 'window'), coded('bad-request'));
    deepStrictEqual([readdirSync(directory), story.agent().life.kind], [[], 'stopped']);
  });

  it('keeps trying: the conversation is resumed only where nothing runs, and only once it was held back', async () => {
    await commands.keepTrying(story.agent(), 'window');
    const running = [story.agent().life.kind, story.agent().session?.quarantine];
    await rejects(commands.keepTrying(story.agent(), 'window'), coded('bad-request'));
    for (let turn = 0; turn < 2; turn += 1) story.wait(1_000).hook({ event: 'StopFailure', error: 'poisoned: image' });
    stop();
    await commands.keepTrying(story.agent(), 'window');
    deepStrictEqual(
      [running, story.agent().life.kind, currentLaunch(story.agent())?.expectedSessionId],
      [['running', undefined], 'launching', 'session-1'],
    );
  });
});
