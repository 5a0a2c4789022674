import { deepStrictEqual, match } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { alarmsOf } from '../../../src/core/fleet/alarms.ts';
import { isSameProcess, processIdentity } from '../../../src/node/processIdentity.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { HandsRig } from './handsRig.ts';

const sessionId = '7c1d68b9-acb0-4c7e-9f4e-0a5c1f0f2b11';

/** The real hands on a real tmux, with stand-ins for claude that only stay, and live-session files as Claude writes them. */
describe('two processes on one conversation (case 18)', function () {
  this.timeout(120_000);
  let rig: HandsRig;
  let sessions: string;
  let other: ChildProcess;

  beforeEach(async () => {
    rig = await HandsRig.open((root) => ({
      environment: { ...process.env, CLAUDE_CONFIG_DIR: root },
      othersEndWithin: 500,
    }));
    sessions = path.join(rig.root, 'sessions');
    await mkdir(sessions);
    other = spawn('sleep', ['600']);
    await once(other, 'spawn');
  });
  afterEach(async () => {
    other.kill('SIGKILL');
    await rig.dispose();
  });

  const claim = async (pid: number, id = sessionId, start?: string): Promise<void> => {
    const now = Date.now();
    const startTime = (await processIdentity(pid))?.startTime ?? '';
    const procStart = start ?? startTime.split(':').at(-1);
    const common = { pid, sessionId: id, cwd: rig.root, startedAt: now, procStart, version: '2.1.332' };
    await writeFile(path.join(sessions, `${pid}.json`), JSON.stringify({ ...common, status: 'busy', updatedAt: now }));
  };
  const resume = (program: string): void => {
    rig.launch(program, {}, { mode: 'resume', expectedSessionId: sessionId });
  };
  const codes = (): readonly string[] => alarmsOf(rig.story.agent()).map(({ code }) => code);

  it('is refused before a resume, naming the other one; nothing is ended, and it goes once that one has ended', async () => {
    const program = await rig.program('claude', 'exec sleep 600');
    const identity = await processIdentity(await rig.running(program));
    await claim(rig.pid());
    await claim(other.pid ?? 0);
    resume(program);
    await waitFor('the refusal', () => rig.story.agent().launches.length === 1, { timeoutMs: 30_000 });
    const { life, launches } = rig.story.agent();
    match(
      launches[0]?.detail ?? '',
      new RegExp(`The conversation of ada is in use by another process \\(pid ${other.pid}\\)`),
    );
    deepStrictEqual([life.kind, identity && (await isSameProcess(identity))], ['running', 'alive']);
    process.kill(rig.pid(), 'SIGKILL');
    await rig.until('dead');
    resume(program);
    match(await rig.until('blocked'), /conversation in use: .*End that one, then use Resume/);
    other.kill('SIGKILL');
    await once(other, 'exit');
    resume(program);
    await rig.until('running');
  });

  it('is not seen in what a killed process left behind, in a pid of today, or in a process of the agent itself', async () => {
    const program = await rig.program('claude', 'sleep 600 & echo $! > "$CLAUDE_CONFIG_DIR/child"; wait');
    await rig.running(program);
    await claim(other.pid ?? 0, sessionId, '1');
    await writeFile(path.join(sessions, '99999999.json'), JSON.stringify({ pid: 99_999_999, sessionId }));
    await writeFile(path.join(sessions, '1.json'), '{"pid":');
    const child = await waitFor('the child', async () => {
      return Number(await readFile(path.join(rig.root, 'child'), 'utf8').catch(() => '')) || undefined;
    });
    await claim(child);
    resume(program);
    await waitFor('the restart', () => rig.story.agent().launches[0]?.reason === 'replaced');
  });

  it('is an alarm while it lasts, and what the other one does is not taken for the agent', async () => {
    const program = await rig.program('claude', 'exec sleep 600');
    await rig.running(program);
    rig.story.hook({ event: 'SessionStart', source: 'startup', sessionId });
    rig.hands.fleetChanged();
    await claim(other.pid ?? 0);
    await waitFor('the alarm', () => codes().length > 0);
    deepStrictEqual([codes(), rig.story.agent().activity.kind], [['conversation-shared'], 'idle']);
    await rm(path.join(sessions, `${other.pid}.json`));
    await waitFor('its end', () => codes().length === 0);
  });
});
