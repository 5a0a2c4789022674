import { deepStrictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { silentLog } from '../../../src/base/log.ts';
import type { HookFact } from '../../../src/core/claude/facts.ts';
import { runningLaunch } from '../../../src/core/fleet/agent.ts';
import { ReportOrigins } from '../../../src/gateway/reportOrigins.ts';
import { type ProcessIdentity, processIdentity } from '../../../src/node/processIdentity.ts';
import { agentRunning, MemoryFleet } from '../../harness/mcpFleet.ts';

/** Processes are real; what claude is to them is a shell and its child. */
describe('where a report of a hook comes from', () => {
  let pane: ChildProcess;
  let below: number;
  let copy: ChildProcess;
  let fleet: MemoryFleet;
  let origins: ReportOrigins;

  beforeEach(async () => {
    pane = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
    copy = spawn('sleep', ['600'], { stdio: 'ignore' });
    const [line] = pane.stdout === null ? [] : ((await once(pane.stdout, 'data')) as unknown[]);
    below = Number(String(line));
    fleet = new MemoryFleet();
    for (const event of agentRunning('ada', 1)) {
      const process = { tmuxSession: '$1', pane: '%1', pid: pane.pid ?? 0 };
      fleet.report(event.kind === 'launched' ? { ...event, process } : event);
    }
    origins = anew();
  });

  afterEach(() => {
    for (const { pid } of [pane, copy]) if (pid !== undefined) end(pid);
    end(below);
  });

  function anew(): ReportOrigins {
    return new ReportOrigins({ fleet, clock: () => 9, log: silentLog });
  }

  function end(pid: number): void {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }

  async function counts(
    by: ProcessIdentity | number | undefined,
    event: HookFact['event'] = 'Stop',
    launchId = 'ada.1',
  ): Promise<boolean> {
    const identity = typeof by === 'number' ? await processIdentity(by) : by;
    const hook = { event, sessionId: 's', transcriptExists: true };
    return origins.counts('ada', { at: 9, launchId, hook, ...(identity !== undefined && { process: identity }) });
  }

  const doubled = (): number | undefined => {
    const agent = fleet.state.agents['ada'];
    return agent === undefined ? undefined : runningLaunch(agent)?.doubled?.pid;
  };

  it('is the agent itself, or another process that does not count, is told once, and until it is gone', async () => {
    const other = copy.pid ?? 0;
    const identity = await processIdentity(other);
    const told = [];
    for (const [by, event] of [
      [below, 'SessionStart'],
      [other, 'SessionStart'],
      [other, 'Stop'],
      [pane.pid, 'Stop'],
      [other, 'SessionEnd'],
      [other, 'UserPromptSubmit'],
    ] as const) {
      told.push([await counts(by, event), doubled() === other]);
    }
    copy.kill('SIGKILL');
    await once(copy, 'exit');
    told.push([await counts(identity), doubled() === other], [await counts(below), doubled()]);
    deepStrictEqual(
      { told, events: fleet.ofKind('launch doubled').map(({ process }) => process?.pid) },
      {
        told: [
          [true, false],
          [false, true],
          [false, true],
          [true, true],
          [false, false],
          [false, true],
          [true, true],
          [true, undefined],
        ],
        events: [other, undefined, other, undefined],
      },
    );
  });

  it('counts where it cannot be told', async () => {
    const other = copy.pid ?? 0;
    const before = await counts(other);
    await counts(below);
    const elsewhere = await processIdentity(other);
    const answers = {
      beforeOwn: before,
      noProcess: await counts(undefined),
      otherNamespace: elsewhere && (await counts({ ...elsewhere, startTime: `${elsewhere.startTime}1` })),
      otherLaunch: await counts(other, 'Stop', 'ada.0'),
    };
    origins = anew();
    const afterRestart = await counts(other);
    await counts(below);
    pane.kill('SIGKILL');
    await once(pane, 'exit');
    deepStrictEqual(
      { ...answers, afterRestart, ownEnded: await counts(other), told: fleet.ofKind('launch doubled').length },
      {
        ...{ beforeOwn: true, noProcess: true, otherNamespace: true, otherLaunch: true, afterRestart: true },
        ...{ ownEnded: true, told: 0 },
      },
    );
  });
});
