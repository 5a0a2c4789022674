import { deepStrictEqual, ok } from 'node:assert/strict';
import { findProcesses } from '../harness/processes.mjs';
import { waitFor } from '../harness/waitFor.ts';
import { actingHost } from './actingHost.ts';
import type { EditorWindow } from './editorWindow.ts';
import { FleetWindow } from './fleetWindow.ts';
import type { Story } from './story.ts';

const line = '/mcp reconnect bowline-self';

/** Two windows show one fleet; the one that acts is killed amid a launch, the next one amid a healing: nothing runs twice. */
export const twoWindows: Story = {
  name: 'two windows and a killed one',
  versions: ['2.1.332'],
  run: (version, report) =>
    FleetWindow.play(version, report, async (window) => {
      const both = [window.editor, await window.openAnother()] as const;
      await window.createAgent('ada');
      report.say(`killed amid the launch: ${await killActing(window)}`);
      await window.waitForBindings('bound', { timeoutMs: 90_000 });
      await showTheSame(both, /^1 bound/);
      deepStrictEqual(await runs(window), { ada: 1 });

      await both[1].answerNewAgent('bo');
      await waitFor('bo', async () => Object.keys(await window.bindings()).length === 2, { timeoutMs: 30_000 });
      await window.waitForBindings('bound', { timeoutMs: 90_000 });
      await showTheSame(both, /^2 bound/);

      await window.callTool('ada', 'whoami', { timeoutMs: 30_000 });
      await window.waitForActivity('ada', 'idle', { timeoutMs: 15_000 });
      await window.waitForInput('ada');
      const before = await session(window);
      await window.fleet.request('POST', '/agents/ada/reconnect', { body: { server: 'bowline-self' } });
      await waitFor('the typed line', async () => (await window.screen('ada')).includes(line), {
        timeoutMs: 30_000,
        everyMs: 5,
      });
      report.say(`killed amid the healing: ${await killActing(window)}`);
      await waitFor('a new MCP session of ada', async () => (await session(window)) !== before, { timeoutMs: 60_000 });
      await window.waitForBindings('bound', { timeoutMs: 60_000 });
      await showTheSame(both, /^2 bound/);
      deepStrictEqual(await runs(window), { ada: 1, bo: 1 });
      await window.waitForInput('ada');
      const screen = await window.screen('ada');
      deepStrictEqual(screen.split(line).length, 2, `the line was typed once, but the screen shows\n${screen}`);
      await window.picture('first-window', both[0]);
      await window.picture('second-window', both[1]);
    }),
};

/** Kills the extension host that has the hands with -9, and resolves with the name of its log. */
async function killActing(window: FleetWindow): Promise<string> {
  const { pid, log } = await actingHost(window);
  process.kill(pid, 'SIGKILL');
  return log;
}

/** Waits until both windows, the killed one among them, show the same agents, states and Binding Health. */
async function showTheSame(both: readonly [EditorWindow, EditorWindow], status: RegExp): Promise<void> {
  // VS Code itself starts the killed extension host again.
  for (const window of both) await window.waitForStatus(status, { timeoutMs: 60_000 });
  let last: unknown;
  try {
    await waitFor(
      'both windows to show the same',
      async () => {
        const looks = (last = await Promise.all(both.map(lookOf)));
        deepStrictEqual(looks[0], looks[1]);
        ok(looks[0]?.health?.includes('ada'));
        return true;
      },
      { timeoutMs: 30_000, everyMs: 200 },
    );
  } catch (error) {
    throw new Error(`the windows differ:\n${JSON.stringify(last, undefined, 1)}`, { cause: error });
  }
}

async function lookOf(
  window: EditorWindow,
): Promise<{ readonly status: string; readonly rows: readonly string[]; readonly health: string | undefined }> {
  const health = await window.healthText();
  // Ages and round trips are as old as each window's last drawing.
  const timeless = health?.replace(/\d+(\.\d+)? (ms|s|min|h)\b/g, '#');
  return { status: await window.status(), rows: await window.agentRows(), health: timeless };
}

/** How often each agent was launched; each must run once, in one pane of tmux and as one process. */
async function runs(window: FleetWindow): Promise<Readonly<Record<string, number>>> {
  const panes = await window.tmux('list-panes', '-a', '-F', '#{session_name} #{pane_dead} #{pane_pid}');
  const agents = await window.agents();
  const running = agents.map(
    ({ name, life }) => `${name} 0 ${life.kind === 'running' ? life.running.process.pid : ''}`,
  );
  const own = panes.split('\n').filter((pane) => pane !== '' && !pane.startsWith('_bowline'));
  deepStrictEqual(own.sort(), running.sort());
  const claudes = findProcesses(window.paths.directory).filter(({ command }) => /^\S*claude[^\s/]* /.test(command));
  deepStrictEqual(claudes.length, agents.length, JSON.stringify(claudes));
  return Object.fromEntries(agents.map(({ name, launchCount }) => [name, launchCount]));
}

async function session(window: FleetWindow): Promise<string | undefined> {
  return (await window.agent('ada')).bindings['bowline-self']?.session;
}
