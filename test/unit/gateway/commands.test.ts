import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BowlineError } from '../../../src/base/errors.ts';
import type { FleetEvent } from '../../../src/core/fleet/events.ts';
import { plan } from '../../../src/core/fleet/plan.ts';
import { reduce, reduceAll } from '../../../src/core/fleet/reduce.ts';
import type { FleetState } from '../../../src/core/fleet/state.ts';
import { Commands } from '../../../src/gateway/commands.ts';
import { ConversationFinder } from '../../../src/gateway/conversationFinder.ts';
import type { FleetPort } from '../../../src/gateway/ports.ts';
import { PromptCommands } from '../../../src/gateway/promptCommands.ts';
import { Restarts } from '../../../src/gateway/restarts.ts';
import type { Command } from '../../../src/protocol/commands.ts';

const self = 'bowline-self';
const now = 1_000_000;

/** A fleet that keeps what is reported in memory. */
class MemoryFleet implements FleetPort {
  readonly kinds: string[] = [];
  constructor(public state: FleetState) {}
  report(event: FleetEvent): void {
    this.kinds.push(event.kind);
    this.state = reduce(this.state, event);
  }
  reportDurably(event: FleetEvent): Promise<void> {
    this.report(event);
    return Promise.resolve();
  }
}

/** What would be on disk, by prompt id. */
const promptTexts = new Map<string, string>();

function promptsOf(fleet: FleetPort): PromptCommands {
  return new PromptCommands({
    fleet,
    clock: () => now,
    keys: { keyOf: () => Promise.resolve('key') },
    prompts: {
      save: (_name, id, text) => {
        promptTexts.set(id, text);
        return Promise.resolve();
      },
    },
  });
}

/** It knows no home directory, and so finds nothing. */
function finderOf(fleet: FleetPort): ConversationFinder {
  return new ConversationFinder({ fleet, clock: () => now, environment: {} });
}

/** Nobody looks; what was seen stands in the events. */
function restartsOf(fleet: FleetPort): Restarts {
  return new Restarts({
    fleet,
    clock: () => now,
    looks: { lookAt: () => Promise.resolve() },
    finder: finderOf(fleet),
    files: {
      task: () => {
        throw new Error('nothing is planned here');
      },
      environmentDifference: () => Promise.reject(new Error('nothing is planned here')),
    },
  });
}

const name = 'ada';
const launchId = 'ada.1';
const configuration = {
  directory: '/d',
  extraArguments: [],
  environment: {},
  servers: { [self]: 'on', x: 'off' },
} as const;
const epoch = { id: 'e', startedAt: 1, port: 'was closed' } as const;
const created: readonly FleetEvent[] = [
  { at: 1, kind: 'epoch started', epoch },
  { at: 1, kind: 'agent created', name, configuration },
];
const launching: readonly FleetEvent[] = [
  ...created,
  { at: 2, kind: 'launch requested', name, launch: { id: launchId, mode: 'fresh', requestedAt: 2, cause: 'person' } },
];
const running: readonly FleetEvent[] = [
  ...launching,
  { at: 3, kind: 'launched', name, launchId, process: { tmuxSession: '$1', pane: '%1', pid: 1 } },
];
const hook = (at: number, event: 'SessionStart' | 'UserPromptSubmit' | 'Stop'): FleetEvent => ({
  at,
  kind: 'hook reported',
  name,
  launchId,
  hook: { event, sessionId: 's1', transcriptExists: true },
});
const worked: readonly FleetEvent[] = [
  ...running,
  hook(4, 'SessionStart'),
  hook(5, 'UserPromptSubmit'),
  hook(6, 'Stop'),
];
const endpoint = { name, server: self, launchId, session: 'm' };
const bound: readonly FleetEvent[] = [
  {
    at: 7,
    kind: 'mcp initialized',
    ...endpoint,
    client: { name: 'claude-code', version: '2.1.332', protocolVersion: '' },
  },
  { at: 8, kind: 'mcp tools listed', ...endpoint },
  { at: 9, kind: 'mcp stream opened', ...endpoint },
  { at: now, kind: 'probe answered', name, server: self, launchId, sentAt: now, roundTripMs: 1 },
];
/** Its dead pane is still there. */
const endedByItself: readonly FleetEvent[] = [
  ...running,
  { at: 9, kind: 'process ended', name, launchId, exit: { how: 'exited', status: 1, reading: 'other', detail: '' } },
];
const interrupt: Command = { kind: 'interrupt', name, id: 'i1' };
const asksPermission: FleetEvent = {
  at: now,
  kind: 'hook reported',
  name,
  launchId,
  hook: { event: 'Notification', sessionId: 's1', transcriptExists: true, waitingFor: 'permission' },
};
const unsent: readonly FleetEvent[] = [
  { at: now - 5_000, kind: 'look requested', name, launchId },
  { at: now - 5_000, kind: 'screen looked at', name, launchId, askedAt: now - 5_000, shows: 'unsent input' },
];
const stopping: readonly FleetEvent[] = [
  ...running,
  { at: 9, kind: 'stop requested', name, reason: 'released', then: 'keep' },
];

