import { deepStrictEqual } from 'node:assert/strict';
import type { OwnServer } from '../../../src/core/mcp/ownServer.ts';
import { serverActions, serverOrigin, serverState, shownDefinition } from '../../../src/extension/ownServerText.ts';

const through: OwnServer = { name: 'lab', scope: 'user', shadows: [], way: 'through Bowline' };
const approved = (state: 'by Claude' | 'by Bowline' | 'not approved' | 'disabled'): OwnServer => ({
  ...through,
  scope: 'project',
  approval: { state, digest: 'd' },
});

describe('what is shown of an MCP server', () => {
  it('says how it is reached, where it comes from and what it stands before', () => {
    deepStrictEqual(
      [
        serverState(through),
        serverState({ way: 'direct', reason: 'It wants a login.' }),
        serverState({ way: 'not given', reason: 'KEY is not set.' }),
        serverOrigin(through),
        serverOrigin({ scope: 'bowline', shadows: ['project', 'project', 'user'] }),
      ],
      [
        'through Bowline',
        'not through Bowline: It wants a login.',
        'not given: KEY is not set.',
        "from Claude's user scope",
        "from Bowline's settings, before that of the project and Claude's user scope",
      ],
    );
  });

  it('offers what can be done about it', () => {
    deepStrictEqual(
      [
        serverActions(through, []),
        serverActions({ ...through, way: 'direct' }, []),
        serverActions({ ...through, way: 'direct' }, ['lab']),
        serverActions({ ...approved('not approved'), way: 'not given' }, []),
        serverActions(approved('by Bowline'), []),
        serverActions(approved('by Claude'), []),
        serverActions({ ...approved('disabled'), way: 'not given' }, []),
      ],
      [['around'], [], ['through'], ['approve'], ['withdraw', 'around'], ['around'], []],
    );
  });

  it('hides nothing of a definition', () => {
    deepStrictEqual(
      shownDefinition('{\n  "command": "ls \u202e\u0000\u00e9\u{1f600}\t"\n}'),
      '{\n  "command": "ls \\u{202e}\\u{0}\\u{e9}\\u{1f600}\\u{9}"\n}',
    );
  });
});
