import { deepStrictEqual } from 'node:assert/strict';
import type { ActivityKind } from '../../../../src/core/fleet/agent.ts';
import type { HealingPolicy } from '../../../../src/core/fleet/configuration.ts';
import { type Move, nextMove, type Situation, type StartedRung } from '../../../../src/core/healing/ladder.ts';

const now = 5_000_000;
const ok = { allowed: true, reason: 'ok', downgraded: 'no', wouldBeLost: 'nothing' } as const;

/** How far the ladder has been climbed: what failed, each rung as often as it may. */
const histories = {
  nothing: {},
  'one nudge': { nudge: 1 },
  nudges: { nudge: 2 },
  'one reconnect': { nudge: 2, reconnect: 1 },
  reconnects: { nudge: 2, reconnect: 2 },
  resume: { nudge: 2, reconnect: 2, resume: 1 },
  fresh: { nudge: 2, reconnect: 2, resume: 1, fresh: 1 },
} as const satisfies Readonly<Record<string, Partial<Record<StartedRung, number>>>>;

/** What the guard says of a fresh start. */
const verdicts = {
  ok,
  stale: { ...ok, allowed: false, reason: 'save too old' },
  downgraded: { ...ok, reason: 'missing context', downgraded: 'tools unreachable' },
} as const;

const policies: readonly HealingPolicy[] = ['auto', 'auto to resume', 'auto to reconnect', 'ask', 'off'];
const activities: readonly ActivityKind[] = ['idle', 'busy', 'waiting for permission', 'waiting for input', 'unknown'];

function situation(changes: Partial<Situation> = {}): Situation {
  return {
    cause: 'lost',
    nextStep: 'Reconnect MCP.',
    policy: 'auto',
    askedBy: 'nobody',
    end: undefined,
    failed: failed('nothing'),
    useless: [],
    retryAt: 0,
    hands: 'there',
    activity: 'idle',
    guard: { resume: ok, fresh: ok },
    restarts: { recent: 0, nextAt: 0 },
    ...changes,
  };
}

function failed(history: keyof typeof histories): Situation['failed'] {
  return { nudge: 0, reconnect: 0, resume: 0, fresh: 0, ...histories[history] };
}

function word(move: Move): string {
  switch (move.kind) {
    case 'rung':
      return move.rung;
    case 'wait':
      return move.until === undefined ? 'wait' : `wait ${move.until - now}`;
    case 'end':
      return `${move.end.kind}: ${move.end.reason}`;
  }
}

function table<Row extends string>(rows: readonly Row[], move: (row: Row) => Move): Readonly<Record<string, string>> {
  return Object.fromEntries(rows.map((row) => [row, word(move(row))]));
}

const allHistories = Object.keys(histories) as (keyof typeof histories)[];

