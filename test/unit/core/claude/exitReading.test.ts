import { deepStrictEqual } from 'node:assert/strict';
import { readExit } from '../../../../src/core/claude/exitReading.ts';
import { endedPaneText } from '../../../../src/core/tmux/formats.ts';
import { fixture, fixtureNames, versions } from './fixtures.ts';

describe('the end of a process', () => {
  for (const version of versions) {
    it(`is read from what claude ${version} printed`, () => {
      const read = fixtureNames(version, 'exits').map((name) => {
        const status = Number(/-(\d+)$/.exec(name)?.[1]);
        const end = { status, lastLines: fixture(version, 'exits', `${name}.txt`).split('\n') };
        return [name.replace(/-\d+$/, ''), { status, ...readExit(end) }];
      });
      const heading = 'Error: Invalid MCP configuration: ';
      // The pane was 120 columns wide.
      const modes =
        version === '2.1.332'
          ? 'acceptEdits, auto, bypassPerm issions, manual, dontAsk, plan'
          : 'acceptEdits, auto, bypassPerm issions, default, dontAsk, plan';
      const configuration = { status: 1, reading: 'configuration error' };
      deepStrictEqual(Object.fromEntries(read), {
        'conversation-not-found': {
          status: 1,
          reading: 'conversation not found',
          sentence: 'No conversation found with session ID: 11111111-2222-4333-8444-555555555555',
        },
        'unknown-option': { ...configuration, sentence: "error: unknown option '--nosuch'" },
        'permission-mode': {
          ...configuration,
          sentence: `error: option '--permission-mode <mode>' argument 'nosuch' is invalid. Allowed choices are ${modes}.`,
        },
        'session-id': { ...configuration, sentence: 'Error: Invalid session ID. Must be a valid UUID.' },
        'mcp-malformed': { ...configuration, sentence: `${heading}MCP config is not a valid JSON` },
        'mcp-missing': { ...configuration, sentence: `${heading}MCP config file not found: /home/user/gone.json` },
        'settings-missing': { ...configuration, sentence: 'Error: Settings file not found: /home/user/gone.json' },
      });
    });
  }

  it('by status or signal counts without words', () => {
    const shell = 'sh: 1: claude: not found';
    const prescribed = 'You cannot dynamically configure MCP servers when an enterprise MCP config is present';
    deepStrictEqual(
      [
        readExit({ status: 127, lastLines: [shell] }),
        readExit({ status: 126, lastLines: [] }),
        readExit({ status: 1, lastLines: [] }),
        readExit({ lastLines: [] }),
        readExit({ signal: 'KILL', lastLines: ['No conversation found'] }),
        readExit({ status: 0, lastLines: ['Please run /login', ''] }),
        readExit({ status: 1, lastLines: ['Not logged in · Please run /login'] }),
        readExit({ status: 1, lastLines: ['', 'Pane is dead (status 1, Sun Nov 29 14:39:00 2026)', ''] }),
        readExit({ status: 1, lastLines: ['boom', endedPaneText] }),
        readExit({ status: 1, lastLines: [prescribed] }),
        readExit({ status: 1, lastLines: [' Enter to confirm · Esc to cancel', '', 'Claude did not start.'] }),
      ],
      [
        { reading: 'binary missing', sentence: shell },
        { reading: 'binary missing', sentence: '' },
        { reading: 'other', sentence: '' },
        { reading: 'other', sentence: '' },
        { reading: 'other', sentence: '' },
        { reading: 'other', sentence: 'Please run /login' },
        { reading: 'login needed', sentence: 'Not logged in · Please run /login' },
        { reading: 'other', sentence: '' },
        { reading: 'other', sentence: 'boom' },
        { reading: 'configuration error', sentence: prescribed },
        { reading: 'other', sentence: 'Claude did not start.' },
      ],
    );
  });
});
