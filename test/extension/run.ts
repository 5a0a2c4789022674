// Runs the tests of this folder inside a real VS Code: `node --import tsx test/extension/run.ts`. The program is
// VSCODE_EXECUTABLE if set, else the browser-served VS Code where a browser is, else a desktop one that is downloaded.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { runTests, TestRunFailedError } from '@vscode/test-electron';
import { build } from 'esbuild';
import { chooseExecutable } from '../harness/editorExecutable.ts';
import { endProcesses } from '../harness/processes.mjs';
import { repository } from '../host/setup.mjs';

const bundles = path.join(repository, 'node_modules/.cache/bowline/extension-tests');

async function bundleTests(): Promise<void> {
  const names = (await readdir(__dirname)).filter((name) => name === 'index.ts' || name.endsWith('.test.ts'));
  await rm(bundles, { recursive: true, force: true });
  await build({
    entryPoints: names.map((name) => path.join(__dirname, name)),
    outdir: bundles,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: 'inline',
    external: ['vscode', 'mocha'],
  });
}

async function main(): Promise<number> {
  await bundleTests();
  const directory = await mkdtemp(path.join(os.tmpdir(), 'bowline-x-'));
  const folder = (name: string): string => path.join(directory, name);
  try {
    await mkdir(folder('workspace'));
    await mkdir(folder('tmp'));
    return await runTests({
      ...chooseExecutable(),
      extensionDevelopmentPath: repository,
      extensionTestsPath: path.join(bundles, 'index.js'),
      launchArgs: [folder('workspace'), '--user-data-dir', folder('data'), '--extensions-dir', folder('extensions')],
      // VS Code leaves sockets and caches in its temporary directory.
      extensionTestsEnv: { BOWLINE_HOME: folder('state'), TMPDIR: folder('tmp') },
    });
  } catch (error) {
    if (!(error instanceof TestRunFailedError)) throw error;
    console.error(error.message);
    return 1;
  } finally {
    await endProcesses(directory); // the gateway and tmux outlive the window by design
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

void main().then((code) => {
  process.exitCode = code;
});
