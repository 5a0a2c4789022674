import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const repository = path.resolve(__dirname, '../..');

/** A project with the seven entries and nothing else, as far as `sources` does not say otherwise. */
const clean = {
  'extension/extension.ts':
    "import * as vscode from 'vscode'; export const load = async () => [vscode, await import('./window.ts')];",
  'extension/window.ts': "import * as vscode from 'vscode'; export const load = () => [vscode, import('node-pty')];",
  'extension/reports.ts': "import os from 'node:os'; export const name = os.hostname();",
  'holder/main.ts': "import net from 'node:net'; net.createServer();",
  'gateway/main.ts':
    "import * as z from 'zod/mini'; import { WebSocket } from 'ws'; console.log(z.string(), WebSocket);",
  'hook/main.ts': "import { shared } from '../core/shared.ts'; console.log(shared);",
  'webview/main.ts': "import type { z } from 'zod/mini'; export const schema: z.ZodMiniType | null = null;",
  'core/shared.ts': "import * as z from 'zod/mini'; export const shared = z.string();",
};

describe('build', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'bowline-build-'));
    await symlink(path.join(repository, 'node_modules'), path.join(root, 'node_modules'));
    await cp(path.join(repository, 'tsconfig.json'), path.join(root, 'tsconfig.json'));
  });
  afterEach(() => rm(root, { recursive: true }));

  async function build(sources: Partial<typeof clean>): Promise<{ built: string; errors: string; dist: string[] }> {
    for (const [file, text] of Object.entries({ ...clean, ...sources })) {
      await mkdir(path.dirname(path.join(root, 'src', file)), { recursive: true });
      await writeFile(path.join(root, 'src', file), text);
    }
    const script = `import { build } from ${JSON.stringify(path.join(repository, 'esbuild.mjs'))};
      console.log(await build({ root: ${JSON.stringify(root)}, minify: true }));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    const dist = await readdir(path.join(root, 'dist')).catch(() => []);
    return { built: stdout.trim().split('\n').at(-1) ?? '', errors: stderr, dist: dist.sort() };
  }

  it('writes the bundles and the icon font, and removes what is stale', async () => {
    await mkdir(path.join(root, 'dist'));
    await writeFile(path.join(root, 'dist/old.js'), '');
    assert.deepStrictEqual(await build({}), {
      built: 'true',
      errors: '',
      dist: [
        ...['codicon.css', 'codicon.ttf', 'extension.js', 'gateway.js', 'holder.js', 'hook.js', 'reports.js'],
        ...['webview.js', 'window.js'],
      ],
    });
  });

  it('names the imports that break a boundary, and writes nothing', async () => {
    const { built, errors, dist } = await build({
      'extension/extension.ts': "import '../core/shared.ts'; import './window.ts';",
      'core/shared.ts':
        "import * as vscode from 'vscode'; import pty from 'node-pty'; export const shared = [vscode, pty];",
      'holder/main.ts': "import '../hook/main.ts';",
      'webview/main.ts': "import fs from 'node:fs'; import * as z from 'zod/mini'; console.log(fs, z.string());",
    });
    const sentences = errors.split('\n').filter((line) => line.startsWith('boundary:'));
    const chain = /hook\.js imports vscode\n {4}(.*)\n {4}-> (.*)\n {4}-> (.*)\n/.exec(errors)?.slice(1);
    assert.deepStrictEqual(
      { built, dist, sentences, chain },
      {
        built: 'false',
        dist: [],
        sentences: [
          'boundary: dist/extension.js imports node-pty',
          'boundary: dist/extension.js contains src/core/shared.ts',
          'boundary: dist/holder.js imports vscode',
          'boundary: dist/holder.js imports node-pty',
          'boundary: dist/holder.js contains src/core/shared.ts',
          'boundary: dist/holder.js contains src/hook/main.ts',
          'boundary: dist/hook.js imports vscode',
          'boundary: dist/hook.js imports node-pty',
          'boundary: dist/webview.js imports node:fs',
          'boundary: dist/webview.js contains zod',
        ],
        chain: ['src/hook/main.ts', 'src/core/shared.ts', 'vscode'],
      },
    );
  });

  it('fails when an entry is missing', async () => {
    await build({});
    await rm(path.join(root, 'src/hook'), { recursive: true });
    const script = `import { build } from ${JSON.stringify(path.join(repository, 'esbuild.mjs'))};
      process.exitCode = (await build({ root: ${JSON.stringify(root)} })) ? 0 : 1;`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    assert.deepStrictEqual([status, stderr.includes('Could not resolve "src/hook/main.ts"')], [1, true]);
  });
});
