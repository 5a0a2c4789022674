import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { prepareDemoFleet } from '../host/demoFleet.ts';
import { startServer } from '../host/server.ts';
import { repository } from '../host/setup.mjs';
import { waitFor } from '../harness/waitFor.ts';
import { type Browser, launchBrowser, openWorkbench, type Page, runCommand } from '../host/workbench.ts';
import { type Figure, median, type Reading } from './figure.ts';

const run = promisify(execFile);
const windows = 5;
const loads = 7;
/** How long an extension host may take to start; seconds on a machine that does nothing else. */
const startLimitMs = 300_000;
/** The list is to be an editor of the window: a smaller one over it would draw fewer rows. */
const settings = { 'workbench.editor.useModal': 'off' };

/**
 * How long loading the bundle and calling `activate` blocks a real extension host: the number that VS Code itself shows
 * under _Developer: Show Running Extensions_, in whole milliseconds. Each window has an extension host of its own. And what
 * VS Code does not count, because it comes after `activate`: the longest time for which the rest of the extension lets
 * nothing else run while it is loaded, in a bare Node.
 */
export const activation: Figure = {
  name: 'activation',
  measure: async () => {
    const fleet = await prepareDemoFleet({ kind: 'own' });
    let browser: Browser | undefined;
    const times: number[] = [];
    try {
      const server = await startServer({ ...fleet, settings, mode: 'plain' });
      try {
        browser = await launchBrowser({ window: 'headless' });
        for (let window = 0; window < windows; window += 1) {
          const page = await openWorkbench(browser, server, { folder: fleet.workspace });
          times.push(await activationTime(page));
          await page.context().close();
        }
      } finally {
        await browser?.close();
        await server.dispose();
      }
    } finally {
      await fleet.dispose();
    }
    const blocks: number[] = [];
    for (let load = 0; load < loads; load += 1) blocks.push(await longestBlock());
    return [reading('blocking time', times), reading('longest block, with the rest', blocks)];
  },
};

function reading(what: string, times: readonly number[]): Reading {
  const remark = `worst ${Math.round(Math.max(...times))} ms`;
  return { name: `activation: ${what}`, value: median(times), unit: 'ms', goal: 50, remark };
}

/** Of one load, in milliseconds. */
async function longestBlock(): Promise<number> {
  const files = [path.join(repository, 'test/harness/loadMain.cjs'), path.join(repository, 'dist/extension.js')];
  const { stdout } = await run(process.execPath, files, { env: { ...process.env, BOWLINE_HOME: '/nowhere' } });
  return Number(stdout);
}

/** The list is empty until the extension host runs, and may stay so until it is opened again. */
async function activationTime(page: Page): Promise<number> {
  await page.setViewportSize({ width: 1000, height: 1400 }); // it draws only the rows that are in sight
  const rows = page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'Bowline' });
  for (const limit = performance.now() + startLimitMs; ;) {
    await runCommand(page, 'Developer: Show Running Extensions');
    try {
      return await waitFor('the activation of Bowline in the list of running extensions', async () => {
        const [row = ''] = await rows.allInnerTexts();
        const milliseconds = /Activation: (\d+)ms/.exec(row)?.[1];
        return milliseconds === undefined ? undefined : Number(milliseconds);
      });
    } catch (error) {
      if (performance.now() > limit) throw error;
    }
  }
}
