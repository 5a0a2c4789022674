import { deepStrictEqual } from 'node:assert/strict';
import { claudeLine, loginLine, type LoginFacts, trustLine } from '../../../../src/core/doctor/claudeChecks.ts';
import { type DoctorLine, doctorReport, doctorSummary, fixLabel, inOrder } from '../../../../src/core/doctor/line.ts';
import {
  directoriesLine,
  gatewayLine,
  mcpLine,
  pathLine,
  ptyLine,
  tmuxLine,
} from '../../../../src/core/doctor/machineChecks.ts';

/** Verdict, a part of the text, and what the buttons say. */
function short({ verdict, text, fixes }: DoctorLine, part: RegExp): unknown[] {
  return [verdict, part.exec(text)?.[0], ...fixes.map(fixLabel)];
}

describe("the Doctor's verdict", () => {
  it('on claude says what is known of its version', () => {
    const at = (version: string): DoctorLine => claudeLine({ kind: 'found', file: '/bin/claude', version });
    deepStrictEqual(
      [
        short(at('2.1.160 (Claude Code)'), /2\.1\.160 at \/bin\/claude\. .* dials again by itself/),
        short(at('2.1.332 (Claude Code)'), /gives up its tools; Bowline then reconnects it/),
        short(at('2.2.0'), /newer than 2\.1\.332/),
        short(at('2.1.100'), /older than 2\.1\.145/),
        short(at('usage: what'), /does not tell a version \("usage: what"\)/),
        short(claudeLine({ kind: 'missing', sentence: 'There is none.' }), /There is none\./),
      ],
      [
        [
          'good',
          '2.1.160 at /bin/claude. After an outage it cannot be checked until it calls a tool, and dials again by itself',
        ],
        ['good', 'gives up its tools; Bowline then reconnects it'],
        ['note', 'newer than 2.1.332'],
        ['note', 'older than 2.1.145', 'How to Install Claude Code'],
        ['problem', 'does not tell a version ("usage: what")', 'Open Setting bowline.claudePath'],
        ['problem', 'There is none.', 'How to Install Claude Code', 'Open Setting bowline.claudePath'],
      ],
    );
  });

  it('on the login takes what Claude would take, and never holds a key', () => {
    const none: LoginFacts = {
      directory: '/home/.claude',
      variables: [],
      apiKey: 'not asked',
      keyHelper: false,
      account: false,
      onboarded: true,
      program: 'claude',
    };
    const line = (facts: Partial<LoginFacts>): unknown[] => short(loginLine({ ...none, ...facts }), /^.{24}/);
    const key = ['ANTHROPIC_API_KEY'];
    deepStrictEqual(
      [
        line({}),
        line({ onboarded: false, account: true }),
        line({ account: true }),
        line({ variables: key, apiKey: 'approved' }),
        line({ variables: key }),
        line({ variables: key, apiKey: 'rejected', account: true }),
        line({ variables: key, apiKey: 'rejected' }),
        line({ variables: ['ANTHROPIC_AUTH_TOKEN', ...key] }),
        line({ keyHelper: true }),
        line({ variables: ['CLAUDE_CODE_USE_BEDROCK'], onboarded: false }),
      ],
      [
        ['problem', 'There is no sign of a lo', 'Log In'],
        ['problem', 'Claude was never set up ', 'Log In'],
        ['good', 'An account is on record '],
        ['good', 'Claude logs in by the va'],
        ['note', 'ANTHROPIC_API_KEY is set', 'Log In'],
        ['good', 'An account is on record '],
        ['problem', 'There is no sign of a lo', 'Log In'],
        ['good', 'Claude logs in by the va'],
        ['good', 'Claude gets its key from'],
        ['good', 'Claude logs in to a clou'],
      ],
    );
  });

  it('on trust names the directories that Claude will ask about', () => {
    const directories = [
      { path: '/work/a', isTrusted: true },
      { path: '/work/b', isTrusted: false },
    ];
    deepStrictEqual(
      [
        short(trustLine({ workspace: 'not trusted', directories }), /VS Code does not trust/),
        short(trustLine({ workspace: 'trusted', directories }), /trust \/work\/b:/),
        short(trustLine({ workspace: 'trusted', directories: directories.slice(0, 1) }), /trust \/work\/a/),
        short(trustLine({ workspace: 'trusted', directories: [] }), /No folder is open/),
      ],
      [
        ['problem', 'VS Code does not trust', 'Manage Workspace Trust'],
        ['note', 'trust /work/b:'],
        ['good', 'trust /work/a'],
        ['good', 'No folder is open'],
      ],
    );
  });

  it('on tmux offers to install it where a package manager is known', () => {
    const missing = { kind: 'missing', sentence: 'tmux was not found.' } as const;
    deepStrictEqual(
      [
        short(tmuxLine({ kind: 'found', file: '/bin/tmux', version: '3.3a' }, undefined), /tmux 3\.3a at \/bin\/tmux/),
        short(tmuxLine(missing, 'brew install tmux'), /was not found/),
        short(tmuxLine(missing, undefined), /was not found/),
      ],
      [
        ['good', 'tmux 3.3a at /bin/tmux'],
        ['problem', 'was not found', 'Install tmux', 'How to Install tmux', 'Open Setting bowline.tmuxPath'],
        ['problem', 'was not found', 'Open Setting bowline.tmuxPath', 'How to Install tmux'],
      ],
    );
  });

  it('on MCP servers tells a file that cannot be read before what is not given', () => {
    const servers = [
      { name: 'docs', scope: 'user', way: 'through Bowline' },
      { name: 'mail', scope: 'user', way: 'direct', reason: 'It wants a login.' },
      { name: 'plugin:p:docs', scope: 'plugin', way: 'not given', reason: 'It is the server "docs" once more.' },
    ] as const;
    const left = { name: 'new', scope: 'project', way: 'not given', reason: 'It is not approved.' } as const;
    const off = {
      name: 'off',
      scope: 'project',
      way: 'not given',
      approval: { state: 'disabled', digest: 'x' },
    } as const;
    const bad = [{ file: '/work/.mcp.json', reason: 'it cannot be read (no JSON)' }];
    deepStrictEqual(
      [
        short(mcpLine([]), /and no others/),
        short(mcpLine([{ servers: [...servers, off], bad: [] }]), /.*/),
        short(mcpLine([{ servers: [...servers, left], bad: [] }]), /.*/),
        short(mcpLine([{ servers: [left], bad }]), /.*/),
        short(mcpLine([{ servers: [left], bad }], '/etc/managed-mcp.json'), /.*/),
      ],
      [
        ['good', 'and no others'],
        ['good', 'Through Bowline: docs. Not through Bowline, so not checked by it: mail.'],
        ['note', '"new" is not given to agents. It is not approved.', 'MCP Servers'],
        ['problem', '/work/.mcp.json: it cannot be read (no JSON).', 'Open .mcp.json'],
        [
          'problem',
          '/etc/managed-mcp.json prescribes the MCP servers of this machine, and Claude then takes none from Bowline: no agent can start.',
          'Open managed-mcp.json',
        ],
      ],
    );
  });

  it('on the gateway, the pseudo terminal and PATH tells what to do where it is not well', () => {
    const away = { kind: 'away', since: 0, reason: 'it was killed' } as const;
    deepStrictEqual(
      [
        short(gatewayLine({ connection: { kind: 'connected' }, wanted: 'yes', endpoint: 'port 1' }), /port 1/),
        short(gatewayLine({ connection: away, wanted: 'no' }), /not needed yet/),
        short(gatewayLine({ connection: away, wanted: 'yes' }), /it was killed/),
        short(gatewayLine({ connection: away, wanted: 'yes', startProblem: 'No Node.' }), /No Node\./),
        short(ptyLine('works'), /pseudo terminal/),
        short(ptyLine('node-pty does not load: no file.'), /no file\. Bowline drives/),
        short(pathLine({ agents: '/bin', loginShell: '/bin:/gone', there: ['/bin'] }), /every program/),
        short(pathLine({ agents: '/bin', loginShell: '/opt/x:/bin', there: ['/opt/x', '/bin'] }), /lacks \/opt\/x of/),
      ],
      [
        ['good', 'port 1'],
        ['good', 'not needed yet'],
        ['problem', 'it was killed', 'Start the Gateway Now', 'Show Log'],
        ['problem', 'No Node.', 'Start the Gateway Now', 'Show Log'],
        ['good', 'pseudo terminal'],
        ['note', 'no file. Bowline drives'],
        ['good', 'every program'],
        ['note', 'lacks /opt/x of', "Give Agents the Login Shell's PATH", 'Open Setting bowline.environment'],
      ],
    );
  });

  it('on directories names each that is not as it must be', () => {
    const what = 'the state of the fleet';
    const states = ['good', 'not there yet', 'missing', 'not writable', 'of another user', 'open to others'] as const;
    deepStrictEqual(
      [
        ...states.map((state) => short(directoriesLine([{ path: '/s', what, state }]), /^.{26}/)),
        short(directoriesLine([{ path: '/s', what, state: 'good', free: 1024 * 1024 }]), /^.{26}/),
      ],
      [
        ['good', '/s: the state of the fleet'],
        ['good', '/s: the state of the fleet'],
        ['problem', '/s (the state of the fleet'],
        ['problem', 'You may not write in /s (t'],
        ['problem', '/s (the state of the fleet'],
        ['problem', 'Others on this machine may', 'Make It Private'],
        ['problem', 'Only 1 MB are free at /s ('],
      ],
    );
  });
});

describe("the Doctor's report", () => {
  const line = (subject: DoctorLine['subject'], verdict: DoctorLine['verdict']): DoctorLine => {
    return { subject, verdict, text: `About ${subject}.`, fixes: [] };
  };
  const lines = [line('tmux', 'good'), line('PATH', 'problem'), line('login', 'unknown'), line('claude', 'problem')];

  it('has the gravest first, and counts', () => {
    deepStrictEqual(
      [inOrder(lines).map(({ subject }) => subject), doctorSummary(lines), doctorSummary([line('tmux', 'note')])],
      [['claude', 'PATH', 'login', 'tmux'], '2 problems, 1 unknown, 1 good', '1 note, 0 good'],
    );
  });

  it('is a document', () => {
    deepStrictEqual(
      doctorReport(lines.slice(0, 1), 0, ['System: Linux']),
      '# Bowline Doctor\n\n- Time: 1970-01-01T00:00:00.000Z\n- System: Linux\n\n1 good.\n\n- **tmux** (good): About tmux.\n\n',
    );
  });
});
