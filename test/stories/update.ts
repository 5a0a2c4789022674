import { deepStrictEqual, ok } from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { readEndpointFile } from '../../src/node/endpointFile.ts';
import { waitFor } from '../harness/waitFor.ts';
import { repository } from '../host/setup.mjs';
import { FleetWindow } from './fleetWindow.ts';
import type { Story } from './story.ts';

const newVersion = '99.0.0';

/** VS Code is closed, updates Bowline and removes its old files; the next window brings the new version to a fleet at work. */
export const update: Story = {
  name: 'update in the night',
  versions: ['2.1.332'],
  run: (version, report) =>
    FleetWindow.play(version, report, async (window) => {
      await window.createAgents();
      await window.waitForBindings('bound', { timeoutMs: 90_000 });
      const before = await lives(window);
      const { holder, gateway } = await window.gatewayProcesses();
      await window.closeEditor();
      await updateExtension(window);

      const work = keepCalling(window, 'ada');
      await window.openEditor();
      await waitFor('the new version', async () => (await runningVersion(window)).startsWith(`${newVersion}-`), {
        timeoutMs: 60_000,
      });
      await window.waitForStatus(/2 bound/, { timeoutMs: 60_000 });
      const { answers, turns } = await work.stop();
      report.say(`${answers.length} calls through the update`);
      ok(answers.length > 1, 'calls were made meanwhile');
      deepStrictEqual(
        answers.filter((answer) => !answer.includes('ada')),
        [],
      );
      // Every turn was reported by a hook: by old ones before, by new ones after.
      deepStrictEqual((await window.agent('ada')).session?.turnsCompleted, turns + answers.length);
      deepStrictEqual(await lives(window), before);
      const after = await window.gatewayProcesses();
      deepStrictEqual([after.holder === holder, after.gateway === gateway], [true, false]);
      for (const { name, incidents } of await window.agents()) {
        deepStrictEqual([name, incidents], [name, {}]);
        ok(!(await window.screen(name)).includes('/mcp reconnect'), `nothing is typed into ${name}`);
      }
      await waitFor('the launcher to use the new version', async () => {
        return (await readFile(window.paths.currentVersion, 'utf8')).startsWith(`${newVersion}-`);
      });
      await window.picture('updated');
    }),
};

/** What an update leaves: another version in another directory, nothing of the old one. */
async function updateExtension(window: FleetWindow): Promise<void> {
  const { extensionsDirectory } = window.fleet;
  for (const name of await readdir(extensionsDirectory))
    await rm(path.join(extensionsDirectory, name), { recursive: true });
  const manifest = z.looseObject({ publisher: z.string(), name: z.string() });
  const text = await readFile(path.join(repository, 'package.json'), 'utf8');
  const { publisher, name, ...rest } = manifest.parse(JSON.parse(text));
  const directory = path.join(extensionsDirectory, `${publisher}.${name}-${newVersion}`);
  await mkdir(directory);
  await writeFile(
    path.join(directory, 'package.json'),
    JSON.stringify({ ...rest, publisher, name, version: newVersion }),
  );
  // Copies: VS Code knows an extension by where its code really is.
  for (const part of ['dist', 'media']) {
    await cp(path.join(repository, part), path.join(directory, part), { recursive: true });
  }
  await symlink(path.join(repository, 'node_modules'), path.join(directory, 'node_modules'));
}

async function runningVersion(window: FleetWindow): Promise<string> {
  const reading = await readEndpointFile(window.paths);
  return reading.kind === 'ok' ? reading.endpoint.version : '';
}

/** Asks an agent for one tool call after another, until it is stopped. */
function keepCalling(
  window: FleetWindow,
  name: string,
): { stop(): Promise<{ readonly answers: readonly string[]; readonly turns: number }> } {
  const end = new AbortController();
  const running = (async () => {
    const turns = (await window.agent(name)).session?.turnsCompleted ?? 0;
    const answers: string[] = [];
    do {
      answers.push(await window.callTool(name, 'whoami', { timeoutMs: 60_000 }));
      await window.waitForActivity(name, 'idle', { timeoutMs: 60_000 });
      await window.waitForInput(name);
    } while (!end.signal.aborted);
    return { answers, turns };
  })();
  running.catch(() => undefined); // told by stop
  return {
    stop: () => {
      end.abort();
      return running;
    },
  };
}

/** What must be the same afterwards: processes, launches, conversations and MCP sessions. */
async function lives(window: FleetWindow): Promise<unknown> {
  const sessions = z
    .object({ sessions: z.array(z.object({ id: z.string(), agent: z.string() })) })
    .parse(JSON.parse(await readFile(window.paths.mcpSessions, 'utf8')));
  const agents = await window.agents();
  return agents.map(({ name, life, launchCount, session }) => ({
    name,
    pid: life.kind === 'running' && life.running.process.pid,
    launchCount,
    conversation: session?.id,
    mcp: sessions.sessions.filter(({ agent }) => agent === name).map(({ id }) => id),
  }));
}
