import { equal, match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../harness/waitFor.ts';
import { repository } from '../host/setup.mjs';
import { type Locator, type Page, runCommand } from '../host/workbench.ts';
import { FleetWindow } from '../stories/fleetWindow.ts';

const run = promisify(execFile);

/** The package as a stranger gets it: made, checked, installed in a fresh VS Code and used by hand. */
describe('the package', function () {
  this.timeout(240_000);
  let directory: string;
  let vsix: string;

  before(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'bowline-package-'));
    vsix = path.join(directory, 'bowline.vsix');
  });

  after(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));

  it('is made and holds what it should', async () => {
    const main = path.join(repository, 'test/harness/packageMain.ts');
    const { stdout } = await run(process.execPath, ['--import', 'tsx', main, '--out', vsix], { cwd: repository });
    match(stdout, /^ok {4} {2}no file is missing$/m);
  });

  it('gives a person a bound agent, its terminal and its end', async () => {
    const pictures = process.env['BOWLINE_PICTURES'];
    const report = { say: () => undefined, lastLook: console.log, ...(pictures !== undefined && { pictures }) };
    await FleetWindow.play('2.1.332', report, useAsPerson, { vsix });
  });
});

async function useAsPerson(window: FleetWindow): Promise<void> {
  const { page } = window;
  await page.getByText('No agents yet. An agent is a named Claude Code session').waitFor();
  await window.createAgent('ada');
  await window.waitForStatus(/1 bound/, { timeoutMs: 60_000 });
  await row(page, /idle, bound/).waitFor();
  await window.waitForHealthText(/ada[\s\S]*bound/i, { timeoutMs: 15_000 });
  await window.picture('bound');

  // New Agent has opened a terminal. Closing it does not touch the agent, and a click attaches again.
  await terminalShows(page, /[❯>]/);
  await runCommand(page, 'Terminal: Kill All Terminals');
  await waitFor('no terminal', async () => (await attached(window)) === 0);
  await row(page, /idle, bound/).click();
  await terminalShows(page, /[❯>]/);
  await page.locator('.terminal-wrapper.active .xterm.focus').waitFor();
  equal(await attached(window), 1);
  await page.keyboard.type('CALL mcp__bowline-self__whoami');
  await terminalShows(page, /CALL mcp__bowline-self__whoami/);
  await page.keyboard.press('Enter');
  await waitFor(
    'the answer of the tool',
    () => window.fleet.model?.requests.some(({ toolResults }) => toolResults.some((result) => result.includes('ada'))),
    { timeoutMs: 30_000 },
  );
  await window.waitForActivity('ada', 'idle', { timeoutMs: 15_000 });
  await window.picture('terminal');

  await runCommand(page, 'Bowline: Verify Binding');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'ada' }).click();
  await page.locator('.statusbar-item', { hasText: /ada: bowline-self is bound, answered in \d+ ms/ }).waitFor();
  await window.waitForStatus(/1 bound/, { timeoutMs: 5_000 });

  await row(page, /bound/).click({ button: 'right' });
  await chooseFromMenu(page, /^Stop$/);
  await row(page, /stopped/).waitFor();
  await window.picture('stopped');
  await window.waitForStatus(/^0 bound/, { timeoutMs: 5_000 });
}

/** The agent's row in the Agents view, once it shows this. */
function row(page: Page, shown: RegExp): Locator {
  const agents = page.locator('.tree-explorer-viewlet-tree-view .monaco-list-row', { hasText: 'ada' });
  return agents.filter({ hasText: shown }).first();
}

/** Waits until the terminal in the page, and not only tmux, shows a text. */
async function terminalShows(page: Page, text: RegExp): Promise<void> {
  await page.locator('.terminal-wrapper.active .xterm-rows', { hasText: text }).waitFor();
}

/** Clicks an entry of the open context menu; again where it stays open, because a menu takes no click for 100 ms. */
async function chooseFromMenu(page: Page, entry: RegExp): Promise<void> {
  const item = page.locator('.context-view .monaco-menu .action-item', { hasText: entry });
  await item.waitFor();
  await waitFor(
    `the menu to take ${String(entry)}`,
    async () => {
      await item.click({ timeout: 1_000 });
      await item.waitFor({ state: 'hidden', timeout: 1_000 });
      return true;
    },
    { everyMs: 200 },
  );
}

/** How many terminals show ada. */
async function attached(window: FleetWindow): Promise<number> {
  return (await window.tmux('list-clients', '-t', '=ada')).split('\n').filter(Boolean).length;
}