const exit = { how: 'gone', reading: 'other', detail: 'stopped' } as const;
const fallingAsleep: readonly FleetEvent[] = [
  ...worked,
  { at: 9, kind: 'stop requested', name, reason: 'idle', then: 'keep' },
];
const sleeping: readonly FleetEvent[] = [...fallingAsleep, { at: 10, kind: 'process ended', name, launchId, exit }];

function commandsOf(fleet: MemoryFleet, newId = (): string => 'unique'): Commands {
  return new Commands({
    ...{ fleet, clock: () => now, newId },
    prompts: promptsOf(fleet),
    finder: finderOf(fleet),
    restarts: restartsOf(fleet),
    adoptions: { adopt: () => Promise.reject(new Error('nothing is adopted here')) },
    servers: {
      approve: () => Promise.resolve(),
      withdraw: () => Promise.resolve(),
      reconnect: () => Promise.resolve(),
      cancelReconnect: () => undefined,
    },
  });
}

describe('commands', () => {
  let directory: string;
  before(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'bowline-commands-')));
    writeFileSync(join(directory, 'file'), '');
    symlinkSync(directory, join(directory, 'link'));
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  /** Runs one command; resolves with the kinds of facts, the fleet, and the refusal if there was one. */
  async function run(
    events: readonly FleetEvent[],
    command: Command,
  ): Promise<{ kinds: readonly string[]; fleet: MemoryFleet; error?: BowlineError }> {
    const fleet = new MemoryFleet(reduceAll(events));
    const commands = commandsOf(fleet);
    try {
      await commands.execute(command, 'window 1');
      return { kinds: fleet.kinds, fleet };
    } catch (error) {
      assert.ok(error instanceof BowlineError);
      return { kinds: fleet.kinds, fleet, error };
    }
  }
  const restart = (mode: 'resume' | 'fresh', guard: 'enforce' | 'bypass' = 'enforce'): Command => ({
    kind: 'restart',
    name,
    mode,
    guard,
    reason: 'because',
  });

  it('creates an agent with the real path of its directory and the built-in servers, and launches it', async () => {
    const { kinds, fleet } = await run([], {
      kind: 'create',
      name,
      directory: join(directory, 'link'),
      model: 'opus[1m]',
    });
    const agent = fleet.state.agents[name];
    assert.deepStrictEqual(
      { kinds, configuration: agent?.configuration, life: agent?.life.kind },
      {
        kinds: ['agent created'],
        configuration: {
          directory,
          model: 'opus[1m]',
          extraArguments: [],
          environment: {},
          servers: { [self]: 'on', 'bowline-messaging': 'off', 'bowline-memory': 'off' },
        },
        life: 'launching',
      },
    );
  });

  it('wakes an agent that sleeps, with its conversation', async () => {
    const { fleet } = await run(sleeping, { kind: 'start', name });
    const { life } = fleet.state.agents[name] ?? {};
    const { mode, expectedSessionId, cause } = (life?.kind === 'launching' ? life.launch : undefined) ?? {};
    assert.deepStrictEqual(
      { mode, expectedSessionId, cause },
      { mode: 'resume', expectedSessionId: 's1', cause: 'wake' },
    );
  });

  it('takes a prompt for an agent that sleeps or is about to', async () => {
    for (const events of [sleeping, fallingAsleep]) {
      const { kinds, error } = await run(events, { kind: 'prompt', name, id: 'prompt-1', text: 'hello' });
      assert.deepStrictEqual([kinds, error?.code], [['prompt requested'], undefined]);
    }
  });

  it('stops an agent that sleeps, so that no prompt wakes it', async () => {
    const { fleet } = await run(sleeping, { kind: 'stop', name });
    assert.deepStrictEqual(fleet.state.agents[name]?.life.kind, 'stopped');
  });

  it('stops all agents for the reason "shutdown", and leaves those alone that do not run', async () => {
    const of = (events: readonly FleetEvent[], other: string): readonly FleetEvent[] => {
      return events.map((event) => ('name' in event ? { ...event, name: other } : event));
    };
    const all = [
      ...running,
      ...of(launching, 'bo'),
      ...of(sleeping, 'cy'),
      ...of(created, 'di'),
      ...of(stopping, 'ed'),
    ];
    const { fleet, kinds } = await run(all, { kind: 'stop all' });
    const shown = Object.values(fleet.state.agents).map((agent) => {
      return `${agent.name} ${agent.life.kind}${agent.life.kind === 'stopping' ? ` ${agent.life.reason}` : ''}`;
    });
    assert.deepStrictEqual(
      [kinds.length, shown],
      [4, ['ada stopping shutdown', 'bo stopping shutdown', 'cy stopped', 'di stopped', 'ed stopping shutdown']],
    );
    fleet.report({ at: now, kind: 'process ended', name, launchId, exit });
    assert.deepStrictEqual(
      fleet.state.agents[name]?.launches.map(({ reason }) => reason),
      ['shutdown'],
    );
  });

  it('stops all agents also in the middle of a restore: no more of them are started', async () => {
    const names = ['ada', 'bo', 'cy', 'di'];
    const ended = { at: 8, kind: 'process ended', name, launchId, exit: { ...exit, how: 'host gone' } } as const;
    const lost = names.flatMap((other) => {
      return [...worked, ended].map((event): FleetEvent => {
        if (!('name' in event)) return event;
        if (event.kind !== 'hook reported') return { ...event, name: other };
        return { ...event, name: other, hook: { ...event.hook, sessionId: `session-${other}` } };
      });
    });
    const { fleet } = await run(lost, { kind: 'restore all' });
    for (const decision of plan(fleet.state, now).decisions) fleet.report(decision);
    await commandsOf(fleet).execute({ kind: 'stop all' }, 'window 1');
    assert.deepStrictEqual(plan(fleet.state, now).decisions, []);
    const lives = Object.values(fleet.state.agents).map(({ life }) => life.kind);
    assert.deepStrictEqual(
      [lives, fleet.state.restoration?.ended?.left],
      [['stopping', 'stopping', 'stopping', 'stopped'], names],
    );
  });

  it('doubts every binding when the host resumed', async () => {
    const { fleet } = await run([...worked, ...bound], { kind: 'host resumed' });
    assert.deepStrictEqual(fleet.state.agents[name]?.bindings[self]?.doubt?.cause, 'host slept');
  });

  it('gives a name to one agent only, also when two ask at once', async () => {
    const fleet = new MemoryFleet(reduceAll([]));
    const commands = commandsOf(fleet);
    const command: Command = { kind: 'create', name, directory };
    const results = await Promise.allSettled([commands.execute(command, 'a'), commands.execute(command, 'b')]);
    assert.deepStrictEqual(
      [results.map(({ status }) => status).sort(), fleet.kinds],
      [['fulfilled', 'rejected'], ['agent created']],
    );
  });

  const refused: readonly [string, readonly FleetEvent[], () => Command, string, RegExp][] = [
    ['a bad name', [], () => ({ kind: 'create', name: 'A b', directory }), 'name-invalid', /Use 1 to 32/],
    ['a taken name', created, () => ({ kind: 'create', name, directory }), 'name-taken', /exists already/],
    ['a relative directory', [], () => ({ kind: 'create', name, directory: 'x' }), 'directory-missing', /absolute/],
    ['no directory', [], () => ({ kind: 'create', name, directory: '/nowhere' }), 'directory-missing', /ENOENT/],
    ['a file', [], () => ({ kind: 'create', name, directory: `${directory}/file` }), 'directory-missing', /not a dir/],
    ['an option as model', [], () => ({ kind: 'create', name, directory, model: '--x' }), 'bad-request', /--x/],
    ['an empty prompt', running, () => ({ kind: 'prompt', name, id: 'p', text: ' ' }), 'bad-request', /is empty/],
    ['a prompt for one that is stopped', created, () => prompt('p'), 'not-running', /Start it first/],
    ['a prompt while it stops', stopping, () => prompt('p'), 'not-running', /\(stopping\)/],
    ['start of nobody', created, () => ({ kind: 'start', name: 'bo' }), 'unknown-agent', /There are: ada/],
    ['start while it runs', running, () => ({ kind: 'start', name }), 'already-running', /Use Restart/],
    ['start while it stops', stopping, () => ({ kind: 'start', name }), 'not-running', /is being stopped/],
    ['restart while it stops', stopping, () => restart('resume'), 'not-running', /is being stopped/],
    ['verify while it is stopped', created, () => ({ kind: 'verify', name }), 'not-running', /Start it first/],
    ['reconnect while it starts', launching, () => ({ kind: 'reconnect', name, server: self }), 'not-running', /Wait/],
    [
      'reconnect of a server that is off',
      running,
      () => ({ kind: 'reconnect', name, server: 'x' }),
      'bad-request',
      /It has: bowline-self/,
    ],
    ['interrupt of one that is stopped', created, () => interrupt, 'not-running', /no turn to interrupt/],
    ['interrupt of an idle one', worked, () => interrupt, 'bad-request', /no turn in progress \(idle\)/],
    [
      'interrupt before a permission',
      [...worked, hook(now - 1, 'UserPromptSubmit'), asksPermission],
      () => interrupt,
      'bad-request',
      /Escape would answer that; nothing was done/,
    ],
    [
      'restart in a turn',
      [...worked, hook(now - 1, 'UserPromptSubmit')],
      () => restart('resume'),
      'guard-blocked',
      /turn in progress\. Would be lost: The turn in progress is cut off\. Wait .* bypass the guard\.$/,
    ],
    [
      'restart over unsent input',
      [...worked, ...unsent],
      () => restart('resume'),
      'guard-blocked',
      /unsent input\. Would be lost: What stands unsent in its input line\. Attach, and send or remove/,
    ],
    [
      'fresh restart without a save',
      [...worked, ...bound],
      () => restart('fresh'),
      'guard-blocked',
      /missing context\. Would be lost: Everything .* Ask the agent to save/,
    ],
    [
      'fresh restart with a save that is too old',
      [
        ...worked,
        {
          at: 7,
          kind: 'context saved',
          name,
          context: { at: 7, sessionId: 's1', launchId, origin: 'explicit', bytes: 1 },
        },
        ...bound,
        hook(400_000, 'UserPromptSubmit'),
        hook(400_007, 'Stop'),
      ],
      () => restart('fresh'),
      'guard-blocked',
      /save too old \(the last save is 1000 s old, the last work came 400 s after it\)/,
    ],
  ];
  for (const [what, events, command, code, sentence] of refused) {
    it(`refuses with the next step: ${what}`, async () => {
      const { kinds, error } = await run(events, command());
      assert.deepStrictEqual([error?.code, kinds], [code, []]);
      assert.match(error?.message ?? '', sentence);
    });
  }

  /** As an error in the guard itself would: reading the saved context throws. It is not enumerable, so that copies have none. */
  function unjudgeable(events: readonly FleetEvent[]): MemoryFleet {
    const fleet = new MemoryFleet(reduceAll(events));
    const agent = fleet.state.agents[name];
    assert.ok(agent !== undefined);
    const broken = Object.defineProperty({ ...agent }, 'savedContext', {
      get: () => {
        throw new Error('no context');
      },
    });
    fleet.state = { ...fleet.state, agents: { [name]: broken } };
    return fleet;
  }

  it('blocks on an error of the guard itself and says so; the bypass works all the same, and is recorded', async () => {
    const results = await Promise.all(
      (['enforce', 'bypass'] as const).map(async (guard) => {
        const fleet = unjudgeable([...worked, ...bound]);
        const error = await commandsOf(fleet)
          .execute(restart('fresh', guard), 'window 1')
          .catch((reason: unknown) => reason);
        const sentence = error instanceof BowlineError ? `${error.code}: ${error.message}` : error;
        const verdicts = fleet.state.audit.flatMap((record) => ('verdict' in record ? record.verdict : []));
        return [sentence, fleet.kinds, verdicts];
      }),
    );
    assert.deepStrictEqual(results, [
      [
        'guard-blocked: ada was not restarted: guard error (no context). To restart it all the same, bypass the guard.',
        [],
        [],
      ],
      [undefined, ['guard bypassed', 'launch requested'], ['guard error: no context']],
    ]);
  });

  it('restarts on an error of the guard where the setting allows that, and says so', async () => {
    const fleet = unjudgeable([...worked, ...bound]);
    fleet.state = { ...fleet.state, settings: { ...fleet.state.settings, guardError: 'allow' } };
    await commandsOf(fleet).execute(restart('fresh'), 'window 1');
    assert.deepStrictEqual(
      [fleet.kinds, fleet.state.notices[0]?.sentence],
      [
        ['noticed', 'launch requested'],
        'ada was restarted although the guard failed (no context): bowline.guardError allows it.',
      ],
    );
  });

  it('asks for one interrupt of the turn in progress, however often it is asked under one id', async () => {
    const { fleet } = await run([...worked, hook(now - 1, 'UserPromptSubmit')], interrupt);
    const again = commandsOf(fleet, () => 'other');
    await again.execute(interrupt, 'window 2');
    await assert.rejects(again.execute({ ...interrupt, id: 'i2' }, 'window 2'), /is being interrupted already/);
    const { life } = fleet.state.agents[name] ?? {};
    assert.deepStrictEqual(
      [fleet.kinds, life?.kind === 'running' && life.running.interrupt],
      [['interrupt requested'], { id: 'i1', at: now, turnSince: now - 1, by: 'window 1' }],
    );
  });

  const prompt = (id: string, text = 'hello'): Command => ({ kind: 'prompt', name, id, text });

  it('queues a prompt once, with its text on disk and only a digest in the fleet', async () => {
    const first = await run([...worked, ...bound], prompt('p1', ' hello\r\nthere '));
    const second = commandsOf(first.fleet, () => 'other');
    await second.execute(prompt('p1', 'another text'), 'window 2');
    const [record, ...others] = first.fleet.state.agents[name]?.prompts ?? [];
    assert.deepStrictEqual(
      [record?.by, record?.state, record?.characters, others, promptTexts.get('p1'), first.kinds],
      ['window 1', { kind: 'queued' }, 12, [], ' hello\nthere', ['prompt requested']],
    );
    assert.ok(!JSON.stringify(first.fleet.state).includes('there'));
  });

  it('calls off what was not typed, and nothing else', async () => {
    const taken: FleetEvent = { at: now, kind: 'prompt taken', name, promptId: 'p1', launchId };
    const requested: FleetEvent = {
      at: now,
      kind: 'prompt requested',
      name,
      prompt: { id: 'p1', requestedAt: now, by: 'window 1', digest: 'd', characters: 1 },
    };
    const cancel: Command = { kind: 'cancel prompt', name, id: 'p1' };
    const early = await run([...worked, requested], cancel);
    const late = await run([...worked, requested, taken], cancel);
    const unknown = await run(worked, cancel);
    assert.deepStrictEqual(
      [
        early.fleet.state.agents[name]?.prompts?.[0]?.state.kind,
        late.fleet.state.agents[name]?.prompts?.[0]?.state.kind,
        late.error?.message,
        unknown.error?.code,
      ],
      [
        'failed',
        'typing',
        'The prompt cannot be called off any more: it is typing. Attach to ada to interrupt its turn.',
        'bad-request',
      ],
    );
  });

  it('asks the agent to save before a restart, once at a time, and lets that be called off', async () => {
    const save = (id: string): Command => ({ kind: 'save and restart', name, id, mode: 'fresh' });
    const first = await run([...worked, ...bound], save('p7'));
    const again = commandsOf(first.fleet, () => 'other');
    await assert.rejects(again.execute(save('p8'), 'window 2'), /is being asked to save already/);
    await again.execute({ kind: 'cancel save and restart', name, id: 'p7' }, 'window 2');
    const unreachable = await run(worked, save('p9'));
    const agent = first.fleet.state.agents[name];
    assert.deepStrictEqual(
      [agent?.saveRestart?.ended?.outcome, agent?.prompts?.[0]?.state.kind, agent?.launchCount, first.kinds],
      [
        'not restarted',
        'failed',
        1,
        ['prompt requested', 'save restart requested', 'save restart ended', 'prompt ended'],
      ],
    );
    assert.match(promptTexts.get('p7') ?? '', /save_my_context/);
    assert.match(unreachable.error?.message ?? '', /cannot save its context: its tools are unreachable/);
  });

  it('lets a fresh restart through when the agent cannot save: its tools are unreachable', async () => {
    const { kinds, fleet } = await run(worked, restart('fresh'));
    const { life } = fleet.state.agents[name] ?? {};
    assert.deepStrictEqual(
      [kinds, fleet.state.notices[0]?.sentence, life?.kind === 'launching' && [life.launch.mode, life.launch.cause]],
      [
        ['noticed', 'launch requested'],
        'ada is restarted without a save (missing context): it cannot save, its tools are unreachable. ' +
          'Lost: Everything in the conversation: the agent saved no context. The transcript file stays.',
        ['fresh', 'person'],
      ],
    );
  });

  it('resumes by exact id, and starts fresh where no prompt was ever taken', async () => {
    const launchOf = async (events: readonly FleetEvent[], command: Command): Promise<unknown> => {
      const { fleet } = await run(events, command);
      const life = fleet.state.agents[name]?.life;
      return life?.kind === 'launching' && [life.launch.mode, life.launch.expectedSessionId];
    };
    assert.deepStrictEqual(
      [
        await launchOf(worked, restart('resume')),
        await launchOf([...running, hook(4, 'SessionStart')], restart('resume')),
        await launchOf(created, { kind: 'start', name }),
      ],
      [
        ['resume', 's1'],
        ['fresh', undefined],
        ['fresh', undefined],
      ],
    );
  });

  it('writes down a bypass of the guard, then restarts', async () => {
    const { kinds, fleet } = await run([...worked, ...bound], restart('fresh', 'bypass'));
    const life = fleet.state.agents[name]?.life;
    // Neither do the hands ask the guard again.
    assert.deepStrictEqual(life?.kind === 'launching' && life.launch.guard, 'bypassed');
    assert.deepStrictEqual(
      { kinds, audit: fleet.state.audit.filter(({ action }) => action === 'guard bypassed') },
      {
        kinds: ['guard bypassed', 'launch requested'],
        audit: [
          {
            at: now,
            agent: name,
            action: 'guard bypassed',
            mode: 'fresh',
            by: 'window 1',
            verdict: 'missing context',
            reason: 'because',
          },
        ],
      },
    );
  });

  it('stops and removes: at once where nothing ever ran, through the end of the process where it does', async () => {
    const outcome = async (events: readonly FleetEvent[], command: Command): Promise<unknown> => {
      const { kinds, fleet } = await run(events, command);
      const life = fleet.state.agents[name]?.life;
      return [kinds, life?.kind === 'stopping' ? life.then : life?.kind];
    };
    const removing: readonly FleetEvent[] = [
      ...stopping,
      { at: 10, kind: 'stop requested', name, reason: 'released', then: 'remove' },
    ];
    assert.deepStrictEqual(
      [
        await outcome(created, { kind: 'stop', name }),
        await outcome(running, { kind: 'stop', name }),
        await outcome(removing, { kind: 'stop', name }),
        await outcome(created, { kind: 'remove', name }),
        await outcome(running, { kind: 'remove', name }),
        await outcome(launching, { kind: 'remove', name }),
        await outcome(endedByItself, { kind: 'remove', name }),
      ],
      [
        [[], 'stopped'],
        [['stop requested'], 'keep'],
        [['stop requested'], 'remove'],
        [['agent removed'], undefined],
        [['stop requested'], 'remove'],
        [['stop requested'], 'remove'],
        [['stop requested'], 'remove'],
      ],
    );
  });

  it('verifies every endpoint that is on, and reconnects once however often it is asked', async () => {
    const verified = await run([...running, ...bound], { kind: 'verify', name });
    const first = await run([...running, ...bound], { kind: 'reconnect', name, server: self });
    const commands = commandsOf(first.fleet, () => 'other');
    await commands.execute({ kind: 'reconnect', name, server: self }, 'window 2');
    assert.deepStrictEqual(
      {
        doubt: verified.fleet.state.agents[name]?.bindings[self]?.doubt,
        attempts: first.fleet.state.agents[name]?.incidents[self]?.attempts,
      },
      {
        doubt: { since: now, cause: 'asked' },
        attempts: [{ id: 'ada-unique', rung: 'reconnect', startedAt: now, by: 'person' }],
      },
    );
  });
});
