import { deepStrictEqual, ok } from 'node:assert/strict';
import { delay } from '../../src/base/async.ts';
import { type ClaudeVersion, claudeVersions } from '../harness/claude.ts';
import { waitFor } from '../harness/waitFor.ts';
import { FleetWindow, type StoryReport } from './fleetWindow.ts';
import type { Story } from './story.ts';

const server = 'bowline-self';

/** How long the gateway is kept dead, and the port closed, in milliseconds. */
const times = { gatewayDead: 20_000, portClosed: 60_000, callAfter: 4_000, backWithin: 10_000 } as const;

/** What must be the same before and after. */
interface Fingerprint {
  readonly launch: string;
  readonly pid: number;
  readonly conversation: string | undefined;
  readonly mcpSession: string | undefined;
}

/** The main story: bound, VS Code closed and opened again, gateway killed, port closed, bound again. */
export const blackout: Story = {
  name: 'VS Code closed and opened again, gateway killed, then its port closed, and back',
  versions: claudeVersions,
  run: (version, report) =>
    FleetWindow.play(version, report, async (window) => {
      await startTwoAgents(window, report);
      await closedAndOpened(window, report);
      await gatewayKilled(window, report);
      await portClosed(window, version, report);
    }),
};

async function startTwoAgents(window: FleetWindow, report: StoryReport): Promise<void> {
  await window.createAgents();
  const took = await window.waitForBindings('bound', { timeoutMs: 90_000 });
  await window.waitForStatus(/2 bound/, { timeoutMs: 30_000 });
  await window.waitForHealthText(/bound/i, { timeoutMs: 15_000 });
  report.say(`two agents bound after ${seconds(took)}`);
  for (const name of ['ada', 'bo']) await callWorks(window, name);
  await window.picture('two-agents-bound');
}

/** The agents work on while no window is open, and are found running and bound; nothing was restarted. */
async function closedAndOpened(window: FleetWindow, report: StoryReport): Promise<void> {
  const before = await fingerprints(window);
  const { gateway } = await window.gatewayProcesses();
  await window.closeEditor();
  await callWorks(window, 'ada');
  await window.openEditor();
  await window.waitForStatus(/2 bound/, { timeoutMs: 30_000 });
  await window.waitForHealthText(/ada[\s\S]*bo/, { timeoutMs: 15_000 });
  deepStrictEqual(await fingerprints(window), before);
  deepStrictEqual((await window.gatewayProcesses()).gateway, gateway);
  await window.picture('reopened');
  report.say('VS Code closed and opened again: both go on, nothing was restarted');
}

/** The gateway alone dies and stays dead for 20 s: clients wait at the open port, a call made meanwhile succeeds. */
async function gatewayKilled(window: FleetWindow, report: StoryReport): Promise<void> {
  const before = await fingerprints(window);
  const { holder, gateway } = await window.gatewayProcesses();
  // A stopped holder starts no new gateway; its socket stays open in the kernel.
  process.kill(holder, 'SIGSTOP');
  process.kill(gateway, 'SIGKILL');
  const killedAt = performance.now();
  await window.waitForStatus(/reconnecting|gateway down/, { timeoutMs: 5_000 });
  await delay(times.callAfter);
  const call = window.callTool('ada', 'whoami', { timeoutMs: 60_000 });
  await window.waitForStatus(/gateway down/, { timeoutMs: 5_000 });
  await window.picture('gateway-dead');
  await delay(times.gatewayDead - (performance.now() - killedAt));
  ok(!/lost tools/.test(await window.status()), 'clients that wait are not called lost');
  process.kill(holder, 'SIGCONT');
  const answer = await call;
  ok(answer.includes('ada'), `the call made meanwhile must succeed, but got ${answer}`);
  const took = await window.waitForBindings('bound', { timeoutMs: times.backWithin });
  await window.waitForActivity('ada', 'idle', { timeoutMs: 15_000 });
  deepStrictEqual(await fingerprints(window), before);
  await nothingTyped(window);
  await callWorks(window, 'bo');
  await window.waitForStatus(/2 bound/, { timeoutMs: 30_000 });
  await window.picture('gateway-back');
  report.say(`gateway dead for 20 s: the call made meanwhile succeeded, both bound ${seconds(took)} after it`);
}

