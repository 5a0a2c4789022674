import { deepStrictEqual, ok } from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { delay } from '../../src/base/async.ts';
import { silentLog } from '../../src/base/log.ts';
import { shellLine } from '../../src/core/claude/shellLine.ts';
import type { FleetState } from '../../src/core/fleet/state.ts';
import { exists } from '../../src/node/files.ts';
import { ensureHolder } from '../../src/node/gatewayLauncher.ts';
import { readState } from '../../src/node/stateFiles.ts';
import { findProcesses } from '../harness/processes.mjs';
import { waitFor } from '../harness/waitFor.ts';
import { actingHost } from './actingHost.ts';
import type { EditorWindow } from './editorWindow.ts';
import { FleetWindow, type StoryReport } from './fleetWindow.ts';
import type { Story } from './story.ts';

const line = '/mcp reconnect bowline-self';

/** How long the port is closed while no window is open, in milliseconds. */
const portClosed = 60_000;

/**
 * Windows show one fleet; the one that acts is killed amid a launch, a healing and a restart, and another one goes on:
 * nothing runs twice. Then all are closed, and the tools are lost: healed by itself, and a window opened later shows it.
 */
export const threeWindows: Story = {
  name: 'two windows and a killed one, three and a restart, then healed with no window at all',
  versions: ['2.1.332'],
  run: (version, report) =>
    FleetWindow.play(version, report, async (window) => {
      const restart = await slowEnds(window);
      const all = await killedAmidLaunch(window, report);
      await killedAmidHealing(window, all, report);
      await killedAmidRestart(window, all, restart, report);
      await healedWithoutWindow(window, report);
    }),
};

async function killedAmidLaunch(window: FleetWindow, report: StoryReport): Promise<readonly EditorWindow[]> {
  const two = [window.editor, await window.openAnother()];
  await window.createAgent('ada');
  report.say(`killed amid the launch: ${await killActing(window)}`);
  await window.waitForBindings('bound', { timeoutMs: 90_000 });
  await showTheSame(two, /^1 bound/);
  deepStrictEqual(await runs(window), { ada: 1 });

  const all = [...two, await window.openAnother()];
  await all[1]?.answerNewAgent('bo');
  await waitFor('bo', async () => Object.keys(await window.bindings()).length === 2, { timeoutMs: 30_000 });
  await window.waitForBindings('bound', { timeoutMs: 90_000 });
  await showTheSame(all, /^2 bound/);
  return all;
}

async function killedAmidHealing(
  window: FleetWindow,
  all: readonly EditorWindow[],
  report: StoryReport,
): Promise<void> {
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
  await showTheSame(all, /^2 bound/);
  deepStrictEqual(await runs(window), { ada: 1, bo: 1 });
  await window.waitForInput('ada');
  const screen = await window.screen('ada');
  deepStrictEqual(screen.split(line).length, 2, `the line was typed once, but the screen shows\n${screen}`);
}

/** The window that acts has told the former process to end, and would start the new one then. */
async function killedAmidRestart(
  window: FleetWindow,
  all: readonly EditorWindow[],
  ends: SlowEnds,
  report: StoryReport,
): Promise<void> {
  const [before] = await lives(window);
  const killed = (await fleetState(window)).hands?.holder;
  const { pid, log } = await actingHost(window);
  await ends.begin();
  await window.fleet.request('POST', '/agents/ada/restart', { body: { mode: 'resume' } });
  await waitFor('the former process to end', ends.begun, { timeoutMs: 30_000, everyMs: 5 });
  process.kill(pid, 'SIGKILL');
  report.say(`killed amid the restart: ${log}`);
  await waitFor('the next launch of ada', async () => (await window.agent('ada')).launchCount === 2, {
    timeoutMs: 30_000,
  });
  await window.waitForBindings('bound', { timeoutMs: 90_000 });
  await showTheSame(all, /^2 bound/);
  deepStrictEqual(await runs(window), { ada: 2, bo: 1 });
  const [after] = await lives(window);
  deepStrictEqual(after?.conversation, before?.conversation);

  const { audit } = await fleetState(window);
  const ofRestart = audit.slice(audit.findLastIndex((one) => one.action === 'life' && one.to === 'launching'));
  const ofAda = ofRestart.filter(({ agent }) => agent === 'ada');
  deepStrictEqual(
    ofAda.flatMap((one) => (one.action === 'life' ? [`${one.trigger}: ${one.to}`] : [])),
    ['launch requested: launching', 'launched: running'],
    JSON.stringify(ofAda, undefined, 1),
  );
  const finisher = ofAda.find((one) => one.action === 'life' && one.trigger === 'launched')?.by;
  ok(finisher?.startsWith('hands: ') && finisher !== `hands: ${killed}`, `${finisher} finished, not ${killed}`);
  for (const [index, one] of all.entries()) await window.picture(`window-${index + 1}`, one);
}

