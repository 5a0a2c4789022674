import { deepStrictEqual } from 'node:assert/strict';
import { restartPlanText } from '../../../src/extension/restartPlanText.ts';
import type { RestartPlan } from '../../../src/protocol/restartPlan.ts';

const plan: RestartPlan = {
  agent: 'ada',
  asked: 'resume',
  mode: 'resume',
  sessionId: '11111111-2222-4333-8444-555555555555',
  directory: '/work',
  command: "'claude' '--resume=11111111-2222-4333-8444-555555555555'",
  guard: {
    kind: 'verdict',
    sentence: 'Blocked: unsent input. Attach, and send or remove what stands there.',
    allowed: false,
    reason: 'unsent input',
    downgraded: 'no',
    context: 'none',
    screen: 'looked at',
    wouldBeLost: 'What stands unsent in its input line.',
  },
  environment: { kind: 'compared', added: ['NEW'], changed: [], removed: ['OLD'] },
};

describe('the restart plan', () => {
  it('shows verdict, conversation, command and variables of both ways, and every bypass', () => {
    const fresh: RestartPlan = {
      ...{ agent: 'ada', asked: 'fresh', mode: 'fresh', directory: '/work', command: "'claude'" },
      guard: { kind: 'error', detail: 'no context', setting: 'block' },
      environment: { kind: 'nothing to compare', set: ['BOWLINE_AGENT'] },
    };
    const bypass = { agent: 'ada', action: 'guard bypassed', mode: 'fresh', by: 'window 1', reason: '' } as const;
    const text = restartPlanText('ada', [plan, fresh], [{ ...bypass, at: 0, verdict: 'missing context' }]);
    deepStrictEqual(
      text.split('\n').filter((line) => line !== ''),
      [
        '# Restart plan of ada',
        'A dry run: nothing was done.',
        '## Restart',
        'Guard: Blocked: unsent input. Attach, and send or remove what stands there.',
        'Would be lost: What stands unsent in its input line.',
        'Conversation: 11111111-2222-4333-8444-555555555555 is resumed.',
        'Directory: /work',
        "Command: 'claude' '--resume=11111111-2222-4333-8444-555555555555'",
        'Variables against the process that runs: added NEW; changed none; removed OLD.',
        '## Force Fresh Restart',
        'Guard: it failed (no context). The restart is blocked (bowline.guardError).',
        'Conversation: a new one.',
        'Directory: /work',
        "Command: 'claude'",
        'Variables that Bowline sets: BOWLINE_AGENT. No process to compare them with.',
        '## Guard bypassed before',
        '- 1970-01-01T00:00:00.000Z: fresh, by window 1. The guard said: missing context.',
      ],
    );
  });

  it('says what is not known, stale or the same', () => {
    const guard = { ...plan.guard, context: 'stale', screen: 'not looked at' } as const;
    const environment: RestartPlan['environment'] = { kind: 'compared', added: [], changed: [], removed: [] };
    const lines = restartPlanText('ada', [{ ...plan, guard, environment }], []).split('\n');
    const wanted = [
      'Its saved context is older than 12 h.',
      'Its screen was not looked at: whether unsent input stands there is not known.',
      'Variables that Bowline sets: the same as in the process that runs.',
      'Never.',
    ];
    deepStrictEqual(
      wanted.filter((line) => !lines.includes(line)),
      [],
    );
  });
});
