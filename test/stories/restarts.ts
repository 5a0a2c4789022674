import { deepStrictEqual, ok } from 'node:assert/strict';
import { claudeVersions } from '../harness/claude.ts';
import { waitFor } from '../harness/waitFor.ts';
import { notification } from '../host/workbench.ts';
import { FleetWindow } from './fleetWindow.ts';
import type { Story } from './story.ts';

/** From the palette: Restart keeps the conversation, the guard stops a fresh start over unsaved work, saving frees it. */
export const restarts: Story = {
  name: 'restart resumes, guard holds back a fresh start',
  versions: claudeVersions,
  run: (version, report) =>
    FleetWindow.play(version, report, async (window) => {
      await window.createAgents();
      await window.waitForBindings('bound', { timeoutMs: 90_000 });
      await window.callTool('ada', 'whoami', { timeoutMs: 30_000 });
      await window.waitForActivity('ada', 'idle', { timeoutMs: 15_000 });
      const conversation = (await window.agent('ada')).session?.id;
      await window.editor.runFor('ada', 'Bowline: Restart');
      await launches(window, 2);
      deepStrictEqual((await window.agent('ada')).session?.id, conversation);
      report.say('restart: same conversation');

      await window.editor.runFor('ada', 'Bowline: Force Fresh Restart');
      const refusal = await notification(window.page, 'context');
      ok(/saved no context|missing context/i.test(refusal), `the refusal must say why, not: ${refusal}`);
      await window.picture('guard');
      deepStrictEqual((await window.agent('ada')).launchCount, 2);
      report.say('force fresh restart over unsaved work: refused');

      await window.callTool('ada', 'save_my_context {"context":"half way through"}', { timeoutMs: 30_000 });
      await window.waitForActivity('ada', 'idle', { timeoutMs: 15_000 });
      await window.editor.runFor('ada', 'Bowline: Force Fresh Restart');
      await launches(window, 3);
      const fresh = await window.agent('ada');
      ok(fresh.session?.id !== conversation, 'a fresh start has a new conversation');
      const context = await window.callTool('ada', 'load_my_context', { timeoutMs: 30_000 });
      ok(context.includes('half way through'), `the saved context must be there, not: ${context}`);
      report.say('after a save: new conversation, saved context there');
    }),
};

/** Waits until ada's n-th launch is bound. */
async function launches(window: FleetWindow, count: number): Promise<void> {
  await waitFor(`launch ${count} of ada`, async () => (await window.agent('ada')).launchCount === count, {
    timeoutMs: 20_000,
  });
  await waitFor(`launch ${count} of ada to run`, async () => (await window.agent('ada')).life.kind === 'running', {
    timeoutMs: 20_000,
  });
  await window.waitForBindings('bound', { timeoutMs: 60_000 });
}
