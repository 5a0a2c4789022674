import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { runTests } from '@vscode/test-electron';
import { build } from 'esbuild';
import * as z from 'zod/mini';
import { endProcesses } from '../harness/processes.mjs';
import { chooseExecutable } from '../harness/editorExecutable.ts';
import { repository } from '../host/setup.mjs';
import { type Figure, median } from './figure.ts';

const events = 750;

/** Only what the view needs, so that nothing else of Bowline runs in that extension host. */
const manifest = {
  name: 'bench',
  publisher: 'bowline',
  version: '0.0.0',
  engines: { vscode: '*' },
  contributes: {
    viewsContainers: { activitybar: [{ id: 'bowline', title: 'Bowline', icon: 'bowline.svg' }] },
    views: { bowline: [{ id: 'bowline.agents', name: 'Agents' }] },
  },
};

const resultSchema = z.object({
  settled: z.array(z.number()),
  longest: z.number(),
  latest: z.number(),
  share: z.number(),
});

/**
 * How long after an event the Agents view and the status bar are set, with 200 agents, the view open in a real window and
 * 50 events a second; and for how long that blocks the extension host at most. For 15 s: the same rate as for a minute.
 */
export const tree: Figure = {
  name: 'tree',
  measure: async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'bowline-tree-'));
    const folder = (name: string): string => path.join(directory, name);
    try {
      await Promise.all(['extension', 'workspace', 'tmp'].map((name) => mkdir(folder(name))));
      await writeFile(folder('extension/package.json'), JSON.stringify(manifest));
      await writeFile(folder('extension/bowline.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
      await build({
        entryPoints: [path.join(repository, 'test/bench/treeLoadMain.ts')],
        outfile: folder('load.js'),
        bundle: true,
        minify: true,
        platform: 'node',
        target: 'node20',
        format: 'cjs',
        external: ['vscode'],
        logLevel: 'warning',
      });
      const result = folder('result.json');
      await runTests({
        ...chooseExecutable(),
        extensionDevelopmentPath: folder('extension'),
        extensionTestsPath: folder('load.js'),
        launchArgs: [folder('workspace'), '--user-data-dir', folder('data'), '--extensions-dir', folder('extensions')],
        extensionTestsEnv: {
          BOWLINE_BENCH_EVENTS: String(events),
          BOWLINE_BENCH_FILE: result,
          TMPDIR: folder('tmp'),
        },
      });
      const { settled, longest, latest, share } = resultSchema.parse(JSON.parse(await readFile(result, 'utf8')));
      const worst = Math.max(...settled);
      return [
        {
          name: 'tree: event to set, 200 agents',
          value: median(settled),
          unit: 'ms',
          goal: 16,
          remark: `worst ${worst.toFixed(1)} ms of ${settled.length} at 50/s`,
          failed: settled.length !== events,
        },
        {
          name: 'tree: longest block',
          value: longest,
          unit: 'ms',
          goal: 30,
          remark: `${latest.toFixed(0)} ms with all else that ran, ${Math.round(share * 100)} % of a core`,
        },
      ];
    } finally {
      await endProcesses(directory);
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    }
  },
};
