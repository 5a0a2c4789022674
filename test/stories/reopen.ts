import { deepStrictEqual, ok } from 'node:assert/strict';
import { claudeVersions } from '../harness/claude.ts';
import { FleetWindow } from './fleetWindow.ts';
import type { Story } from './story.ts';

/** VS Code is closed and opened again: both agents are found running and bound, nothing was restarted. */
export const reopen: Story = {
  name: 'VS Code closed and opened again',
  versions: claudeVersions,
  run: (version, report) =>
    FleetWindow.play(version, report, async (window) => {
      await window.createAgents();
      await window.waitForBindings('bound', { timeoutMs: 90_000 });
      const before = await window.agents();
      const { gateway } = await window.gatewayProcesses();
      await window.closeEditor();
      // The agents work on while no window is open.
      const answer = await window.callTool('ada', 'whoami', { timeoutMs: 30_000 });
      ok(answer.includes('ada'), `whoami answered ${answer}`);
      await window.openEditor();
      await window.waitForStatus(/2 bound/, { timeoutMs: 30_000 });
      await window.waitForHealthText(/ada[\s\S]*bo/, { timeoutMs: 15_000 });
      const after = await window.agents();
      const lives = (agents: typeof before): unknown =>
        agents.map(({ life, launchCount, session }) => [life, launchCount, session?.id]);
      deepStrictEqual(lives(after), lives(before));
      deepStrictEqual((await window.gatewayProcesses()).gateway, gateway);
      await window.picture('reopened');
    }),
};
