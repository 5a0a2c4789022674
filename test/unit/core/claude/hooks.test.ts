import { deepStrictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hookSettings, readHookPayload } from '../../../../src/core/claude/hooks.ts';
import { shellLine } from '../../../../src/core/claude/shellLine.ts';
import { fixture, fixtureNames, versions } from './fixtures.ts';

/** What each captured hook tells, but for its session. `first` is the conversation of the first prompt. */
const expected = {
  startup: { event: 'SessionStart', source: 'startup', session: 'first' },
  prompt: { event: 'UserPromptSubmit', session: 'first' },
  stop: { event: 'Stop', session: 'first' },
  'permission-request': { event: 'Notification', waitingFor: 'permission', session: 'first' },
  'notification-permission': { event: 'Notification', waitingFor: 'permission', session: 'first' },
  'stop-failure': { event: 'StopFailure', error: 'poisoned: thinking blocks', session: 'first' },
  'stop-failure-login': { event: 'StopFailure', error: 'login needed', session: 'another' },
  'end-clear': { event: 'SessionEnd', source: 'clear', session: 'first' },
  clear: { event: 'SessionStart', source: 'clear', session: 'cleared' },
  'prompt-after-clear': { event: 'UserPromptSubmit', session: 'cleared' },
  'end-other': { event: 'SessionEnd', source: 'other', session: 'cleared' },
  resume: { event: 'SessionStart', source: 'resume', session: 'first' },
  'end-exit': { event: 'SessionEnd', source: 'prompt_input_exit', session: 'first' },
} as const;

/** 2.1.160 tells the parent at the start of a fork, and the new conversation from the first prompt on (case 13). */
const forks = {
  '2.1.160': {
    fork: { event: 'SessionStart', source: 'resume', session: 'first' },
    'prompt-after-fork': { event: 'UserPromptSubmit', session: 'another' },
  },
  '2.1.332': {
    fork: { event: 'SessionStart', source: 'fork', session: 'another' },
    'prompt-after-fork': { event: 'UserPromptSubmit', session: 'another' },
  },
} as const;

function sessionOf(version: string, name: string): string {
  return readHookPayload(JSON.parse(fixture(version, 'hooks', `${name}.json`)))?.sessionId ?? 'none';
}

describe('hook payloads', () => {
  for (const version of versions) {
    it(`reads every captured payload of claude ${version}`, () => {
      const names: Record<string, string> = {
        [sessionOf(version, 'prompt')]: 'first',
        [sessionOf(version, 'clear')]: 'cleared',
      };
      const read = fixtureNames(version, 'hooks').map((name) => {
        const report = readHookPayload(JSON.parse(fixture(version, 'hooks', `${name}.json`)));
        const { sessionId = '', transcriptPath, ...rest } = report ?? {};
        const expectedPath = `/home/user/home/.claude/projects/-home-user-project/${sessionId}.jsonl`;
        return [name, { ...rest, session: names[sessionId] ?? 'another', path: transcriptPath === expectedPath }];
      });
      const wanted = Object.entries({ ...expected, ...forks[version] }).map(([name, report]) => [
        name,
        { ...report, path: true },
      ]);
      deepStrictEqual(Object.fromEntries(read), Object.fromEntries(wanted));
    });

    it(`keeps no text of prompts and answers of claude ${version}`, () => {
      const kept = fixtureNames(version, 'hooks').map((name) =>
        JSON.stringify(readHookPayload(JSON.parse(fixture(version, 'hooks', `${name}.json`)))),
      );
      deepStrictEqual(
        kept.filter((text) => /hello|ECHO|touch made|after the clear|in the fork/.test(text)),
        [],
      );
    });
  }

  it('takes the id of an event it does not know, and nothing without an id or an event', () => {
    const payload = { hook_event_name: 'SomethingNew', session_id: 'abc', source: 'x', prompt: 'secret' };
    deepStrictEqual(
      [payload, { ...payload, session_id: '' }, { session_id: 'abc' }, [payload], 'text', null, undefined].map(
        readHookPayload,
      ),
      [{ event: 'other', sessionId: 'abc' }, ...Array<undefined>(6).fill(undefined)],
    );
  });

  it('tells a question to the person from a word about idling', () => {
    const types = ['permission_prompt', 'agent_needs_input', 'elicitation_dialog', 'idle_prompt', 'auth_success', 7];
    deepStrictEqual(
      types.map((type) => {
        const payload = { hook_event_name: 'Notification', session_id: 'abc', notification_type: type };
        return readHookPayload(payload)?.waitingFor;
      }),
      ['permission', 'input', 'input', undefined, undefined, undefined],
    );
  });
});

describe('hook settings', () => {
  it('set one command for each event and allow the tools of the built-in servers', () => {
    const entry = [{ hooks: [{ type: 'command', command: "'/s/launcher' 'hook'", timeout: 5 }] }];
    deepStrictEqual(hookSettings({ command: "'/s/launcher' 'hook'", allowedServers: ['bowline-self'] }), {
      permissions: { allow: ['mcp__bowline-self'] },
      hooks: {
        SessionStart: entry,
        UserPromptSubmit: entry,
        Stop: entry,
        StopFailure: entry,
        SessionEnd: entry,
        Notification: entry,
        PermissionRequest: entry,
      },
    });
  });
});

describe('a line for the shell', () => {
  it('reaches the program as it was', () => {
    const words = ['two words', "it's", '"quoted"', '$(id)', '`id`', '\\', '*', '', '~', 'a\nb', '-n', '🦆'];
    const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    const line = shellLine([process.execPath, '-e', script, '--', ...words]);
    deepStrictEqual(JSON.parse(execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' })), words);
  });
});