describe('the next move of the healing ladder', () => {
  it('climbs rung by rung as far as each policy goes, for a person as far as for auto', () => {
    const seen = Object.fromEntries(
      policies.map((policy) => [
        policy,
        allHistories.map((history) => word(nextMove(situation({ policy, failed: failed(history) }), now))),
      ]),
    );
    const person = policies.map((policy) =>
      allHistories.map((history) =>
        word(nextMove(situation({ policy, askedBy: 'person', failed: failed(history) }), now)),
      ),
    );
    const full = ['nudge', 'nudge', 'reconnect', 'reconnect', 'resume', 'fresh', 'dead: healing failed'];
    const held = (count: number): readonly string[] =>
      full.map((one, index) => (index < count || one.startsWith('dead') ? one : 'asked: policy'));
    deepStrictEqual(
      { seen, person },
      {
        seen: {
          auto: full,
          'auto to resume': held(5),
          'auto to reconnect': held(4),
          ask: held(0),
          off: held(0),
        },
        person: policies.map(() => full),
      },
    );
  });

  it('never moves for a cause in the configuration, whatever else holds', () => {
    const seen = new Set<string>();
    for (const policy of policies) {
      for (const history of allHistories) {
        for (const activity of activities) {
          for (const askedBy of ['person', 'nobody'] as const) {
            for (const fresh of Object.values(verdicts)) {
              const guard = { resume: ok, fresh };
              const one = situation({
                cause: 'configuration',
                policy,
                askedBy,
                activity,
                guard,
                failed: failed(history),
              });
              seen.add(word(nextMove(one, now)));
            }
          }
        }
      }
    }
    deepStrictEqual([...seen], ['asked: configuration']);
  });

  it('types and restarts only where the agent is idle; a new stream disturbs nobody', () => {
    const seen = Object.fromEntries(
      activities.map((activity) => [
        activity,
        allHistories.map((history) => word(nextMove(situation({ activity, failed: failed(history) }), now))),
      ]),
    );
    const waits = ['nudge', 'nudge', 'wait', 'wait', 'wait', 'wait', 'dead: healing failed'];
    deepStrictEqual(seen, {
      idle: ['nudge', 'nudge', 'reconnect', 'reconnect', 'resume', 'fresh', 'dead: healing failed'],
      busy: waits,
      'waiting for permission': waits,
      'waiting for input': waits,
      unknown: waits,
    });
  });

  it('starts fresh by itself only where the guard allows that without a downgrade, for a person, too', () => {
    const seen = (['nobody', 'person'] as const).map((askedBy) =>
      Object.entries(verdicts).map(([name, fresh]) => {
        const guard = { resume: ok, fresh };
        return [name, word(nextMove(situation({ askedBy, guard, failed: failed('resume') }), now))];
      }),
    );
    const expected = [
      ['ok', 'fresh'],
      ['stale', 'asked: guard'],
      ['downgraded', 'asked: guard'],
    ];
    deepStrictEqual(seen, [expected, expected]);
  });

  it('waits with a resume as long as the guard forbids every restart', () => {
    const unsent = { ...ok, allowed: false, reason: 'turn in progress' } as const;
    const guard = { resume: unsent, fresh: unsent };
    deepStrictEqual(word(nextMove(situation({ guard, failed: failed('reconnects') }), now)), 'wait');
  });

  it('keeps the limits: pause after a try that was put off, spacing in the fleet, restarts in an hour, hands', () => {
    const reconnects = failed('reconnects');
    const seen = [
      situation({ retryAt: now + 2_000 }),
      situation({ failed: reconnects, restarts: { recent: 2, nextAt: now + 7_000 } }),
      situation({ failed: reconnects, restarts: { recent: 2, nextAt: now } }),
      situation({ failed: reconnects, restarts: { recent: 3, nextAt: 0 } }),
      situation({ failed: failed('nudges'), restarts: { recent: 3, nextAt: now + 7_000 } }),
      situation({ hands: 'nobody' }),
      situation({ hands: 'nobody', policy: 'ask' }),
    ].map((one) => word(nextMove(one, now)));
    deepStrictEqual(seen, [
      'wait 2000',
      'wait 7000',
      'resume',
      'dead: crash loop',
      'reconnect',
      'wait',
      'asked: policy',
    ]);
  });

  it('leaves out what is of no use', () => {
    const seen = table(['nudge', 'nudge reconnect', 'nudge fresh', 'nudge reconnect fresh'], (row) => {
      const useless = row.split(' ') as StartedRung[];
      return nextMove(
        situation({ useless, failed: { ...failed('nothing'), resume: row.includes('fresh') ? 1 : 0 } }),
        now,
      );
    });
    deepStrictEqual(seen, {
      nudge: 'reconnect',
      'nudge reconnect': 'resume',
      'nudge fresh': 'reconnect',
      'nudge reconnect fresh': 'dead: healing failed',
    });
  });

  it('stays where it stopped; only what the policy held back goes on when that is changed', () => {
    const reasons = ['configuration', 'policy', 'guard', 'crash loop', 'healing failed', 'called off'] as const;
    const seen = policies.map((policy) =>
      table(reasons, (end) => nextMove(situation({ end, policy, failed: failed('nudges') }), now)),
    );
    const waits = Object.fromEntries(reasons.map((reason) => [reason, 'wait']));
    const goesOn = { ...waits, policy: 'reconnect' };
    deepStrictEqual(seen, [goesOn, goesOn, goesOn, waits, waits]);
  });

  it('says what did not help, and what to do', () => {
    const ends = [
      situation({ failed: failed('fresh') }),
      situation({ failed: failed('resume'), guard: { resume: ok, fresh: verdicts.stale } }),
      situation({ failed: failed('reconnects'), policy: 'auto to reconnect' }),
      situation({ failed: failed('reconnects'), restarts: { recent: 3, nextAt: 0 } }),
    ].map((one) => nextMove(one, now));
    deepStrictEqual(
      ends.map((move) => (move.kind === 'end' ? move.end.detail : '')),
      [
        'Restart did not help: tried nudge (2 times), reconnect (2 times), resume, fresh. Heal Now tries everything again.',
        'Restart did not help: tried nudge (2 times), reconnect (2 times), resume. The restart guard does not allow a fresh start (save too old). Would be lost: nothing Force Fresh Restart starts it all the same.',
        'Healing did not help: tried nudge (2 times), reconnect (2 times). The setting "bowline.healing" (auto to reconnect) goes no further. Heal Now does.',
        '3 restarts within an hour did not help. Look at Show Log; Heal Now tries everything again.',
      ],
    );
  });
});
