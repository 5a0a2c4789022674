import { deepStrictEqual, match, ok } from 'node:assert/strict';
import { claudeVersions } from '../harness/claude.ts';
import { waitFor } from '../harness/waitFor.ts';
import type { WrappedClaude } from '../harness/wrappedClaude.ts';
import { actingHost } from './actingHost.ts';
import { FleetWindow, type StoryReport } from './fleetWindow.ts';
import { rows } from './rows.ts';
import { restart, untilBound, untilWorked } from './steps.ts';
import type { Story } from './story.ts';

/** Ada is used by a person; the others are resumed without their tools: bo saved nothing, hal did, ivy before `/clear`. */
const names = ['ada', 'bo', 'hal', 'ivy'] as const;
const deaf = ['bo', 'hal', 'ivy'] as const;
/** Two tries of `reconnect`, and two restarts by healing that keep their distance, each with its grace time. */
const climbing = { timeoutMs: 180_000, everyMs: 200 };
const inTheWindow = { timeoutMs: 60_000 };

/** A restart without the conversation: by a person or by healing, over a good save, a stale one or none. */
export const guard: Story = {
  name: 'restarts: the guard shows its plan, holds back, lets out who cannot save, and records a bypass',
  versions: claudeVersions,
  run: async (version, report) => {
    await FleetWindow.playWrapped(
      version,
      report,
      async (window, claude) => {
        await window.createAgent('ada');
        for (const body of window.fleet.agents.slice(1)) await window.fleet.request('POST', '/agents', { body });
        await window.waitForBindings('bound', { timeoutMs: 90_000 });
        await workAndSave(window);
        for (const name of deaf) await claude.behave(name, 'resume', { mcp: 'strip' });
        for (const name of deaf) await restart(window, name);

        // Meanwhile hal and ivy climb the ladder.
        await resumed(window, report);
        await heldBack(window, report);
        await bypassed(window, report);
        await letOut(window, report);

        await freshOverGoodSave(window, claude, report);
        await askedOverStaleSave(window, report);
        await freshInSpiteOfKill(window, claude, report);
      },
      { names },
    );
  },
};

async function workAndSave(window: FleetWindow): Promise<void> {
  for (const name of ['ada', 'bo']) await window.prompt(name, 'hello');
  for (const name of ['hal', 'ivy']) {
    const context = `{"context":"all that matters to ${name}"}`;
    await window.callTool(name, `save_my_context ${context}`, { timeoutMs: 30_000 });
  }
  for (const name of names) await untilWorked(window, name);
  const saved = (await window.agent('ivy')).session?.id;
  await window.prompt('ivy', '/clear');
  await waitFor('another conversation of ivy', async () => (await window.agent('ivy')).session?.id !== saved, climbing);
  await window.waitForInput('ivy');
  await window.prompt('ivy', 'hello');
  await untilWorked(window, 'ivy');
  // Bo waits for a person.
  await window.fleet.request('POST', '/agents/bo/configure', { body: { healing: 'off' } });
}

async function resumed(window: FleetWindow, report: StoryReport): Promise<void> {
  const conversation = (await window.agent('ada')).session?.id;
  await window.editor.runFor('ada', 'Bowline: Restart');
  await untilBound(window, 'ada', 2);
  deepStrictEqual((await window.agent('ada')).session?.id, conversation);
  report.say('restart from the palette: same conversation');
}

/** The plan says it before, the refusal says why. */
async function heldBack(window: FleetWindow, report: StoryReport): Promise<void> {
  const { editor } = window;
  await editor.runFor('ada', 'Bowline: Show Restart Plan');
  await editor.waitForDocument(/missing context/, inTheWindow);
  await window.picture('plan');
  await editor.runFor('ada', 'Bowline: Force Fresh Restart');
  deepStrictEqual(await editor.offers('ada was not restarted: missing context', inTheWindow), [
    'Save, Then Restart',
    'Bypass...',
  ]);
  await window.picture('held-back');
  deepStrictEqual((await window.agent('ada')).launchCount, 2);
  report.say('dry run: verdict and plan; a fresh restart over unsaved work is refused');
}

async function bypassed(window: FleetWindow, report: StoryReport): Promise<void> {
  const { editor } = window;
  await editor.take('ada was not restarted: missing context', 'Bypass...', inTheWindow);
  match(await editor.dialog(inTheWindow), /bypassing the guard\?[^]*says: missing context[^]*recorded in the audit/);
  await window.picture('bypass');
  await editor.answerDialog('Start Fresh');
  await untilBound(window, 'ada', 3);
  await editor.runFor('ada', 'Bowline: Show Audit');
  await editor.waitForDocument(/guard bypassed for a fresh restart; it said: missing/, inTheWindow);
  await window.picture('audit');
  report.say(rows.bypass);
}

/** Nothing is saved and nothing can be: the loss is told, and nobody is locked in. */
async function letOut(window: FleetWindow, report: StoryReport): Promise<void> {
  const isDeaf = async (): Promise<boolean> => (await window.bindings())['bo']?.endsWith('unbound') === true;
  await waitFor('bo without tools', isDeaf, climbing);
  await window.editor.runFor('bo', 'Bowline: Force Fresh Restart');
  await untilBound(window, 'bo', 3);
  const { life } = await window.agent('bo');
  ok(life.kind === 'running');
  const { mode, cause, guard: bypass } = life.running.launch;
  deepStrictEqual([mode, cause, bypass], ['fresh', 'person', undefined]);
  await window.editor.offers('bo is restarted without a save (missing context)', inTheWindow);
  report.say(rows.deadTools);
}

