import { deepStrictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { processIdentity } from '../../../src/node/processIdentity.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { HandsRig } from './handsRig.ts';

/** The real hands on a real tmux, with a stand-in for claude that only stays, and live-session files as Claude writes them. */
describe('the hands compare what is there with the record', function () {
  this.timeout(120_000);
  let rig: HandsRig;
  let other: ChildProcess;
  beforeEach(async () => {
    rig = await HandsRig.open((root) => ({ environment: { ...process.env, CLAUDE_CONFIG_DIR: root } }));
    await mkdir(path.join(rig.root, 'sessions'));
    other = spawn('sleep', ['600']);
    await once(other, 'spawn');
  });
  afterEach(async () => {
    other.kill('SIGKILL');
    await rig.dispose();
  });

  const claim = async (pid: number, sessionId: string): Promise<void> => {
    const now = Date.now();
    const procStart = (await processIdentity(pid))?.startTime.split(':').at(-1);
    const common = { pid, sessionId, cwd: rig.root, startedAt: now, procStart, version: '2.1.332' };
    const file = path.join(rig.root, 'sessions', `${pid}.json`);
    await writeFile(file, JSON.stringify({ ...common, status: 'idle', updatedAt: now }));
  };
  const differences = (): readonly string[] =>
    rig.story.state.audit.flatMap((one) => {
      return one.action === 'deed' && one.what.startsWith('difference') ? `${one.agent}: ${one.what.slice(12)}` : [];
    });
  const ask = async (): Promise<readonly unknown[]> => {
    rig.story.wait(1).tell({ kind: 'reconcile requested', asker: 'test' });
    rig.hands.fleetChanged();
    const done = await waitFor('the answer', () => rig.story.state.reconciliation?.done, { timeoutMs: 30_000 });
    return [done.differences, done.problem];
  };

  it('when asked, at a start of the gateway and with nothing running; they end nothing', async () => {
    deepStrictEqual(await ask(), [0, undefined]);
    const program = await rig.program('claude', 'exec sleep 600');
    const pid = await rig.running(program);
    const transcriptPath = path.join(rig.root, 'session-1.jsonl');
    rig.story.hook({ event: 'SessionStart', source: 'startup' }, 'ada', 'ada.1');
    rig.story.wait(1).hook({ event: 'UserPromptSubmit', transcriptPath }, 'ada', 'ada.1');
    await claim(pid, 'session-7');
    await claim(other.pid ?? 0, 'session-1');
    await rig.tmux('new-session', '-d', '-s', 'lost', 'sleep 600');
    await rig.tmux('set-option', '-p', '-t', 'lost', '@bowline_launch', 'lost.4');
    await ask();
    const expected = ['lost: pane without record', 'ada: transcript missing', 'ada: other conversation'];
    deepStrictEqual(differences(), expected);
    const { life } = rig.story.agent();
    deepStrictEqual(life.kind === 'running' && [life.running.process.pid, life.running.shared?.pid], [pid, other.pid]);

    // A new run of the gateway looks anew; what is known is not told again.
    await writeFile(transcriptPath, '');
    await claim(pid, 'session-8');
    rig.story.tell({ kind: 'epoch started', epoch: { id: 'epoch-2', startedAt: rig.story.now, port: 'kept open' } });
    rig.hands.setTasks([]);
    await waitFor('the other conversation', () => differences().length === 4, { timeoutMs: 30_000 });
    deepStrictEqual(differences(), [...expected, 'ada: other conversation']);
  });
});
