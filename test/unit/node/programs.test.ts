import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProgramSource, copyPrograms, installPrograms } from '../../../src/node/programs.ts';
import { type StatePaths, statePaths } from '../../../src/node/statePaths.ts';

describe('installPrograms', () => {
  let root: string;
  let dist: string;
  let paths: StatePaths;
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'bowline-install-'));
    dist = join(root, 'dist');
    paths = statePaths(join(root, 'state'));
    await mkdir(dist);
    for (const name of ['holder', 'gateway', 'hook']) await writeFile(join(dist, `${name}.js`), `// ${name}`);
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  const install = (change: Partial<ProgramSource> = {}): Promise<string> =>
    installPrograms({ distDirectory: dist, version: '1.2.3', paths, nodes: ['/opt/node'], ...change });
  const versions = async (): Promise<string[]> => (await readdir(paths.versions)).sort();

  it('copies the programs to a directory named by version and content, and points at it', async () => {
    const directory = await install();
    const name = directory.slice(paths.versions.length + 1);
    assert.deepStrictEqual(
      {
        named: /^1\.2\.3-[0-9a-f]{8}$/.test(name),
        there: await versions(),
        programs: (await readdir(directory)).sort(),
        content: await readFile(join(directory, 'hook.js'), 'utf8'),
        current: await readFile(paths.currentVersion, 'utf8'),
        nodes: await readFile(paths.nodes, 'utf8'),
        modes: [(await stat(paths.launcher)).mode & 0o777, (await stat(paths.directory)).mode & 0o777],
      },
      {
        named: true,
        there: [name, 'current', 'nodes'],
        programs: ['gateway.js', 'holder.js', 'hook.js'],
        content: '// hook',
        current: `${name}\n`,
        nodes: '/opt/node\n',
        modes: [0o700, 0o700],
      },
    );
  });

  it('changes nothing the second time, mends what was damaged, and keeps an older version beside a newer', async () => {
    const first = await install();
    const { ino } = await stat(first);
    const again = await install();
    const kept = (await stat(again)).ino === ino;
    await writeFile(join(first, 'gateway.js'), 'damaged');
    await rm(join(first, 'hook.js'));
    await install();
    const mended = await Promise.all(['gateway', 'hook'].map((name) => readFile(join(first, `${name}.js`), 'utf8')));
    await writeFile(join(dist, 'gateway.js'), '// rebuilt');
    const second = await install();
    assert.deepStrictEqual(
      {
        same: first === again,
        kept,
        mended,
        other: second === first,
        old: await readFile(join(first, 'gateway.js'), 'utf8'),
      },
      { same: true, kept: true, mended: ['// gateway', '// hook'], other: false, old: '// gateway' },
    );
  });

  it('works from several windows at once', async () => {
    const directories = new Set(await Promise.all(Array.from({ length: 8 }, () => install())));
    assert.deepStrictEqual(
      [directories.size, await versions()],
      [1, [[...directories][0]?.slice(paths.versions.length + 1), 'current', 'nodes']],
    );
  });

  it('keeps Nodes that other editors wrote, as long as they exist', async () => {
    const other = join(root, 'other-node');
    await writeFile(other, '');
    await install({ nodes: [other, '/gone/node'] });
    await install({ nodes: [process.execPath] });
    assert.equal(await readFile(paths.nodes, 'utf8'), `${process.execPath}\n${other}\n`);
  });

  it('copies beside what is in use, which stays in use until a successor has taken over', async () => {
    const first = await install();
    const second = await copyPrograms({ distDirectory: dist, version: '1.3.0', paths, nodes: ['/opt/newer'] });
    assert.deepStrictEqual(
      [
        await readFile(paths.currentVersion, 'utf8'),
        await readFile(join(second, 'hook.js'), 'utf8'),
        await readFile(paths.nodes, 'utf8'),
      ],
      [`${first.slice(paths.versions.length + 1)}\n`, '// hook', '/opt/newer\n'],
    );
  });

  it('does not go back to an older version, nor to its launcher', async () => {
    const newer = await install({ version: '2.0.0' });
    await writeFile(paths.launcher, 'of 2.0.0');
    const older = await install({ version: '1.9.0' });
    const seen = [await readFile(paths.currentVersion, 'utf8'), await readFile(paths.launcher, 'utf8')];
    await rm(join(newer, 'hook.js'));
    await install({ version: '1.9.0' });
    assert.deepStrictEqual(
      [...seen, await readFile(paths.currentVersion, 'utf8')],
      [newer, older]
        .map((path) => `${path.slice(paths.versions.length + 1)}\n`)
        .flatMap((line, index) => {
          return index === 0 ? [line, 'of 2.0.0'] : [line];
        }),
    );
  });

  it('goes on with what is installed when an update has removed the files of this window', async () => {
    const first = await install();
    await rm(dist, { recursive: true });
    const again = await install();
    await rm(join(first, 'hook.js'));
    assert.equal(again, first);
    await assert.rejects(install(), { code: 'ENOENT' });
  });

  it('makes no path out of a strange version', async () => {
    const directory = await install({ version: '../../x y' });
    assert.match(directory.slice(paths.versions.length), /^\/_.._x_y-[0-9a-f]{8}$/);
  });

  it('fails with the cause and leaves no part of it', async () => {
    await rename(join(dist, 'hook.js'), join(dist, 'hook'));
    await assert.rejects(install(), { code: 'ENOENT' });
    await rename(join(dist, 'hook'), join(dist, 'hook.js'));
    await mkdir(paths.directory, { recursive: true });
    await writeFile(paths.versions, 'a file');
    await assert.rejects(install(), { code: 'state-unreadable', message: new RegExp(paths.versions) });
    await rm(paths.versions);
    await install();
    await rm(paths.versions, { recursive: true });
    await mkdir(join(paths.versions, 'current', 'occupied'), { recursive: true });
    await assert.rejects(install());
    await chmod(paths.versions, 0o700);
    assert.deepStrictEqual(
      (await versions()).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });
});
