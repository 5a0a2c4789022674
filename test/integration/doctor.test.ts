import { deepStrictEqual, match, rejects } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { emptyFleet } from '../../src/core/fleet/state.ts';
import type { DoctorLine } from '../../src/core/doctor/line.ts';
import { type DoctorOptions, examine } from '../../src/node/doctor/doctor.ts';
import { statePaths } from '../../src/node/statePaths.ts';
import { claudeBinary } from '../harness/claude.ts';

const require = createRequire(__filename);

describe('the Doctor on a real machine', function () {
  this.timeout(60_000);
  let directory: string;
  let shell: string;

  beforeEach(async () => {
    directory = await realpath(await mkdtemp(path.join(os.tmpdir(), 'bowline-doctor-')));
    await mkdir(path.join(directory, 'home/bin'), { recursive: true });
    await mkdir(path.join(directory, 'work'));
    // A fake login shell, so that what the person's own one says does not matter.
    shell = path.join(directory, 'shell');
    await program(shell, `PATH="${path.join(directory, 'home/bin')}:$PATH"; shift; eval "$1"`);
  });
  afterEach(() => rm(directory, { recursive: true }));

  async function program(file: string, text: string): Promise<void> {
    await writeFile(file, `#!/bin/sh\n${text}\n`);
    await chmod(file, 0o755);
  }

  function options(more: Partial<DoctorOptions> = {}): DoctorOptions {
    return {
      paths: statePaths(path.join(directory, 'state')),
      environment: { HOME: path.join(directory, 'home'), PATH: '/usr/bin:/bin', SHELL: shell },
      settings: { claudePath: claudeBinary('2.1.332'), environment: {}, healing: 'auto' },
      state: emptyFleet,
      gateway: { connection: { kind: 'away', since: 0, reason: 'it was not needed yet' }, wanted: 'no' },
      workspace: 'trusted',
      folders: [path.join(directory, 'work')],
      loadPty: () => require('node-pty') as unknown,
      facts: ['System: a test'],
      now: Date.now,
      signal: new AbortController().signal,
      say: () => undefined,
      ...more,
    };
  }

  const verdicts = (lines: readonly DoctorLine[]): Record<string, string> =>
    Object.fromEntries(lines.map(({ subject, verdict }) => [subject, verdict]));
  const textOf = (lines: readonly DoctorLine[], subject: string): string =>
    lines.find((line) => line.subject === subject)?.text ?? '';

  it('finds all well with the real tmux, claude and node-pty, changes nothing, and tells no key', async () => {
    const key = 'sk-test-of-the-doctor-0123456789-abcdefghij';
    const answers = {
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
      projects: { [directory]: { hasTrustDialogAccepted: true } },
    };
    await writeFile(path.join(directory, 'home/.claude.json'), JSON.stringify(answers));
    const said: string[] = [];
    const environment = { ...options().environment, ANTHROPIC_API_KEY: key };
    const { lines, report } = await examine(options({ environment, say: (message) => said.push(message) }));
    deepStrictEqual(verdicts(lines), {
      PATH: 'note',
      tmux: 'good',
      claude: 'good',
      login: 'good',
      trust: 'good',
      'MCP configuration': 'good',
      gateway: 'good',
      'node-pty': 'good',
      directories: 'good',
    });
    match(textOf(lines, 'claude'), /Claude Code 2\.1\.332 at /);
    match(textOf(lines, 'PATH'), /lacks \S+\/home\/bin of your login shell/);
    match(said[0] ?? '', /^waiting for tmux, claude, /);
    deepStrictEqual(
      [report.includes(key), report.includes(key.slice(-20)), await readdir(path.join(directory, 'home'))],
      [false, false, ['.claude.json', 'bin']],
    );
  });

  it('tells what is missing, with a way to mend it', async () => {
    await mkdir(path.join(directory, 'state'), { mode: 0o755 });
    await writeFile(path.join(directory, 'work/.mcp.json'), '{ "mcpServers": { "docs": {} }');
    const { lines } = await examine(
      options({
        settings: { claudePath: '/nowhere/claude', tmuxPath: '/nowhere/tmux', environment: {}, healing: 'auto' },
        workspace: 'not trusted',
        loadPty: () => {
          throw new Error('no such file');
        },
        gateway: {
          connection: { kind: 'away', since: 0, reason: 'gone' },
          wanted: 'yes',
          startProblem: 'No Node was found.',
        },
      }),
    );
    deepStrictEqual(
      lines.map(({ subject, verdict, fixes: [fix] }) => [subject, verdict, fix?.kind]),
      [
        ['tmux', 'problem', 'open setting'],
        ['claude', 'problem', 'open page'],
        ['login', 'problem', 'type in terminal'],
        ['trust', 'problem', 'manage trust'],
        ['MCP configuration', 'problem', 'open file'],
        ['gateway', 'problem', 'start gateway'],
        ['directories', 'problem', 'make private'],
        ['node-pty', 'note', undefined],
        ['PATH', 'note', 'use PATH'],
      ],
    );
  });

  it('gives each check its time, and ends what it started', async () => {
    const mark = path.join(directory, 'slow');
    await program(mark, 'exec sleep 600');
    await program(shell, `exec ${mark}`);
    const settings = { claudePath: mark, environment: {}, healing: 'auto' } as const;
    const { lines } = await examine(options({ settings, limitMs: 1_000 }));
    deepStrictEqual(
      ['claude', 'PATH'].map((subject) => [verdicts(lines)[subject], /longer than 1 s/.test(textOf(lines, subject))]),
      [
        ['unknown', true],
        ['unknown', true],
      ],
    );
    deepStrictEqual(spawnSync('pgrep', ['-f', mark]).stdout.toString(), '');
  });

  it('stops when it is cancelled', async () => {
    await program(shell, 'exec sleep 600');
    const cancel = new AbortController();
    const work = examine(
      options({
        signal: cancel.signal,
        say: (message) => {
          if (message === 'waiting for PATH') cancel.abort(new Error('cancelled by the person'));
        },
      }),
    );
    await rejects(work, /cancelled by the person/);
  });
});