async function freshOverGoodSave(window: FleetWindow, claude: WrappedClaude, report: StoryReport): Promise<void> {
  await waitFor('the fresh start of hal', async () => (await window.agent('hal')).launchCount === 4, climbing);
  await untilBound(window, 'hal', 4);
  const { launches, session, lineage, incidents } = await window.agent('hal');
  const starts = (await claude.starts()).filter(({ agent }) => agent === 'hal');
  deepStrictEqual(
    {
      launches: launches.map(({ launch, reason }) => `${launch.mode} by ${launch.cause} ${reason}`),
      resumes: starts.map(({ arguments: words }) => words.some((word) => word.startsWith('--resume'))),
      former: lineage.at(-1)?.id === launches.at(-1)?.launch.expectedSessionId,
      isNew: session?.id !== lineage.at(-1)?.id,
      incidents,
    },
    {
      launches: ['fresh by person replaced', 'resume by person replaced', 'resume by healing replaced'],
      resumes: [false, true, true, false],
      former: true,
      isNew: true,
      incidents: {},
    },
  );
  deepStrictEqual(await rungsInTimeline(window, 'hal'), [
    'reconnect started',
    'reconnect failed',
    'reconnect started',
    'reconnect failed',
    'resume started',
    'resume failed',
    'fresh started',
    'fresh verified',
  ]);
  await window.picture('timeline');
  await window.prompt('hal', 'go on');
  await untilWorked(window, 'hal');
  const heard = window.fleet.model?.requests.findLast(({ text }) => text.includes('go on'));
  match(heard?.notes ?? '', /all that matters to hal/);
  report.say(rows.fresh);
}

/** What Binding Health tells of an agent's steps, oldest first. */
async function rungsInTimeline(window: FleetWindow, name: string): Promise<readonly string[]> {
  const lines = await window.editor.timeline('fresh verified', inTheWindow);
  return lines
    .filter((line) => line.includes(name))
    .flatMap((line) => /(?<!launch )\b(reconnect|resume|fresh) (started|failed|verified)/.exec(line)?.[0] ?? [])
    .reverse();
}

async function askedOverStaleSave(window: FleetWindow, report: StoryReport): Promise<void> {
  const end = await waitFor(
    'ivy to wait for a person',
    async () => Object.values((await window.agent('ivy')).incidents)[0]?.end,
    climbing,
  );
  deepStrictEqual([end.kind, end.reason], ['asked', 'guard']);
  match(
    end.detail,
    /does not allow a fresh start \(different session\)\. Would be lost: Everything since the last save/,
  );
  const { incidents, launchCount, session, lineage, life } = await window.agent('ivy');
  deepStrictEqual(
    [
      Object.values(incidents).flatMap(({ attempts }) => attempts.map(({ rung, outcome }) => `${rung} ${outcome}`)),
      [launchCount, life.kind, lineage.length],
      life.kind === 'running' && life.running.launch.expectedSessionId === session?.id,
    ],
    [['reconnect failed', 'reconnect failed', 'resume failed'], [3, 'running', 1], true],
  );
  await window.waitForHealthText(/needs your choice: Restart did not help[^]*different session/, inTheWindow);
  await window.picture('asked');
  report.say(rows.stale);
}

/** The hands are held still, so that the gateway is killed when the fresh start is asked for and not yet made. */
async function freshInSpiteOfKill(window: FleetWindow, claude: WrappedClaude, report: StoryReport): Promise<void> {
  await window.callTool('ada', 'save_my_context {"context":"half way through"}', { timeoutMs: 30_000 });
  await untilWorked(window, 'ada');
  const former = (await window.agent('ada')).session?.id;
  const starts = (await claude.starts()).length;
  const { gateway } = await window.gatewayProcesses();
  const { pid } = await actingHost(window);
  process.kill(pid, 'SIGSTOP');
  try {
    await window.fleet.request('POST', '/agents/ada/restart', { body: { mode: 'fresh' } });
    process.kill(gateway, 'SIGKILL');
    await waitFor('the next gateway', async () => (await window.gatewayProcesses()).gateway !== gateway, climbing);
    deepStrictEqual([(await window.agent('ada')).launchCount, (await claude.starts()).length], [4, starts]);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await untilBound(window, 'ada', 4);
  const { session, lineage } = await window.agent('ada');
  const since = (await claude.starts()).slice(starts).filter(({ agent }) => agent === 'ada');
  deepStrictEqual(
    [
      session?.id === former,
      lineage.at(-1)?.id,
      since.map(({ arguments: words }) => words.join().includes('--resume')),
    ],
    [false, former, [false]],
  );
  const context = await window.callTool('ada', 'load_my_context', { timeoutMs: 30_000 });
  ok(context.includes('half way through'), `the saved context must be there, not: ${context}`);
  await window.waitForStatus(/^1 lost tools: ivy/, inTheWindow);
  report.say(rows.forceFresh);
}
