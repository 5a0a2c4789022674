import { deepStrictEqual, match } from 'node:assert/strict';
import { waitFor } from '../harness/waitFor.ts';
import { FleetWindow } from './fleetWindow.ts';
import type { Story } from './story.ts';

const patience = { timeoutMs: 60_000, everyMs: 200 };
/** One word: an editor wraps longer ones. */
const reason = 'deliberately';

/** What the restart guard says is seen before anything is done; it never locks anybody in, and a bypass is written down. */
export const guard: Story = {
  name: 'the restart guard shows its plan, lets out who cannot save, and records a bypass',
  versions: ['2.1.332'],
  run: async (version, report) => {
    await FleetWindow.playWrapped(version, report, async (window, claude) => {
      await window.createAgents();
      await window.waitForBindings('bound', { timeoutMs: 90_000 });
      for (const name of ['ada', 'bo']) await window.prompt(name, 'hello');
      for (const name of ['ada', 'bo']) await untilWorked(window, name);
      await claude.behave('bo', 'resume', { mcp: 'strip' });
      await restart(window, 'bo', { mode: 'resume' });

      await window.editor.runFor('ada', 'Bowline: Show Restart Plan');
      await editorShows(window, /missing context/);
      await window.picture('plan');
      report.say('dry run: verdict and plan');
      await restart(window, 'ada', { mode: 'fresh' }).then(
        () => {
          throw new Error('the guard let it through');
        },
        (error: unknown) => {
          match(String(error), /guard-blocked/);
        },
      );
      const isDeaf = async (): Promise<boolean> => (await window.bindings())['bo']?.endsWith('unbound') === true;
      await waitFor('bo without tools', isDeaf, patience);
      // A line that is being typed for healing counts as input, too: a person would try again.
      const isLetThrough = (): Promise<boolean> => {
        return restart(window, 'bo', { mode: 'fresh' }).then(
          () => true,
          () => false,
        );
      };
      await waitFor('bo to be let through', isLetThrough, patience);
      const { launchCount } = await window.agent('bo');
      await untilBound(window, 'bo', launchCount);
      const { life } = await window.agent('bo');
      deepStrictEqual(life.kind === 'running' && [life.running.launch.mode, life.running.launch.cause], [
        'fresh',
        'person',
      ]);
      report.say('tools dead, nothing saved: a fresh start is let through all the same');
      await restart(window, 'ada', { mode: 'fresh', bypassGuard: true, reason });
      await untilBound(window, 'ada', 2);
      await window.editor.runFor('ada', 'Bowline: Show Restart Plan');
      await editorShows(window, /Guard bypassed before/);
      await editorShows(window, new RegExp(reason));
      await window.picture('audit');
      report.say('bypass: in the audit, with verdict and reason');
    });
  },
};

async function restart(
  window: FleetWindow,
  name: string,
  body: { readonly mode: 'fresh' | 'resume'; readonly bypassGuard?: true; readonly reason?: string },
): Promise<void> {
  await window.fleet.request('POST', `/agents/${name}/restart`, { body });
}

async function untilBound(window: FleetWindow, name: string, launchCount: number): Promise<void> {
  const isBound = async (): Promise<boolean> => {
    const state = (await window.bindings())[name];
    return state === 'ready, bound' && (await window.agent(name)).launchCount === launchCount;
  };
  await waitFor(`${name} bound in launch ${launchCount}`, isBound, patience);
}

async function untilWorked(window: FleetWindow, name: string): Promise<void> {
  const isIdleAgain = async (): Promise<boolean> => {
    const { session, activity } = await window.agent(name);
    return session !== undefined && session.turnsCompleted > 0 && activity.kind === 'idle';
  };
  await waitFor(`the end of ${name}'s turn`, isIdleAgain, patience);
}

/** Only lines in sight are in the page: it goes through the document page by page, again and again. */
async function editorShows(window: FleetWindow, text: RegExp): Promise<void> {
  const lines = window.page.locator('.editor-instance .view-lines');
  await lines.first().waitFor();
  let pages = 0;
  await waitFor(
    `an editor with ${String(text)}`,
    async () => {
      const shown = (await lines.allInnerTexts()).join('\n').replace(/\u00a0/g, ' ');
      if (text.test(shown)) return true;
      await lines.first().click();
      await window.page.keyboard.press(pages % 10 === 0 ? 'Control+Home' : 'PageDown');
      pages += 1;
      return false;
    },
    { timeoutMs: 60_000, everyMs: 300 },
  );
}
