import { deepStrictEqual } from 'node:assert/strict';
import { diagnosticsReport } from '../../../../src/core/diagnostics/report.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

describe('the report of diagnostics', () => {
  it('tells states, causes and times, and chooses nothing that could be a secret', () => {
    const story = FleetStory.bound();
    const { configuration } = story.agent();
    const secret = { environment: { TOKEN: 'hidden-1' }, systemPrompt: 'hidden-2', extraArguments: ['--key=hidden-3'] };
    story.tell({ kind: 'agent configured', name: 'ada', configuration: { ...configuration, ...secret } });
    story.tell({ kind: 'incident opened', name: 'ada', server: 'bowline-self', cause: 'client gave up' });
    const attempt = { name: 'ada', server: 'bowline-self', attemptId: 'a' };
    story.tell({ kind: 'rung started', ...attempt, rung: 'nudge', by: 'policy' });
    story.tell({ kind: 'rung ended', ...attempt, outcome: 'failed', detail: 'it does not come' });
    const report = diagnosticsReport({
      now: story.now,
      connection: { kind: 'away', since: 5_000, reason: 'it was killed' },
      source: 'the state file',
      state: story.state,
      facts: [{ title: 'Versions', lines: ['tmux: 3.3a\nsecond line'] }],
      logs: [{ title: 'End of gateway.jsonl', text: 'a line\n```\nanother\n' }],
      missing: ['claude: not found'],
    });
    const wanted = [
      '- The gateway is away since 1970-01-01T00:00:05.000Z: it was killed',
      '- State: the state file',
      '- claude: not found',
      '- tmux: 3.3a / second line',
      '## Agent ada',
      '- Variables: TOKEN; extra arguments: --key; own system prompt: yes',
      `- Incident of bowline-self: client gave up since ${new Date(story.now).toISOString()}`,
      '## End of gateway.jsonl\n\n````\na line\n```\nanother\n````',
    ];
    deepStrictEqual([wanted.filter((text) => !report.includes(text)), report.includes('hidden')], [[], false]);
  });
});
