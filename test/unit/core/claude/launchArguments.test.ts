import { deepStrictEqual, throws } from 'node:assert/strict';
import { launchArguments } from '../../../../src/core/claude/launchArguments.ts';

describe('launch arguments', () => {
  const files = { settingsFile: '/s/settings.json', mcpConfigFile: '/s/mcp.json' };

  it('start a new conversation', () => {
    deepStrictEqual(launchArguments({ ...files, conversation: { mode: 'fresh' }, extraArguments: [] }), [
      '--settings=/s/settings.json',
      '--mcp-config=/s/mcp.json',
    ]);
  });

  it("resume one by its exact id, with the person's own words last", () => {
    const sessionId = '21edb556-90cb-4640-bb73-beef9bf4dfec';
    deepStrictEqual(
      launchArguments({
        ...files,
        conversation: { mode: 'resume', sessionId },
        model: 'opus',
        permissionMode: 'acceptEdits',
        effort: 'high',
        systemPrompt: '- be brief',
        addedDirectories: ['/a b', '/c'],
        extraArguments: ['--mcp-config', 'own.json', '--add-dir', '/x'],
      }),
      [
        '--settings=/s/settings.json',
        '--mcp-config=/s/mcp.json',
        `--resume=${sessionId}`,
        '--model=opus',
        '--permission-mode=acceptEdits',
        '--effort=high',
        '--append-system-prompt=- be brief',
        '--add-dir=/a b',
        '--add-dir=/c',
        '--mcp-config',
        'own.json',
        '--add-dir',
        '/x',
      ],
    );
  });

  it('never resume by anything but an id: Claude would stop at a list', () => {
    for (const sessionId of ['', 'my title', '--continue', '21edb556-90cb-4640-bb73-beef9bf4dfec x']) {
      throws(
        () => launchArguments({ ...files, conversation: { mode: 'resume', sessionId }, extraArguments: [] }),
        RangeError,
      );
    }
  });
});
