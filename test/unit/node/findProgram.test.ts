import { deepStrictEqual } from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { findProgram } from '../../../src/node/findProgram.ts';

describe('the search for a program (case 29)', () => {
  let root: string;
  const below = (name: string): string => path.join(root, name);

  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'bowline-find-'));
    for (const directory of ['path', 'usual', 'shell']) await mkdir(below(directory));
  });

  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  async function program(file: string, text = '#!/bin/sh\n'): Promise<void> {
    await writeFile(below(file), text);
    await chmod(below(file), 0o700);
  }

  /** A login shell that prints a greeting and, where it is asked in the `wanted` way, an answer. */
  async function loginShell(wanted: string, answer: string): Promise<void> {
    const lines = [
      '#!/bin/sh',
      'echo hello from the start files',
      `[ "$1" = "${wanted}" ] && echo ${answer}`,
      'exit 0',
    ];
    await program('login-shell', lines.join('\n'));
  }

  const find = (name = 'claude'): Promise<string | undefined> =>
    findProgram(name, {
      environment: { PATH: `relative:${below('path')}`, SHELL: below('login-shell') },
      usualPlaces: [below('usual')],
    });

  it('takes PATH first, then the usual places, then the login shell, plain before interactive', async () => {
    const found: (string | undefined)[] = [];
    await loginShell('-lic', below('shell/claude'));
    found.push(await find());
    await program('shell/claude');
    found.push(await find());
    await program('usual/claude');
    found.push(await find());
    await program('path/claude');
    found.push(await find());
    deepStrictEqual(
      found,
      [undefined, 'shell/claude', 'usual/claude', 'path/claude'].map((file) => file && below(file)),
    );
  });

  it('passes over what cannot be run, and never brings an odd name before a shell', async () => {
    await loginShell('-lc', below('shell/claude'));
    await program('shell/claude');
    await mkdir(below('path/claude'));
    await writeFile(below('usual/claude'), 'not executable');
    deepStrictEqual([await find(), await find('claude; true')], [below('shell/claude'), undefined]);
  });
});
