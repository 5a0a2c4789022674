import { match } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const repository = path.resolve(__dirname, '../..');

describe('loading the extension', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'bowline-loading-'));
  });
  after(() => rm(directory, { recursive: true }));

  /** What an extension host that is nothing else sees of `extension.js` in `dist`. */
  function load(dist: string): { readonly output: string; readonly errors: string } {
    const main = path.join(repository, 'test/harness/loadMain.cjs');
    const env = { ...process.env, BOWLINE_HOME: path.join(directory, 'none') };
    const files = [main, path.join(dist, 'extension.js')];
    const { stdout, stderr } = spawnSync(process.execPath, files, { encoding: 'utf8', env });
    return { output: stdout, errors: stderr };
  }

  it('loads the rest by itself, with no command', () => {
    match(load(path.join(repository, 'dist')).output, /^[\d.]+\n$/);
  });

  it('says what is to be done when an update took the rest away first', async () => {
    await cp(path.join(repository, 'dist/extension.js'), path.join(directory, 'extension.js'));
    match(
      load(directory).errors,
      /Bowline could not be loaded from \/nowhere: Cannot find module '\.\/window\.js'\. Reload the window; if that does not help, install Bowline again\.\n/,
    );
  });
});
