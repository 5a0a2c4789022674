import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Emitter } from '../../../src/base/events.ts';
import { toDisposable } from '../../../src/base/lifecycle.ts';
import type { FleetEvent } from '../../../src/core/fleet/events.ts';
import { reduce } from '../../../src/core/fleet/reduce.ts';
import type { FleetState } from '../../../src/core/fleet/state.ts';
import { ConversationFinder } from '../../../src/gateway/conversationFinder.ts';
import { LaunchFiles } from '../../../src/gateway/launchFiles.ts';
import { Restarts } from '../../../src/gateway/restarts.ts';
import { ScreenLooks } from '../../../src/gateway/screenLooks.ts';
import type { After } from '../../../src/gateway/timer.ts';
import type { NumberedEvent } from '../../../src/node/stateFiles.ts';
import { statePaths } from '../../../src/node/statePaths.ts';
import { restartPlanSchema } from '../../../src/protocol/restartPlan.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

/** A fleet in memory; `hands` stands for whoever looks at screens. */
class MemoryFleet {
  private readonly emitter = new Emitter<NumberedEvent>();
  readonly kinds: string[] = [];
  readonly onEvent = this.emitter.event;
  hands: (event: FleetEvent) => FleetEvent | undefined = () => undefined;
  constructor(public state: FleetState) {}
  report(event: FleetEvent): void {
    this.kinds.push(event.kind);
    this.state = reduce(this.state, event);
    this.emitter.fire({ sequence: 1, event });
    const answer = this.hands(event);
    if (answer === undefined) return;
    queueMicrotask(() => {
      this.report(answer);
    });
  }
  reportDurably(event: FleetEvent): Promise<void> {
    this.report(event);
    return Promise.resolve();
  }
}

const sessionId = '11111111-2222-4333-8444-555555555555';

const unsent = (event: FleetEvent): FleetEvent | undefined =>
  event.kind === 'look requested'
    ? { ...event, kind: 'screen looked at', askedAt: event.at, shows: 'unsent input' }
    : undefined;

describe('restarts', () => {
  let root: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'bowline-restarts-')));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  function parts(story: FleetStory, after?: After): { fleet: MemoryFleet; restarts: Restarts; files: LaunchFiles } {
    const fleet = new MemoryFleet(story.state);
    const keys = { keyOf: () => Promise.resolve('a key'), ownerOf: () => undefined };
    const files = new LaunchFiles({
      fleet,
      paths: statePaths(root),
      keys,
      own: { give: () => Promise.resolve([]) },
      port: 4711,
    });
    const clock = (): number => story.now;
    const looks = new ScreenLooks({ fleet, clock, ...(after !== undefined && { after }) });
    return {
      fleet,
      files,
      restarts: new Restarts({
        fleet,
        clock,
        looks,
        files,
        finder: new ConversationFinder({ fleet, clock, environment: {} }),
      }),
    };
  }
  const worked = (): FleetStory =>
    FleetStory.bound()
      .tell({ kind: 'hands changed', holder: 'window 1' })
      .hook({ event: 'UserPromptSubmit', sessionId })
      .wait(1_000)
      .hook({ event: 'Stop', sessionId });
  const command = { kind: 'restart', name: 'ada', mode: 'resume', guard: 'enforce' } as const;

  it('has the hands look first, and is blocked by what they see; the bypass asks nobody', async () => {
    const { fleet, restarts } = parts(worked());
    fleet.hands = unsent;
    await assert.rejects(restarts.restart('ada', command, 'window 1'), /ada was not restarted: unsent input/);
    await restarts.restart('ada', { ...command, guard: 'bypass' }, 'window 1');
    assert.deepStrictEqual(fleet.kinds, ['look requested', 'screen looked at', 'guard bypassed', 'launch requested']);
  });

  it('goes on when the hands take too long, and at once when nobody has the hands', async () => {
    const waited: number[] = [];
    const atOnce: After = (milliseconds, run) => {
      waited.push(milliseconds);
      queueMicrotask(run);
      return toDisposable(() => undefined);
    };
    const slow = parts(worked(), atOnce);
    await slow.restarts.restart('ada', command, 'window 1');
    const nobody = parts(worked().tell({ kind: 'hands changed' }), atOnce);
    await nobody.restarts.restart('ada', command, 'window 1');
    assert.deepStrictEqual(
      [slow.fleet.kinds, nobody.fleet.kinds, waited],
      [['look requested', 'launch requested'], ['launch requested'], [1_500]],
    );
  });

  it('tells what a restart would do: command, conversation, verdict, and variables by name only', async () => {
    const story = worked();
    const { settings } = story.state;
    const environment = { KEPT: 'kept-value', CHANGED: 'one-value', GONE: 'gone-value' };
    story.tell({ kind: 'settings changed', settings: { ...settings, environment } });
    const before = parts(story);
    const { life } = story.agent();
    if (life.kind === 'running') await before.files.prepare(story.agent(), life.running.launch);
    const next = { KEPT: 'kept-value', CHANGED: 'other-value', NEW: 'new-value' };
    story.tell({ kind: 'settings changed', settings: { ...settings, environment: next } });
    const { fleet, restarts } = parts(story);
    fleet.hands = unsent;
    const resume = await restarts.plan('ada', 'resume');
    fleet.hands = (event) => {
      const answer = unsent(event);
      return answer?.kind === 'screen looked at' ? { ...answer, shows: 'empty input' } : answer;
    };
    const fresh = await restarts.plan('ada', 'fresh');
    const written = readFileSync(statePaths(root).agent('ada').launched, 'utf8');
    assert.deepStrictEqual(
      [
        [resume.mode, resume.sessionId, resume.directory],
        resume.command.replaceAll(root, ''),
        resume.guard.kind === 'verdict' && resume.guard.sentence,
        resume.environment,
        [fresh.mode, fresh.sessionId, fresh.guard.kind === 'verdict' && fresh.guard.wouldBeLost],
        fresh.guard.kind === 'verdict' && fresh.guard.sentence,
        /-value/.test(JSON.stringify([resume, fresh]) + written),
        story.state === fleet.state,
      ],
      [
        ['resume', sessionId, '/work/ada'],
        `'claude' '--settings=/agents/ada/settings.json' '--mcp-config=/agents/ada/mcp.json' '--resume=${sessionId}'`,
        'Blocked: unsent input. Attach, and send or remove what stands there.',
        { kind: 'compared', added: ['NEW'], changed: ['CHANGED'], removed: ['GONE'] },
        ['fresh', undefined, 'Everything in the conversation: the agent saved no context. The transcript file stays.'],
        'Blocked: missing context. Ask the agent to save its context first, or restart it with resume.',
        false,
        false,
      ],
    );
    restartPlanSchema.parse(JSON.parse(JSON.stringify(resume)));
  });

  it('says so when there is no record to compare with', async () => {
    const { restarts } = parts(new FleetStory().create());
    const plan = await restarts.plan('ada', 'resume');
    assert.deepStrictEqual(
      [plan.mode, plan.environment, plan.guard.kind === 'verdict' && plan.guard.sentence],
      ['fresh', { kind: 'nothing to compare', set: ['BOWLINE_AGENT'] }, 'Allowed: not running.'],
    );
  });
});
