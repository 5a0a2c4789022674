import { deepStrictEqual, match } from 'node:assert/strict';
import * as z from 'zod/mini';
import { waitFor } from '../harness/waitFor.ts';
import { type Locator, type Page, quickInput, runCommand } from '../host/workbench.ts';
import { FleetWindow, type StoryReport } from './fleetWindow.ts';
import type { Story } from './story.ts';

const patience = { timeoutMs: 30_000 };
/** The same as Playwright calls it. */
const inSight = { timeout: 30_000 };

/** An agent asks something, and the person is led to it by view, status bar, message and key; several rows at once. */
export const waiting: Story = {
  name: 'an agent waits for permission and is found by the person; several agents verified at once; the Doctor by keyboard',
  versions: ['2.1.332'],
  run: (version, report) =>
    FleetWindow.play(version, report, async (window) => {
      await window.createAgent('ada');
      await createAsking(window, 'bo');
      await window.waitForBindings('bound', { timeoutMs: 90_000 });
      await severalAtOnce(window, report);
      await asked(window, report);
      await closed(window, report);
      await doctor(window, report);
      await stopped(window, report);
    }),
};

/** New Agent with a permission mode that asks, chosen in its second question, which shows the command by then. */
async function createAsking({ page }: FleetWindow, name: string): Promise<void> {
  const { widget, input, rows } = quickInput(page);
  const step = (title: string): Promise<void> =>
    widget.locator('.quick-input-title', { hasText: title }).waitFor(inSight);
  await runCommand(page, 'Bowline: New Agent');
  await step('1/2');
  await input.fill(name);
  await input.press('Enter');
  await step('2/2');
  await rows.filter({ hasText: 'Model and Permission Mode' }).click();
  await step('how it is started');
  await widget.getByText('A model, such as').waitFor(inSight);
  await input.press('Enter');
  await widget.getByText('A permission mode, such as').waitFor(inSight);
  await input.fill('default');
  await input.press('Enter');
  await step('2/2');
  await rows.filter({ hasText: "'--permission-mode=default'" }).waitFor(inSight);
  await input.fill(name);
  await rows.filter({ hasText: name }).and(page.locator('.focused')).waitFor(inSight);
  await input.press('Enter');
  await widget.waitFor({ state: 'hidden' });
}

function agentRow(page: Page, name: string): Locator {
  const rows = page.locator('.tree-explorer-viewlet-tree-view .monaco-list-row');
  return rows.filter({ has: page.getByText(name, { exact: true }) });
}

/** Selects both agents and chooses from the menu of the second one. */
async function chooseForBoth({ page }: FleetWindow, entry: RegExp): Promise<void> {
  await agentRow(page, 'ada').click();
  await agentRow(page, 'bo').click({ modifiers: ['ControlOrMeta'] });
  await agentRow(page, 'bo').click({ button: 'right' });
  const item = page.locator('.context-view .monaco-menu .action-item', { hasText: entry });
  await item.waitFor();
  await waitFor('the menu to take it', async () => {
    await item.click({ timeout: 1_000 });
    await item.waitFor({ state: 'hidden', timeout: 1_000 });
    return true;
  });
}

async function severalAtOnce(window: FleetWindow, report: StoryReport): Promise<void> {
  await chooseForBoth(window, /^Verify Binding$/);
  const told = window.page.locator('.statusbar-item', { hasText: 'All 2 agents have their tools.' });
  await told.waitFor(inSight);
  report.say('two selected agents were verified by one choice');
}

/** The second of two agents asks; it comes first, and every way leads to it. */
async function asked(window: FleetWindow, report: StoryReport): Promise<void> {
  const { editor, page } = window;
  // Of an agent whose terminal was used last it is told later.
  const clients = (): Promise<string> => window.tmux('list-clients', '-F', '#{session_name} #{client_control_mode}');
  await waitFor(
    'both terminals',
    async () => /^ada 0$/m.test(await clients()) && /^bo 0$/m.test(await clients()),
    patience,
  );
  await agentRow(page, 'ada').click();
  await page.locator('.terminal-wrapper.active .xterm-rows', { hasText: '/work/ada' }).waitFor(inSight);
  await window.prompt('bo', 'CALL Bash {"command":"touch made.txt","description":"x"}');
  await window.waitForActivity('bo', 'waiting for permission', patience);
  await window.waitForStatus(/2 bound, 1 needs you: bo/, patience);
  await waitFor('bo first in the view', async () => {
    return /^bo ?waiting for permission, ready, bound/.test((await editor.agentRows())[0] ?? '');
  });
  deepStrictEqual(await editor.offers('bo waits for your permission.', patience), ['Attach', "Don't Show for bo"]);
  await window.picture('waiting');
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Alt+n');
  await page.locator('.terminal-wrapper.active .xterm-rows', { hasText: 'touch made.txt' }).waitFor(inSight);
  await editor.take('bo waits for your permission.', "Don't Show for bo", patience);
  await window.tmux('send-keys', '-t', '=bo:', 'Escape');
  await window.waitForStatus(/^2 bound$/, patience);
  await runCommand(page, 'Bowline: Notifications of Agents...');
  const { rows, input } = quickInput(page);
  await waitFor('who may notify', async () => {
    const checked = await rows.evaluateAll((found) => found.map((row) => row.getAttribute('aria-checked')));
    return checked.join() === 'true,false';
  });
  await input.press('Escape');
  await runCommand(page, 'Bowline: Next Waiting Agent');
  await editor.offers('No agent waits for you.', patience);
  report.say('bo asked: it came first, was told once, was reached by a key, and tells no more');
}

/** What a person closes is a terminal, and is told so once. */
async function closed({ editor, page, fleet }: FleetWindow, report: StoryReport): Promise<void> {
  const before = await fleet.request('GET', '/agents');
  await runCommand(page, 'Terminal: Kill All Terminals');
  await editor.offers('goes on without its terminal', patience);
  deepStrictEqual(await page.locator('.notification-list-item', { hasText: 'goes on without' }).count(), 1);
  deepStrictEqual(lives(await fleet.request('GET', '/agents')), lives(before));
  report.say('closing both terminals ended no agent, and was told once');
}

const livesSchema = z.object({
  agents: z.array(z.object({ name: z.string(), life: z.string(), sessionId: z.string() })),
});

function lives(answer: unknown): unknown {
  return livesSchema.parse(answer).agents;
}

async function stopped(window: FleetWindow, report: StoryReport): Promise<void> {
  await chooseForBoth(window, /^Stop$/);
  match(await window.editor.dialog(patience), /Stop 2 agents\?/);
  await window.editor.answerDialog('Stop Them');
  await window.waitForStatus(/^0 bound$/, patience);
  report.say('two selected agents were stopped by one choice and one question');
}

/** Down to a line, and Enter on it, without the mouse. */
async function doctor(window: FleetWindow, report: StoryReport): Promise<void> {
  const { page } = window;
  await runCommand(page, 'Bowline: Doctor');
  const { widget, rows, input } = quickInput(page);
  await widget.locator('.quick-input-title', { hasText: /^Bowline Doctor: .*\d good/ }).waitFor(inSight);
  await window.picture('doctor');
  const lines = (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  match(lines.join('\n'), /claude ?good.*Claude Code 2\.1\.332/);
  await input.fill('Open Report');
  await input.press('Enter');
  await page.locator('.tab', { hasText: 'Bowline Doctor.md' }).waitFor(inSight);
  report.say('the Doctor showed its list, and its report by keyboard');
}
