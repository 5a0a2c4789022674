import { deepStrictEqual } from 'node:assert/strict';
import { readScreen, type ScreenReading } from '../../../../src/core/claude/screen.ts';
import { fixture, fixtureNames, versions } from './fixtures.ts';

function read(version: string, name: string): ScreenReading {
  return readScreen(fixture(version, 'screens', `${name}.txt`).split('\n'));
}

const nothing: ScreenReading = { kind: 'input', text: '' };
const yes = 'Yes, I trust this folder';
const servers = [
  'Use this MCP server',
  'Use this and all future MCP servers in this project',
  'Continue without using this MCP server',
];
const settings = ['Fix with Claude', 'Exit and fix manually', 'Continue without these settings'];

/** What both versions show alike. */
const common = {
  idle: nothing,
  'after-turn': nothing,
  unsent: { kind: 'input', text: 'half a thought' },
  erased: nothing,
  'unsent-lines': { kind: 'input', text: 'first line\n❯ 1. Yes\n  2. No\n────────────────────\nlast line' },
  'unsent-paste': { kind: 'input', text: '[Pasted text #1 +3 lines]' },
  'unsent-bash': { kind: 'input', text: '!ls' },
  'slash-menu': { kind: 'input', text: '/mc' },
  'after-reconnect': nothing,
  busy: { kind: 'busy', text: '' },
  'busy-unsent': { kind: 'busy', text: 'typed ahead' },
  // The input line shows a suggestion then: "Press up to edit queued messages".
  'busy-queued': { kind: 'busy', text: '' },
  'looks-like-a-dialog': nothing,
  'after-refusal': nothing,
  'api-error': nothing,
  resumed: nothing,
  'not-logged-in': nothing,
  'settings-error': { kind: 'dialog', dialog: 'other', title: 'Settings Error', choices: settings, highlighted: 0 },
  'key-approval': {
    kind: 'dialog',
    dialog: 'login',
    title: 'Detected a custom API key in your environment',
    choices: ['Yes', 'No (recommended)'],
    highlighted: 1,
  },
  'mcp-approval-two': {
    kind: 'dialog',
    dialog: 'mcp-approval',
    title: '2 new MCP servers found in this project',
    choices: ['own', 'other'],
    highlighted: 0,
  },
  'resume-picker': { kind: 'dialog', dialog: 'other', title: 'Resume session', choices: [] },
} satisfies Record<string, ScreenReading>;

const own = {
  '2.1.160': {
    trust: {
      kind: 'dialog',
      dialog: 'trust',
      title: 'Accessing workspace:',
      choices: [yes, 'No, exit'],
      highlighted: 0,
    },
    'added-directory': nothing,
    'mcp-approval': {
      kind: 'dialog',
      dialog: 'mcp-approval',
      title: 'New MCP server found in this project: own',
      choices: servers,
      highlighted: 0,
    },
    'mcp-panel': {
      kind: 'dialog',
      dialog: 'other',
      title: 'Manage MCP servers',
      choices: ['Built-in MCPs (always available)', 'own · ✘ failed'],
      highlighted: 1,
    },
    permission: {
      kind: 'dialog',
      dialog: 'permission',
      title: 'Bash command',
      choices: ['Yes', 'Yes, and always allow access to project/ from this project', 'No'],
      highlighted: 0,
    },
    login: {
      kind: 'dialog',
      dialog: 'login',
      title: 'Login',
      choices: [
        'Claude account with subscription · Pro, Max, Team, or Enterprise',
        'Anthropic Console account · API usage billing',
        '3rd-party platform · Amazon Bedrock, Microsoft Foundry, or Vertex AI',
      ],
      highlighted: 0,
    },
  },
  '2.1.332': {
    trust: {
      kind: 'dialog',
      dialog: 'trust',
      title: 'Accessing workspace:',
      choices: ['No, exit', yes],
      highlighted: 0,
    },
    'added-directory': {
      kind: 'dialog',
      dialog: 'trust',
      title: 'Adding a new directory:',
      choices: ['No, exit', 'Yes, add it'],
      highlighted: 0,
    },
    'mcp-approval': {
      kind: 'dialog',
      dialog: 'mcp-approval',
      title: 'New MCP server found in this project: own',
      choices: servers,
      highlighted: 2,
    },
    'mcp-panel': {
      kind: 'dialog',
      dialog: 'other',
      title: 'MCP servers',
      choices: ['Other MCPs', '✘ own'],
      highlighted: 1,
    },
    permission: {
      kind: 'dialog',
      dialog: 'permission',
      title: 'Bash command',
      choices: [
        'Yes',
        'Yes, and always allow access to /home/user/project from this project',
        'Yes, and switch to auto mode · auto mode handles these prompts for you',
        'No',
      ],
      highlighted: 0,
    },
    login: {
      kind: 'dialog',
      dialog: 'login',
      title: 'Login',
      choices: [
        'Claude account with subscription · Individual, Team, or Enterprise',
        'Anthropic Console account · API usage billing',
        '3rd-party platform · Bedrock, Microsoft Foundry, Google Vertex AI',
      ],
      highlighted: 0,
    },
  },
} satisfies Record<string, Record<string, ScreenReading>>;