/** Holder and gateway die and the port is closed for 60 s: the clients' own retries run out. */
async function portClosed(window: FleetWindow, version: ClaudeVersion, report: StoryReport): Promise<void> {
  const before = await fingerprints(window);
  const { gateway } = await window.gatewayProcesses();
  const port = await window.closePort();
  const closedAt = performance.now();
  await window.waitForStatus(/gateway down/, { timeoutMs: 10_000 });
  if (version === '2.1.332') {
    await window.waitForStatus(/2 lost tools: ada, bo/, { timeoutMs: 25_000 });
    await window.waitForHealthText(/gateway (is|was) away/i, { timeoutMs: 5_000 });
  }
  await window.picture('port-closed');
  await delay(times.portClosed - (performance.now() - closedAt));
  await port.open();
  await waitFor('a new gateway', async () => (await window.gatewayProcesses()).gateway !== gateway, {
    timeoutMs: 15_000,
  });
  if (version === '2.1.332') await healedByReconnect(window, before, report);
  else await boundByNextCall(window, before, report);
}

async function healedByReconnect(
  window: FleetWindow,
  before: Readonly<Record<string, Fingerprint>>,
  report: StoryReport,
): Promise<void> {
  const took = await window.waitForBindings('bound', { timeoutMs: times.backWithin });
  deepStrictEqual(conversations(await fingerprints(window)), conversations(before));
  await window.waitForStatus(/2 bound/, { timeoutMs: 30_000 });
  for (const name of ['ada', 'bo']) await callWorks(window, name);
  await window.picture('healed');
  report.say(`port closed for 60 s: both bound ${seconds(took)} after the gateway was back, same conversations`);
}

async function boundByNextCall(
  window: FleetWindow,
  before: Readonly<Record<string, Fingerprint>>,
  report: StoryReport,
): Promise<void> {
  await window.waitForBindings('not checkable', { timeoutMs: times.backWithin + 5_000 });
  await window.waitForStatus(/2 not checkable/, { timeoutMs: 30_000 });
  await window.picture('not-checkable');
  await nothingTyped(window);
  for (const name of ['ada', 'bo']) await callWorks(window, name);
  await window.waitForBindings('bound', { timeoutMs: times.backWithin });
  deepStrictEqual(conversations(await fingerprints(window)), conversations(before));
  await window.waitForStatus(/2 bound/, { timeoutMs: 30_000 });
  await window.picture('bound-by-next-call');
  report.say('port closed for 60 s: not checkable, and bound by the next call, nothing typed');
}

async function callWorks(window: FleetWindow, name: string): Promise<void> {
  const answer = await window.callTool(name, 'whoami', { timeoutMs: 30_000 });
  ok(answer.includes(name), `whoami of ${name} answered ${answer}`);
  await window.waitForActivity(name, 'idle', { timeoutMs: 15_000 });
}

async function nothingTyped(window: FleetWindow): Promise<void> {
  for (const name of ['ada', 'bo']) {
    const screen = await window.screen(name);
    ok(!screen.includes('/mcp'), `something was typed into ${name}:\n${screen}`);
  }
}

async function fingerprints(window: FleetWindow): Promise<Readonly<Record<string, Fingerprint>>> {
  return Object.fromEntries(
    (await window.agents()).map((agent) => {
      const { life } = agent;
      if (life.kind !== 'running') throw new Error(`${agent.name} is ${life.kind}`);
      return [
        agent.name,
        {
          launch: life.running.launch.id,
          pid: life.running.process.pid,
          conversation: agent.session?.id,
          mcpSession: agent.bindings[server]?.session,
        },
      ];
    }),
  );
}

/** Everything but the MCP session, which a client opens anew. */
function conversations(all: Readonly<Record<string, Fingerprint>>): unknown {
  return Object.entries(all).map(([name, { launch, pid, conversation }]) => [name, launch, pid, conversation]);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
