import { deepStrictEqual, match, ok } from 'node:assert/strict';
import { chmod, copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '../harness/waitFor.ts';
import { notification } from '../host/workbench.ts';
import { FleetWindow } from './fleetWindow.ts';
import { extensionLogs } from './lastLook.ts';
import type { Story } from './story.ts';

/** The package lies on the wrong platform: node-pty does not load. Agents live all the same, and that is said once. */
export const withoutPty: Story = {
  name: 'node-pty missing',
  versions: ['2.1.332'],
  run: (version, report) =>
    FleetWindow.play(
      version,
      report,
      async (window) => {
        await window.createAgent('ada');
        const said = await notification(window.page, 'over pipes', { timeoutMs: 60_000 });
        match(said, /Bowline works, but .* node-pty does not load/);
        await window.waitForBindings('bound', { timeoutMs: 90_000 });
        await window.waitForStatus(/1 bound/, { timeoutMs: 30_000 });
        await window.picture('bound-over-pipes');
        const answer = await window.callTool('ada', 'whoami', { timeoutMs: 30_000 });
        ok(answer.includes('ada'), `whoami answered ${answer}`);
        await window.waitForActivity('ada', 'idle', { timeoutMs: 15_000 });
        await window.waitForInput('ada');
        report.say('over pipes: launched, bound');

        const before = await window.agent('ada');
        await window.fleet.request('POST', '/agents/ada/reconnect', { body: { server: 'bowline-self' } });
        await waitFor(
          'a new MCP session',
          async () => {
            const { bindings } = await window.agent('ada');
            return bindings['bowline-self']?.session !== before.bindings['bowline-self']?.session;
          },
          { timeoutMs: 60_000 },
        );
        await window.waitForBindings('bound', { timeoutMs: 60_000 });
        report.say('over pipes: a line typed');

        await window.waitForInput('ada');
        await window.editor.runFor('ada', 'Bowline: Restart');
        await waitFor(
          'the second launch',
          async () =>
            (await window.agent('ada')).life.kind === 'running' && (await window.agent('ada')).launchCount === 2,
          { timeoutMs: 60_000 },
        );
        await window.waitForBindings('bound', { timeoutMs: 90_000 });
        deepStrictEqual((await window.agent('ada')).session?.id, before.session?.id);
        report.say('over pipes: restarted with its conversation');

        await window.editor.runFor('ada', 'Bowline: Stop');
        await waitFor('the end', async () => (await window.agent('ada')).life.kind === 'stopped', {
          timeoutMs: 30_000,
        });
        const logs = await Promise.all((await extensionLogs(window.fleet)).map((file) => readFile(file, 'utf8')));
        match(logs.join('\n'), /\[warning\] tmux is driven over pipes/);
        ok(!logs.join('\n').includes('transport="pty"'), 'no window has joined tmux by a pseudo terminal');
      },
      { changed: breakPty },
    ),
};

/** Puts the native part of another platform in the place of this one's, and takes the run bit from its helper. */
async function breakPty(extension: string): Promise<void> {
  const prebuilt = path.join(extension, 'node_modules/node-pty/prebuilds');
  const [own, foreign] = [
    `${process.platform}-${process.arch}`,
    process.platform === 'darwin' ? 'linux-x64' : 'darwin-x64',
  ];
  await copyFile(path.join(prebuilt, foreign, 'pty.node'), path.join(prebuilt, own, 'pty.node'));
  if (process.platform === 'darwin') await chmod(path.join(prebuilt, own, 'spawn-helper'), 0o644);
}