describe('screens', () => {
  for (const version of versions) {
    it(`of claude ${version} are read, every captured one`, () => {
      deepStrictEqual(Object.fromEntries(fixtureNames(version, 'screens').map((name) => [name, read(version, name)])), {
        ...common,
        ...own[version],
      });
    });

    it(`of claude ${version} are read from plain captures, too, but for suggestions`, () => {
      const plain = (name: string): ScreenReading => {
        const text = fixture(version, 'screens', `${name}.txt`).replace(/\u001b\[[0-9;:]*m/g, '');
        return readScreen(text.split('\n'));
      };
      deepStrictEqual(Object.fromEntries(fixtureNames(version, 'screens').map((name) => [name, plain(name)])), {
        ...common,
        ...own[version],
        'busy-queued': { kind: 'busy', text: 'Press up to edit queued messages' },
      });
    });

    it(`the trust dialog of claude ${version} is known in other wordings and orders (case 25)`, () => {
      const capture = fixture(version, 'screens', 'trust.txt')
        .replace(/\u001b\[[0-9;:]*m/g, '')
        .split('\n');
      const list = capture.findIndex((line) => line.includes('❯'));
      const variants = [
        {
          body: [' Do you trust the files in this folder?', '', ' /home/user/project'],
          choices: ['Yes, proceed', 'No, exit'],
        },
        { body: [' Is this folder one that you trust?'], choices: ['No, exit Claude Code', 'Yes, continue'] },
        {
          body: [' Accessing workspace:', '', ' /home/user/project'],
          choices: ['No, exit', 'Yes, I trust this folder'],
        },
        { body: [' Quick safety check: Is this a project you trust?'], choices: ['1. Yes', '2. No, exit'] },
      ];
      const readings = variants.map(({ body, choices: [first, second] }) => {
        const rule = capture.findIndex((line) => line.startsWith('────'));
        return readScreen([
          ...capture.slice(0, rule + 1),
          ...body,
          '',
          ` ❯ ${first ?? ''}`,
          `   ${second ?? ''}`,
          ...capture.slice(list + 2),
        ]);
      });
      deepStrictEqual(
        readings.map((reading) => reading.kind === 'dialog' && [reading.dialog, reading.choices, reading.highlighted]),
        [
          ['trust', ['Yes, proceed', 'No, exit'], 0],
          ['trust', ['No, exit Claude Code', 'Yes, continue'], 0],
          ['trust', ['No, exit', 'Yes, I trust this folder'], 0],
          ['trust', ['Yes', 'No, exit'], 0],
        ],
      );
    });

    it(`a suggestion in the empty input line of claude ${version} is no unsent text`, () => {
      const lines = fixture(version, 'screens', 'busy-queued.txt').split('\n');
      const line = lines.findIndex((text) => text.includes('ress up to edit'));
      const styled = lines[line] ?? '';
      const typed = styled.replace('ress up to edit queued messages', 'ort the table').replace('[0;2m', '[0m');
      const completed = styled.replace('\u001b[7m', '/mcp rec\u001b[7m');
      deepStrictEqual(
        [styled, typed, completed].map((text) => readScreen(lines.with(line, text))),
        ['', 'Port the table', '/mcp rec'].map((text) => ({ kind: 'busy', text })),
      );
    });
  }

  it('that show neither input nor dialog are unknown', () => {
    const rule = '─'.repeat(60);
    const answers = [
      [],
      ['', '', ''],
      ['user@host:~$ ls', 'a  b  c', 'user@host:~$ '],
      // The text of an answer, cut off by the top of the screen.
      ['  ❯ 1. Yes', '    2. No, exit', '', '  That is what you will see.'],
      [rule, '  A heading', '', '  Some text.'],
    ];
    deepStrictEqual(
      answers.map(readScreen),
      answers.map(() => ({ kind: 'unknown' })),
    );
  });

  it('ask for permission, whatever the command says about trust', () => {
    const lines = [
      '─'.repeat(60),
      ' Bash command',
      '',
      '   echo do you trust new MCP servers',
      '',
      ' Do you want to proceed?',
      ' ❯ 1. Yes',
      '   2. No',
      '',
      ' Esc to cancel',
    ];
    deepStrictEqual(readScreen(lines), {
      kind: 'dialog',
      dialog: 'permission',
      title: 'Bash command',
      choices: ['Yes', 'No'],
      highlighted: 0,
    });
  });

  it('take colours for no attributes, and text at the edge between rules for no input line', () => {
    const rule = '─'.repeat(60);
    const box = (...lines: string[]): readonly string[] => [rule, ...lines, rule];
    deepStrictEqual(
      [
        box('\u001b[38;5;2m❯\u00a0green\u001b[39m'),
        box('\u001b[48;2;2;7;2m❯\u00a0on dark\u001b[49m'),
        box('❯\u00a0\u001b[2mfaint\u001b[22m'),
        box('❯ said', '  more', 'an answer'),
      ].map(readScreen),
      [
        { kind: 'input', text: 'green' },
        { kind: 'input', text: 'on dark' },
        { kind: 'input', text: '' },
        { kind: 'unknown' },
      ],
    );
  });

  it('with a dialog that has no list are dialogs (claude 2.1.332, auto mode without its check)', () => {
    const lines = [
      '❯ CALL a tool',
      '',
      '─'.repeat(120),
      "  Auto mode can't check actions in this session",
      '',
      '  You can stay in auto mode and approve each action that needs the check yourself.',
      '',
      '  Enter to stay in auto mode · shift+Tab to leave for accept edits mode and stop · Esc to cancel',
      '',
    ];
    deepStrictEqual(readScreen(lines), {
      kind: 'dialog',
      dialog: 'other',
      title: "Auto mode can't check actions in this session",
      choices: [],
    });
  });
});
