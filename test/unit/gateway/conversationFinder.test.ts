import { deepStrictEqual, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BowlineError } from '../../../src/base/errors.ts';
import { projectFolderName } from '../../../src/core/claude/transcript.ts';
import { ConversationFinder } from '../../../src/gateway/conversationFinder.ts';
import { conversationsFor } from '../../../src/gateway/transcripts.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

const id = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;
const here = '/work/ada';
const exit = { how: 'host gone', reading: 'other', detail: 'the tmux server ended' } as const;

const line = (fields: object): string => `${JSON.stringify(fields)}\n`;
const said = (cwd: string, content = 'hello'): string =>
  line({ type: 'user', cwd, message: { role: 'user', content } });
const bad = line({
  ...{ type: 'assistant', isApiErrorMessage: true },
  message: { content: [{ type: 'text', text: 'API Error: 400 Could not process image' }] },
});

describe('finding a conversation that the record lost', () => {
  let home: string;
  let folder: string;
  let story: FleetStory;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'bowline-finder-'));
    folder = join(home, '.claude', 'projects', projectFolderName(here));
    mkdirSync(folder, { recursive: true });
    story = new FleetStory().create().request().launched();
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
  });
  afterEach(() => {
    rmSync(home, { recursive: true, force: true });
  });

  const finder = (): ConversationFinder =>
    new ConversationFinder({ fleet: story.port, clock: () => story.now, environment: { HOME: home } });
  const write = (digit: number, text: string, second = 2_000): string => {
    const path = join(folder, `${id(digit)}.jsonl`);
    writeFileSync(path, text);
    utimesSync(path, second, second);
    return path;
  };
  const settled = async (): Promise<string | undefined> => {
    await finder().settle(story.agent());
    return story.agent().session?.id;
  };
  const refusal = async (): Promise<readonly [string, string] | undefined> => {
    try {
      await finder().settle(story.agent());
      return undefined;
    } catch (error) {
      return error instanceof BowlineError
        ? [error.code, error.message.replaceAll(folder, 'FOLDER')]
        : ['?', String(error)];
    }
  };

  it('takes the only one, says so, and shows it before in the restart plan without taking it', async () => {
    const path = write(1, said(here));
    const preview = await finder().preview(story.agent());
    const before = story.agent().session;
    const taken = await settled();
    const { notices } = story.state;
    const told = notices.at(-1);
    await finder().settle(story.agent());
    deepStrictEqual(
      [preview.session?.id, before, taken, story.agent().session?.transcriptPath, story.state.notices],
      [id(1), undefined, id(1), path, notices],
    );
    deepStrictEqual(
      [told?.code, told?.sentence],
      [
        'conversation-found',
        'The record of ada was not complete. It goes on with conversation 00000000, last written 1970-01-01T00:33:20.000Z: ' +
          'the only one of /work/ada that can be its own. If that is wrong, stop it and use Resume Other Conversation.',
      ],
    );
  });

  it('takes none of several, and tells what a person can do', async () => {
    write(1, said(here));
    write(2, said(here, 'another'));
    deepStrictEqual(
      [await refusal(), story.agent().session],
      [
        [
          'conversation-ambiguous',
          'The record of ada names no conversation, and 2 in /work/ada can be its own. Choose with Resume Other ' +
            'Conversation, or begin anew with Force Fresh Restart.',
        ],
        undefined,
      ],
    );
    await rejects(finder().preview(story.agent()), /Choose with Resume Other Conversation/);
  });

  it('goes by the cwd inside, not by the folder, which several directories share (case 15)', async () => {
    write(1, said('/work-ada'));
    write(2, said('/work/ada'));
    write(3, said('/work.ada') + said('/work/ada'));
    write(4, said('/work/ada/src'));
    deepStrictEqual(await settled(), id(2));
  });

  it('is not misled by first lines of other kinds, torn lines, NULs, U+2028 and a torn end (case 14)', async () => {
    const good = said(here, 'before\u2028after');
    write(
      1,
      line({ type: 'pr-link' }) +
        line({ type: 'file-history-snapshot', snapshot: { cwd: '/work/other' } }) +
        `${good.slice(0, 30)}\n${good.trimEnd()}${good}${'\0'.repeat(200)}\n` +
        good +
        good.slice(0, 40),
    );
    // Torn before a directory was told; says nothing; another directory behind NULs.
    write(2, good.slice(0, 30));
    write(3, line({ type: 'mode' }));
    write(4, `${'\0'.repeat(300)}${said(here)}`);
    write(5, '');
    deepStrictEqual(await settled(), id(1));
  });

  it('passes over what is no file: a directory, a pipe, a loop of links, a link to nothing, other names', async () => {
    mkdirSync(join(folder, `${id(2)}.jsonl`));
    symlinkSync(join(folder, `${id(3)}.jsonl`), join(folder, `${id(3)}.jsonl`));
    symlinkSync('/nowhere/at/all', join(folder, `${id(4)}.jsonl`));
    execFileSync('mkfifo', [join(folder, `${id(5)}.jsonl`)]);
    writeFileSync(join(folder, 'agent-7.jsonl'), said(here));
    writeFileSync(join(folder, id(6)), said(here));
    deepStrictEqual(await settled(), undefined);
    write(1, said(here));
    deepStrictEqual(await settled(), id(1));
  });

  it('does not decide where something cannot be read', async () => {
    // Root may read any file: a link to a name that is too long stands for one that may not be read.
    symlinkSync(join(folder, 'x'.repeat(300)), join(folder, `${id(2)}.jsonl`));
    const alone = await refusal();
    write(1, said(here));
    const beside = await refusal();
    deepStrictEqual(
      [alone?.[0], beside?.[0], story.agent().session],
      ['transcripts-unreadable', 'conversation-ambiguous', undefined],
    );
    deepStrictEqual(
      [alone?.[1].replace(/\(.*\)/, '(...)'), beside?.[1]],
      [
        `Whether ada has a conversation cannot be known: FOLDER/${id(2)}.jsonl cannot be read (...). Mend that, or begin ` +
          'anew with Force Fresh Restart.',
        'The record of ada names no conversation, and 1 in /work/ada can be its own (and 1 cannot be read). Choose with ' +
          'Resume Other Conversation, or begin anew with Force Fresh Restart.',
      ],
    );
  });

  it('passes over one whose last turns fail (case 17), one in use by a living process (case 18), and older ones', async () => {
    write(1, said(here) + bad + said(here) + bad);
    write(2, said(here));
    write(3, said(here), 1);
    const sessions = join(home, '.claude', 'sessions');
    mkdirSync(sessions);
    const claim = (pid: number, sessionId: string, procStart: string): void => {
      writeFileSync(join(sessions, `${pid}.json`), JSON.stringify({ pid, sessionId, procStart }));
    };
    const start = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[19] ?? '';
    claim(process.pid, id(2), start);
    deepStrictEqual(await settled(), undefined);
    const rows = await conversationsFor(story.state, story.agent(), { HOME: home });
    deepStrictEqual(
      rows.map(({ sessionId, objection }) => [sessionId, objection]),
      [
        [id(1), 'each of its turns fails'],
        [id(2), `in use by process ${process.pid}`],
        [id(3), 'older than ada'],
      ],
    );
    // The pid is another process's by now.
    claim(process.pid, id(2), '1');
    deepStrictEqual(await settled(), id(2));
  });

  it('looks for one id only where the record has it and only its first prompt is missing', async () => {
    story = FleetStory.bound();
    story.hook({ event: 'SessionStart', source: 'clear', sessionId: id(1) });
    story.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
    write(2, said(here));
    const without = [await refusal(), story.agent().session?.prompted];
    write(1, said(here), 1);
    await finder().settle(story.agent());
    deepStrictEqual(
      [without, story.agent().session?.prompted, story.agent().session?.cause],
      [[undefined, false], true, 'clear'],
    );
  });

  it('reads heads and tails only, so that a large file costs no more', async () => {
    const path = write(1, said(here));
    truncateSync(path, 3 * 1024 ** 3);
    utimesSync(path, 2_000, 2_000);
    deepStrictEqual(await settled(), id(1));
  });
});
