import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type HolderPrograms, HolderRig, bundleHolderPrograms } from '../harness/holderRig.ts';

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

function run(program: string, argv: readonly string[], environment: NodeJS.ProcessEnv, cwd = '/'): Promise<Run> {
  const began = performance.now();
  const child = spawn(program, argv, { env: environment, cwd });
  child.stdin.on('error', () => undefined).end('payload');
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (part: Buffer) => (output.stdout += part.toString()));
  child.stderr.on('data', (part: Buffer) => (output.stderr += part.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, ...output, milliseconds: performance.now() - began });
    });
  });
}

describe('launcher', function () {
  this.timeout(60_000);
  let programs: HolderPrograms;
  let rig: HolderRig;
  before(async () => {
    programs = await bundleHolderPrograms();
  });
  after(() => {
    programs.dispose();
  });
  beforeEach(() => {
    rig = new HolderRig(programs);
  });
  afterEach(() => rig.dispose());

  /** A Node that answers with this version, and runs programs as the real one. */
  async function fakeNode(name: string, version: string): Promise<string> {
    const path = join(rig.paths.directory, name);
    const major = version.split('.').map(Number);
    const asked = `case $1 in -e) [ ${major[0] ?? 0} -gt 20 ] || [ ${major[0] ?? 0} -eq 20 -a ${major[1] ?? 0} -ge 19 ]; exit;; esac`;
    await writeFile(path, `#!/bin/sh\n${asked}\necho "ran by ${name}"\nexec "${process.execPath}" "$@"\n`);
    await chmod(path, 0o700);
    return path;
  }

  it('runs the hook with its arguments, its input and its own state directory within a second', async () => {
    await rig.install();
    const runs: Run[] = [];
    for (let count = 0; count < 5; count++) {
      runs.push(await run(rig.paths.launcher, ['hook', 'a b', '$(c)'], { BOWLINE_HOME: '/elsewhere' }));
    }
    assert.deepStrictEqual(
      runs.map(({ code, stdout, stderr }) => ({ code, stdout, stderr })),
      Array.from({ length: 5 }, () => ({
        code: 0,
        stdout: `a b,$(c) ${rig.paths.directory} payload\n`,
        stderr: '',
      })),
    );
    // The fastest one: the others tell how busy the machine is.
    assert.ok(Math.min(...runs.map(({ milliseconds }) => milliseconds)) < 1000);
  });

  it('finds its directory however it is called, also with a space and a quote in it', async () => {
    await rig.install();
    const strange = join(rig.paths.directory, "it's here");
    await symlink('.', strange);
    const runs = [
      await run(join(strange, 'launcher'), ['hook'], {}),
      await run('sh', ['launcher', 'hook'], {}, rig.paths.directory),
      await run('./launcher', ['hook'], {}, rig.paths.directory),
      await run(
        join('..', rig.paths.directory.slice(dirname(rig.paths.directory).length + 1), 'launcher'),
        ['hook'],
        {},
        rig.paths.directory,
      ),
    ];
    const own = ` ${rig.paths.directory} payload\n`;
    assert.deepStrictEqual(
      runs.map(({ stdout }) => stdout),
      [` ${strange} payload\n`, own, own, own],
    );
  });

  it('takes the first Node that still exists, then one of PATH if it is new enough', async () => {
    const environment = { PATH: rig.paths.directory, HOME: rig.paths.directory };
    const first = await fakeNode('first', '20.19.0');
    const second = await fakeNode('second', '20.19.0');
    await rig.install({ nodes: ['/gone/code', first, second] });
    const ranBy = async (): Promise<string> =>
      (await run(rig.paths.launcher, ['hook'], environment)).stdout.split('\n')[0] ?? '';
    const seen = [await ranBy()];
    await rm(first);
    seen.push(await ranBy());
    await rm(second);
    const onPath = await fakeNode('node', '20.19.0');
    seen.push(await ranBy());
    await fakeNode('node', '20.18.3');
    const old = await ranBy();
    await rm(onPath);
    assert.deepStrictEqual([seen, old === 'ran by node'], [['ran by first', 'ran by second', 'ran by node'], false]);
  });

  it('says what is missing with 127, but never disturbs Claude from a hook', async () => {
    const directory = await rig.install();
    const both = async (): Promise<unknown[]> => {
      const [hook, holder] = [
        await run(rig.paths.launcher, ['hook'], {}),
        await run(rig.paths.launcher, ['holder'], {}),
      ];
      return [
        hook.code,
        hook.stdout + hook.stderr,
        holder.code,
        holder.stderr.replaceAll(rig.paths.directory, '<state>'),
      ];
    };
    await rename(directory, `${directory}.moved`);
    const noProgram = await both();
    await rm(rig.paths.currentVersion);
    const noVersion = await both();
    await writeFile(rig.paths.currentVersion, '../..\n');
    const outside = await both();
    const usage = await run(rig.paths.launcher, ['other'], {});
    const named = directory.replace(rig.paths.directory, '<state>');
    const none = 'Bowline: no version is installed in <state>/versions. Open VS Code with Bowline once.\n';
    assert.deepStrictEqual(
      { noProgram, noVersion, outside, usage: [usage.code, usage.stderr] },
      {
        noProgram: [0, '', 127, `Bowline: ${named}/holder.js is missing. Open VS Code with Bowline once.\n`],
        noVersion: [0, '', 127, none],
        outside: [0, '', 127, none],
        usage: [127, 'Bowline: usage: launcher holder | hook <arguments> | gateway <arguments>\n'],
      },
    );
  });

  it('gives the programs no debugger and no options of the place that it was called from', async () => {
    await rig.install();
    const { code, stdout } = await run(rig.paths.launcher, ['hook'], { NODE_OPTIONS: '--require /nowhere.js' });
    assert.deepStrictEqual([code, stdout], [0, ` ${rig.paths.directory} payload\n`]);
  });
});