/** VS Code is closed, the tools are lost in the night: healed before morning, and the next window tells of it. */
async function healedWithoutWindow(window: FleetWindow, report: StoryReport): Promise<void> {
  const before = await lives(window);
  await window.closeEditor();
  // After a client's last retry nothing comes by itself.
  const port = await window.closePort();
  await delay(portClosed);
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
  await window.editor.runFor('bo', 'Bowline: Show Audit');
  await window.editor.waitForDocument(/reconnect of bowline-self started\. By the rule for healing\./, {
    timeoutMs: 30_000,
  });
  await window.picture('morning');
}

interface SlowEnds {
  /** From now on a claude that is told to end takes a second. */
  begin(): Promise<void>;
  /** Whether one has begun to. */
  readonly begun: () => Promise<boolean>;
}

/** A hook of the person's own, in Claude's user settings: it makes the middle of a restart long enough to be met. */
async function slowEnds(window: FleetWindow): Promise<SlowEnds> {
  const directory = path.join(path.dirname(window.fleet.stateDirectory), 'home', '.claude');
  const [wanted, begun] = [path.join(directory, 'slow'), path.join(directory, 'ending')];
  const isWanted = shellLine(['test', '-e', wanted]);
  const command = `! ${isWanted} || { ${shellLine(['touch', begun])}; sleep 1; }`;
  await mkdir(directory, { recursive: true });
  const hooks = { SessionEnd: [{ hooks: [{ type: 'command', command }] }] };
  await writeFile(path.join(directory, 'settings.json'), JSON.stringify({ hooks }));
  return { begin: () => writeFile(wanted, ''), begun: () => exists(begun) };
}

/** The fleet as it is on disk. */
async function fleetState(window: FleetWindow): Promise<FleetState> {
  const reading = await readState(window.paths);
  if (reading.kind !== 'ok') throw new Error(`the state is ${reading.kind}`);
  return reading.state;
}

interface Life {
  readonly name: string;
  readonly pid: number | undefined;
  readonly launchCount: number;
  readonly conversation: string | undefined;
}

/** What must be the same before and after. */
async function lives(window: FleetWindow): Promise<readonly Life[]> {
  const agents = await window.agents();
  return agents.map(({ name, life, launchCount, session: conversation }) => ({
    ...{ name, launchCount, conversation: conversation?.id },
    pid: life.kind === 'running' ? life.running.process.pid : undefined,
  }));
}

/** Kills the extension host that has the hands with -9, and resolves with the name of its log. */
async function killActing(window: FleetWindow): Promise<string> {
  const { pid, log } = await actingHost(window);
  process.kill(pid, 'SIGKILL');
  return log;
}

/** Waits until all windows, the killed one among them, show the same agents, states and Binding Health. */
async function showTheSame(all: readonly EditorWindow[], status: RegExp): Promise<void> {
  for (const window of all) await untilAwake(window, status);
  let last: unknown;
  try {
    await waitFor(
      'all windows to show the same',
      async () => {
        const looks = await Promise.all(all.map(lookOf));
        last = looks;
        for (const look of looks) deepStrictEqual(look, looks[0]);
        ok(looks[0]?.health?.includes('ada'));
        return true;
      },
      { timeoutMs: 30_000, everyMs: 200 },
    );
  } catch (error) {
    throw new Error(`the windows differ:\n${JSON.stringify(last, undefined, 1)}`, { cause: error });
  }
}

/** VS Code itself starts a killed extension host again; one that it left dead (seen once) is started as a person would. */
async function untilAwake(window: EditorWindow, status: RegExp): Promise<void> {
  try {
    await window.waitForStatus(status, { timeoutMs: 30_000 });
  } catch {
    await window.restartExtensionHost();
    await window.waitForStatus(status, { timeoutMs: 60_000 });
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
