import { deepStrictEqual, ok } from 'node:assert/strict';
import { delay } from '../../src/base/async.ts';
import { silentLog } from '../../src/base/log.ts';
import { bindingTimes } from '../../src/core/binding/times.ts';
import { ensureHolder } from '../../src/node/gatewayLauncher.ts';
import { FleetWindow } from './fleetWindow.ts';
import type { Story } from './story.ts';

/** VS Code is closed, the tools are lost in the night: healed before morning, and the next window finds all well. */
export const noWindow: Story = {
  name: 'healed with no window at all',
  versions: ['2.1.332'],
  run: (version, report) =>
    FleetWindow.play(version, report, async (window) => {
      await window.createAgents();
      await window.waitForBindings('bound', { timeoutMs: 90_000 });
      const before = await lives(window);
      await window.closeEditor();
      // On a busy machine a client's last retry comes late; after it nothing comes by itself.
      const port = await window.closePort();
      await delay(2 * bindingTimes.givesUpAfter);
      await port.open();
      const { paths } = window;
      await ensureHolder({ paths, install: () => Promise.resolve(), log: silentLog });
      await window.waitForBindings('unbound', { timeoutMs: 15_000 });
      const took = await window.waitForBindings('bound', { timeoutMs: 60_000 });
      report.say(`both bound ${(took / 1000).toFixed(1)} s after the loss was found, with no window`);
      deepStrictEqual(await lives(window), before);
      const answer = await window.callTool('ada', 'whoami', { timeoutMs: 30_000 });
      ok(answer.includes('ada'), `whoami answered ${answer}`);
      await window.openEditor();
      await window.waitForStatus(/2 bound/, { timeoutMs: 30_000 });
      deepStrictEqual(await lives(window), before);
      await window.picture('morning');
    }),
};

async function lives(window: FleetWindow): Promise<unknown> {
  const agents = await window.agents();
  return agents.map(({ name, life, launchCount, session }) => {
    return [name, life.kind === 'running' && life.running.process.pid, launchCount, session?.id];
  });
}
