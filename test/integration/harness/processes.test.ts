import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { endProcesses, findProcesses } from '../../harness/processes.mjs';
import { waitFor } from '../../harness/waitFor.ts';

describe('processes of a private directory', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'bowline-processes-'));
  });
  afterEach(async () => {
    await endProcesses(directory);
    await rm(directory, { recursive: true });
  });

  const detached = { detached: true, stdio: 'ignore' } as const;
  const found = (): string[] =>
    findProcesses(directory)
      .map(({ command }) => command.replaceAll(directory, 'DIR'))
      .sort();

  it('are found by environment, arguments, working directory and parent, and all end', async () => {
    spawn('sleep', ['101'], { ...detached, env: { HOME: directory } }).unref();
    spawn('sleep', ['102'], { ...detached, env: {}, cwd: directory }).unref();
    execFileSync('tmux', ['-S', path.join(directory, 's'), '-f', '/dev/null', 'new-session', '-d', 'sleep 103'], {
      env: { PATH: process.env['PATH'] },
    });
    spawn('sleep', ['104'], { ...detached, env: {} }).unref();
    const expected = ['sleep 101', 'sleep 102', 'sleep 103', 'tmux -S DIR/s -f /dev/null new-session -d sleep 103'];
    await waitFor('every process', () => expected.every((command) => found().includes(command)));
    const before = found();
    await endProcesses(directory);
    const stranger = findProcesses('sleep').find(({ command }) => command === 'sleep 104');
    if (stranger !== undefined) process.kill(stranger.pid);
    assert.deepStrictEqual([before, found(), stranger?.command], [expected, [], 'sleep 104']);
  });

  it('end even if they do not want to, or are started again by a supervisor', async () => {
    const child = `sleep 105.${process.pid}`;
    const loop = `trap "" TERM; while true; do ${child}; done`;
    spawn('sh', ['-c', loop, directory], detached).unref();
    await waitFor('the loop and its child', () => found().includes(child));
    await endProcesses(directory, { patienceMs: 200 });
    assert.deepStrictEqual([found(), findProcesses(child)], [[], []]);
  });
});
