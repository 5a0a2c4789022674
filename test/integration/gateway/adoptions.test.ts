import { deepStrictEqual, rejects } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { projectFolderName } from '../../../src/core/claude/transcript.ts';
import { Adoptions } from '../../../src/gateway/adoptions.ts';
import type { FleetPort } from '../../../src/gateway/ports.ts';
import { processIdentity } from '../../../src/node/processIdentity.ts';
import type { ForeignRow } from '../../../src/protocol/adoption.ts';
import { FleetStory } from '../../harness/fleetStory.ts';
import { waitFor } from '../../harness/waitFor.ts';

const id = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;

/** It does not end when it is asked to, until `last` is written in its directory. */
const stubborn = 'trap "" TERM; while [ ! -e last ]; do sleep 0.05; done';

/** Stand-ins for claude (shells that only stay), with live-session files and transcripts as Claude writes them. */
describe('the adoption of foreign claudes (stand-ins)', function () {
  this.timeout(60_000);
  let root: string;
  let directory: string;
  let story: FleetStory;
  let adoptions: Adoptions;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    root = await realpath(await mkdtemp(path.join(tmpdir(), 'bowline-adopt-')));
    directory = path.join(root, 'site');
    for (const name of ['claude/sessions', `claude/projects/${projectFolderName(directory)}`, 'site']) {
      await mkdir(path.join(root, name), { recursive: true });
    }
    story = new FleetStory();
    adoptions = adoptionsOf(story.port);
  });
  afterEach(async () => {
    adoptions.dispose();
    for (const child of children.splice(0)) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGKILL');
      await ended;
    }
    await rm(root, { recursive: true, force: true });
  });

  const fleetSocket = (): string => path.join(root, 'fleet.sock');
  const adoptionsOf = (fleet: FleetPort, endWithin?: number): Adoptions =>
    new Adoptions({
      ...{ fleet, clock: () => story.now, log: silentLog, fleetSocket: fleetSocket() },
      environment: { CLAUDE_CONFIG_DIR: path.join(root, 'claude') },
      ...(endWithin !== undefined && { endWithin }),
    });

  /** Writes what Claude says of the process. */
  const tell = async (pid: number, fields: object = {}): Promise<void> => {
    const procStart = (await processIdentity(pid))?.startTime.split(':').at(-1);
    const now = { startedAt: 1_000, updatedAt: 2_000, version: '2.1.332', kind: 'interactive', status: 'idle' };
    const text = JSON.stringify({ pid, sessionId: id(7), cwd: directory, procStart, ...now, ...fields });
    await writeFile(path.join(root, 'claude', 'sessions', `${pid}.json`), text);
  };
  const say = (session: string): Promise<void> => {
    const line = { type: 'user', cwd: directory, message: { role: 'user', content: 'the first words' } };
    const file = path.join(root, 'claude', 'projects', projectFolderName(directory), `${session}.jsonl`);
    return writeFile(file, `${JSON.stringify(line)}\n`);
  };
  /** Starts a stand-in and resolves with its row. */
  const start = async (script = 'exec sleep 600', variables: object = {}, fields: object = {}): Promise<ForeignRow> => {
    const env = { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...variables };
    const child = spawn('/bin/sh', ['-c', script], { cwd: directory, env, stdio: 'ignore' });
    children.push(child);
    await once(child, 'spawn');
    await tell(child.pid ?? 0, fields);
    await say(id(7));
    return found(child.pid);
  };
  const found = async (pid: number | undefined): Promise<ForeignRow> => {
    const row = (await adoptions.list()).find((one) => one.pid === pid);
    if (row === undefined) throw new Error(`process ${pid} is not listed`);
    return row;
  };
  const adopt = ({ pid, sessionId, startTime = '' }: ForeignRow, name = 'ada', by = adoptions): Promise<void> =>
    by.adopt({ kind: 'adopt', name, pid, startTime, sessionId }, 'window');
  const isAlive = async ({ pid }: ForeignRow): Promise<boolean> => (await processIdentity(pid)) !== undefined;
  const notices = (): readonly string[] =>
    story.state.notices.map(({ severity, sentence }) => `${severity}: ${sentence}`);
  const byHand = (): string => `By hand it goes on so: cd ${directory} && claude --resume ${id(7)}`;

  it('lists what is known of each, and why one cannot be adopted; Bowline\u2019s own are not listed', async () => {
    const idle = await start();
    const busy = await start(undefined, {}, { status: 'busy', sessionId: id(8), startedAt: 3_000 });
    await say(id(8));
    const other = await start(
      undefined,
      { TMUX: '/elsewhere/fleet.sock,12,0', BOWLINE_AGENT: 'eve', BOWLINE_LAUNCH: 'eve.1' },
      { sessionId: id(9) },
    );
    story.create().request();
    await start(undefined, { TMUX: `${fleetSocket()},12,0`, BOWLINE_LAUNCH: 'ada.1' }).catch(() => undefined);
    const rows = await adoptions.list();
    deepStrictEqual(
      rows.map(({ startTime: _opaque, ...row }) => row),
      [
        {
          ...{ pid: idle.pid, sessionId: id(7), directory, version: '2.1.332', status: 'idle', startedAt: 1_000 },
          ...{ firstPrompt: 'the first words', name: 'site' },
          refused: `Process ${children[3]?.pid} works on the same conversation. End one of the two in its terminal.`,
        },
        {
          ...{ pid: busy.pid, sessionId: id(8), directory, version: '2.1.332', status: 'busy', startedAt: 3_000 },
          ...{
            firstPrompt: 'the first words',
            name: 'site',
            refused: 'It works on a turn. Wait until that has ended.',
          },
        },
        {
          ...{ pid: other.pid, sessionId: id(9), directory, version: '2.1.332', status: 'idle', startedAt: 1_000 },
          ...{ name: 'site' },
          refused:
            'It belongs to another Bowline fleet (agent eve), with the tmux socket /elsewhere/fleet.sock. Work with it there.',
        },
      ].sort((a, b) => b.startedAt - a.startedAt),
    );
  });

  it('records the agent, asks the process to end, and starts the agent only when that is gone', async () => {
    const row = await start(stubborn);
    await adopt(row);
    const { session, adoption, life } = story.agent();
    deepStrictEqual(
      [session?.id, session?.prompted, adoption?.pid, life.kind, await isAlive(row)],
      [id(7), true, row.pid, 'stopped', true],
    );
    await writeFile(path.join(directory, 'last'), '');
    await waitFor('the launch', () => story.agent().life.kind === 'launching');
    const { life: now, configuration } = story.agent();
    const launch = now.kind === 'launching' ? now.launch : undefined;
    deepStrictEqual(
      [await isAlive(row), launch?.mode, launch?.expectedSessionId, launch?.cause, configuration.directory],
      [false, 'resume', id(7), 'person', directory],
    );
    await waitFor('the notice', () => notices().length > 0);
    deepStrictEqual(notices(), [
      `info: Process ${row.pid} has ended, and ada goes on with its conversation. ${byHand()}`,
    ]);
  });

  it('refuses what is not idle, is another process or another conversation by now; nothing is ended and nothing recorded', async () => {
    const row = await start();
    await tell(row.pid, { status: 'busy' });
    await rejects(
      adopt(row),
      /was not adopted, and nothing was ended\. It works on a turn\. Wait until that has ended\.$/,
    );
    await tell(row.pid, { sessionId: id(8) });
    await rejects(adopt(row), /nothing was ended\. It works on another conversation by now\./);
    await tell(row.pid);
    await rejects(adopt({ ...row, startTime: 'proc:boot:1' }), /nothing was ended\. It is not there any more\./);
    deepStrictEqual([await isAlive(row), story.state.agents], [true, {}]);
  });

  it('looks again when the agent is on record: one that became busy meanwhile goes on, and the agent is taken back', async () => {
    const row = await start();
    const slow = story.portDuring(() => tell(row.pid, { status: 'busy' }));
    await rejects(adopt(row, 'ada', adoptionsOf(slow)), /nothing was ended\. It works on a turn/);
    const told = story.state.audit.map((record) => ('what' in record ? record.what : record.action));
    deepStrictEqual([await isAlive(row), story.state.agents, told], [true, {}, ['life', 'adoption ended', 'life']]);
  });

  it('ends nothing when the disk does not take the record of the agent', async () => {
    const row = await start();
    const full = story.portDuring(() => Promise.reject(new Error('the disk is full')));
    await rejects(adopt(row, 'ada', adoptionsOf(full)), /the disk is full/);
    deepStrictEqual([await isAlive(row), story.state.agents], [true, {}]);
  });

  it('starts nothing beside a process that does not end, and says so; the agent keeps the conversation', async () => {
    const row = await start(stubborn);
    await adopt(row, 'ada', adoptionsOf(story.port, 300));
    await waitFor('the notice', () => notices().length > 0);
    const { life, session, adoption } = story.agent();
    deepStrictEqual(
      [await isAlive(row), life.kind, session?.id, adoption, notices()],
      [
        ...[true, 'stopped', id(7), undefined],
        [
          `error: ada was not started: process ${row.pid} was asked to end and still runs after 0 s. ` +
            `End it in its terminal, then use Resume on ada. ${byHand()}`,
        ],
      ],
    );
  });

  it('starts nothing that was called off while the process was ending, and tells the way back to what was removed', async () => {
    const row = await start(stubborn);
    await adopt(row);
    story.tell({ kind: 'adoption ended', name: 'ada', detail: 'called off' });
    await rejects(adopt(row, 'bo'), /Its conversation is one of the agent ada\./);
    // Where it began again, what was called off would begin beside it.
    await writeFile(path.join(directory, 'last'), '');
    await waitFor('its end', async () => !(await isAlive(row)));
    await rm(path.join(directory, 'last'));
    const again = await start(stubborn, {}, { sessionId: id(8) });
    await say(id(8));
    await adopt(again, 'bo');
    story.tell({ kind: 'agent removed', name: 'bo' });
    await waitFor('the notice', () => notices().length > 0);
    deepStrictEqual(
      [story.agent().life, story.agent().launchCount, notices()],
      [
        ...[{ kind: 'stopped', at: story.now, detail: 'called off' }, 0],
        [
          `warning: Process ${again.pid} was asked to end for bo, which was removed meanwhile. ` +
            byHand().replace(id(7), id(8)),
        ],
      ],
    );
  });

  it('goes on where a former run of the gateway began it', async () => {
    const row = await start(stubborn);
    await adopt(row);
    adoptions.dispose();
    const next = adoptionsOf(story.port);
    next.begin();
    await writeFile(path.join(directory, 'last'), '');
    await waitFor('the launch', () => story.agent().life.kind === 'launching');
    next.dispose();
    deepStrictEqual([story.agent().launchCount, await isAlive(row)], [1, false]);
  });

  it('gives a lost launch its own name back, because its terminal has that', async () => {
    const row = await start(undefined, { TMUX: `${fleetSocket()},12,0`, BOWLINE_AGENT: 'bo', BOWLINE_LAUNCH: 'bo.4' });
    await rejects(
      adopt(row),
      /nothing was ended\. It lives in the tmux session bo of Bowline\. Give the agent that name\./,
    );
    deepStrictEqual([row.name, row.refused, story.state.agents], ['bo', undefined, {}]);
  });
});
