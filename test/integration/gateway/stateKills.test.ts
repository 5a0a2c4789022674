import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { silentLog } from '../../../src/base/log.ts';
import { loadState } from '../../../src/gateway/stateStore.ts';
import { statePaths } from '../../../src/node/statePaths.ts';
import { bundlePrograms } from '../../harness/bundle.ts';
import { created, JournaledFleet } from '../../harness/journaledFleet.ts';

describe('the state on disk, when its writer is killed with -9', function () {
  this.timeout(180_000);
  let root: string;
  let program: string;
  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'bowline-kills-'));
    await bundlePrograms({
      entryPoints: { journalMain: join(__dirname, '../../harness/journalMain.ts') },
      directory: root,
    });
    program = join(root, 'journalMain.js');
  });
  after(() => {
    rmSync(root, { recursive: true, force: true });
  });

  /** Resolves with what the writer told to be on disk, and how it ended. */
  const run = (directory: string, step: number): Promise<{ told: string[]; killed: boolean }> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [program, directory, String(step)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
      child.on('error', reject);
      child.on('close', (code, signal) => {
        if (code !== 0 && signal !== 'SIGKILL') reject(new Error(`the writer ended with ${code ?? signal}`));
        else resolve({ told: output.split('\n').filter(Boolean), killed: signal === 'SIGKILL' });
      });
    });

  /** A kill at that step, a look, and a second run that goes on from what is there. */
  const round = async (step: number): Promise<{ isLast: boolean; faults: unknown[] }> => {
    // Spaces and letters beyond ASCII: nothing in between may quote or fold them.
    const paths = statePaths(join(root, `État de l’ami ${step} 状態`));
    const { told, killed } = await run(paths.directory, step);
    const second = await JournaledFleet.open(paths);
    await second.commit(created('second'));
    const third = await loadState(paths, silentLog);
    const known = Object.keys(third.state.agents);
    const lost = [...told, 'second'].filter((name) => !known.includes(name));
    const notices = [...second.loaded.notices, ...third.notices];
    const odd = notices.filter(({ code }) => code !== 'journal-torn');
    const damaged = readdirSync(paths.directory).filter((name) => name.includes('damaged'));
    const isSame = isDeepStrictEqual(third.state, second.state);
    await second.journal.seal();
    rmSync(paths.directory, { recursive: true, force: true });
    const isGood = isSame && lost.length + odd.length + damaged.length === 0;
    return { isLast: !killed, faults: isGood ? [] : [{ step, isSame, lost, odd, damaged }] };
  };

  it('holds all that was answered for, at every step of every write, and goes on from there', async () => {
    const faults: unknown[] = [];
    let steps = 0;
    for (let done = false; !done;) {
      const rounds = await Promise.all([round(steps), round(steps + 1)]);
      faults.push(...rounds.flatMap((one) => one.faults));
      done = rounds.some(({ isLast }) => isLast);
      steps += 2;
    }
    assert.deepStrictEqual({ faults, many: steps > 30 }, { faults: [], many: true }, `${steps} steps`);
  });
});
