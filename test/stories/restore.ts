import { deepStrictEqual, ok } from 'node:assert/strict';
import path from 'node:path';
import { claudeVersions } from '../harness/claude.ts';
import { FleetWindow } from './fleetWindow.ts';
import { untilWorked } from './steps.ts';
import type { Story } from './story.ts';

/** What each agent is told, and nobody else. `ada` and `cy` work in one directory. */
const words = { ada: 'heron', bo: 'birch', cy: 'quartz' } as const;
const names = ['ada', 'bo', 'cy'] as const;
const patience = { timeoutMs: 60_000, everyMs: 100 };

/** The tmux server is killed with all agents; Restore All brings each back, and each knows its own words. */
export const restore: Story = {
  name: 'all agents restored after the tmux server was killed',
  versions: claudeVersions,
  run: (version, report) =>
    FleetWindow.play(version, report, async (window) => {
      const directory = await createThree(window);
      await Promise.all(names.map((name) => turn(window, name, `REMEMBER ${words[name]}`, 1)));
      const before = await conversations(window);
      deepStrictEqual(new Set(before.map(({ sessionId }) => sessionId)).size, 3);

      process.kill(Number(await window.tmux('display-message', '-p', '#{pid}')), 'SIGKILL');
      const killed = performance.now();
      await window.editor.take('The tmux server ended, and all agents with it', 'Restore All', patience);
      const plan = await window.editor.dialog(patience);
      ok(plan.includes('Restore 3 agents'), plan);
      for (const { name, sessionId = '' } of before) {
        const at = name === 'bo' ? path.join(path.dirname(directory), name) : directory;
        ok(plan.includes(`${name} in ${at} goes on with conversation ${sessionId.slice(0, 8)}.`), plan);
      }
      await window.picture('plan');
      await window.editor.answerDialog('Restore');
      await window.editor.offers('All 3 agents are back.', patience);
      report.say(`all back ${((performance.now() - killed) / 1000).toFixed(1)} s after the kill`);
      await window.picture('restored');
      await window.waitForStatus(/^3 bound/, patience);

      const after = await conversations(window);
      deepStrictEqual(
        after.map(({ name, sessionId, launchCount, cause }) => ({ name, sessionId, launchCount, cause })),
        before.map(({ name, sessionId }) => ({ name, sessionId, launchCount: 2, cause: 'restore' })),
      );
      await Promise.all(names.map((name) => turn(window, name, 'RECALL', 2)));
      for (const name of names) {
        const screen = await window.screen(name);
        ok(screen.includes(`RECALLED ${words[name]}.`), `${name} does not know its word:\n${screen}`);
      }
      deepStrictEqual(await conversations(window), after);
    }),
};

/** The first agent as a person does, the others as a script: one of them in the directory of the first, which it resolves with. */
async function createThree(window: FleetWindow): Promise<string> {
  const [first, second] = window.fleet.agents;
  await window.createAgent('ada');
  await window.fleet.request('POST', '/agents', { body: second });
  await window.fleet.request('POST', '/agents', { body: { name: 'cy', directory: first?.directory } });
  await window.waitForBindings('bound', { timeoutMs: 90_000 });
  return (await window.agent('ada')).configuration.directory;
}

/** A prompt, and the end of the turn that it begins, the agent's n-th. */
async function turn(window: FleetWindow, name: string, text: string, count: number): Promise<void> {
  await window.waitForInput(name);
  await window.prompt(name, text);
  await untilWorked(window, name, count);
}

interface Conversation {
  readonly name: string;
  readonly sessionId: string | undefined;
  readonly launchCount: number;
  /** Why its process was launched. */
  readonly cause: string | undefined;
}

async function conversations(window: FleetWindow): Promise<readonly Conversation[]> {
  return Promise.all(
    names.map(async (name) => {
      const { session, launchCount, life } = await window.agent(name);
      const cause = life.kind === 'running' ? life.running.launch.cause : undefined;
      return { name, sessionId: session?.id, launchCount, cause };
    }),
  );
}
