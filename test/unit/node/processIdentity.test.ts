import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { isSameProcess, isWithin, parseProcStat, processIdentity } from '../../../src/node/processIdentity.ts';
import { waitFor } from '../../harness/waitFor.ts';

const run = promisify(execFile);

describe('processIdentity', () => {
  it('reads state, parent and start time behind any name', () => {
    const rest = (state: string): string => `${state} 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21`;
    assert.deepStrictEqual(
      [
        parseProcStat(`12 (node) ${rest('S')}\n`),
        parseProcStat(`12 (a b) S 1 (x)) (1 2) 3) ${rest('Z')}`),
        parseProcStat(`12 (() ${rest('R')}`),
        parseProcStat('12 (node) S 1'),
        parseProcStat(''),
      ],
      [
        { state: 'S', parent: 1, group: 2, startTicks: '4711' },
        { state: 'Z', parent: 1, group: 2, startTicks: '4711' },
        { state: 'R', parent: 1, group: 2, startTicks: '4711' },
        undefined,
        undefined,
      ],
    );
  });

  it('knows a living process, a later one under its pid, and a dead one', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const pid = child.pid ?? 0;
    const identity = await processIdentity(pid);
    assert.ok(identity);
    const alive = await isSameProcess(identity);
    const later = await isSameProcess({ pid, startTime: `${identity.startTime}1` });
    const otherMethod = await isSameProcess({ pid, startTime: 'other:1' });
    child.kill('SIGKILL');
    await waitFor('the end of the process', () => child.signalCode);
    assert.deepStrictEqual(
      { alive, later, otherMethod, dead: await isSameProcess(identity), none: await processIdentity(pid) },
      { alive: 'alive', later: 'gone', otherMethod: 'unknown', dead: 'gone', none: undefined },
    );
  });

  it('counts a zombie as gone', async () => {
    // The shell becomes `sleep`, which never reaps the child that the shell started. Only then the child may end.
    const parent = spawn('sh', ['-c', 'sh -c "read -r line <&3" & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    try {
      const [, stdout, , gate] = parent.stdio;
      assert.ok(stdout !== null && gate instanceof Writable);
      let output = '';
      stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      const pid = await waitFor('the pid', () => Number(output) || undefined);
      await waitFor('the shell to be `sleep`', async () => {
        const { stdout: command } = await run('ps', ['-o', 'comm=', '-p', String(parent.pid)]);
        return /sleep\s*$/.test(command);
      });
      gate.end('go\n');
      await waitFor('the zombie', async () => !(await processIdentity(pid)));
      process.kill(pid, 0);
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('knows what was started below a process', async () => {
    const parent = spawn('sh', ['-c', 'sh -c "echo \\$\\$; sleep 60; true"; true'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const pid = parent.pid ?? 0;
    try {
      let output = '';
      parent.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      const below = await waitFor('the pid', () => Number(output) || undefined);
      const within = [
        [below, below],
        [below, pid],
        [below, process.pid],
        [pid, below],
        [below, 99_999_999],
      ] as const;
      assert.deepStrictEqual(await Promise.all(within.map(([one, of]) => isWithin(one, of))), [
        true,
        true,
        true,
        false,
        false,
      ]);
      process.kill(below);
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('takes no nonsense for a process', async () => {
    assert.deepStrictEqual(
      await Promise.all([0, -1, 1.5, Number.NaN, 2 ** 30].map((pid) => isSameProcess({ pid, startTime: 'proc:x:1' }))),
      ['gone', 'gone', 'gone', 'gone', 'gone'],
    );
  });
});
