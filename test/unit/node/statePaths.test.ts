import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defaultStateDirectory, ensureStateDirectories, statePaths } from '../../../src/node/statePaths.ts';

describe('statePaths', () => {
  it('finds the state directory: BOWLINE_HOME, XDG_STATE_HOME if absolute, else below the home directory', () => {
    assert.deepStrictEqual(
      [
        defaultStateDirectory({ BOWLINE_HOME: '/b', XDG_STATE_HOME: '/x', HOME: '/h' }),
        defaultStateDirectory({ BOWLINE_HOME: '', XDG_STATE_HOME: '/x', HOME: '/h' }),
        defaultStateDirectory({ XDG_STATE_HOME: 'relative', HOME: '/h' }),
        defaultStateDirectory({ HOME: '/h' }),
        defaultStateDirectory({}),
      ],
      [
        '/b',
        '/x/bowline',
        '/h/.local/state/bowline',
        '/h/.local/state/bowline',
        join(homedir(), '.local/state/bowline'),
      ],
    );
  });

  it('keeps every file below the state directory', () => {
    const { agent, context, log, journal, journalAfter: _journalAfter, ...paths } = statePaths('/s');
    assert.deepStrictEqual(
      [
        ...Object.values<string>(paths),
        ...Object.values<string>({ ...agent('ada') }),
        context('ada'),
        log('gateway'),
        journal(12),
      ].map((path) => path.replace(/^\/s\b/, '')),
      [
        ...['', '/endpoint.json', '/holder.json', '/port', '/state.json', '/state.json.previous', '/mcp-sessions.json'],
        ...['/agents', '/contexts', '/shared-notes.json'],
        ...[
          '/spool',
          '/versions',
          '/versions/current',
          '/versions/nodes',
          '/launcher',
          '',
          '/fleet.sock',
          '/tmux.conf',
        ],
        ...['/upstreams', '/log', '/log/gateway.out', '/log/holder.out'],
        ...[
          '/agents/ada',
          '/agents/ada/key',
          '/agents/ada/mcp.json',
          '/agents/ada/handover.json',
          '/agents/ada/settings.json',
          '/agents/ada/launched.json',
          '/agents/ada/prompts',
          '/agents/ada/inbox.json',
          '/agents/ada/notes.json',
        ],
        ...['/contexts/ada.json', '/log/gateway.jsonl', '/journal-12.jsonl'],
      ],
    );
  });

  it('tells the names of journals from others', () => {
    const { journalAfter } = statePaths('/s');
    const names = ['journal-0.jsonl', 'journal-12.jsonl', 'journal-.jsonl', 'journal-1.jsonl.dropped-2', 'state.json'];
    assert.deepStrictEqual(names.map(journalAfter), [0, 12, undefined, undefined, undefined]);
  });

  it('moves the socket to a short private directory, its own for each state directory, when the path is too long', () => {
    const fits = statePaths(`/${'s'.repeat(100 - '/fleet.sock'.length - 1)}`);
    const [long, other] = ['a', 'b'].map((letter) => statePaths(`/${'é'.repeat(60)}/${letter}`));
    assert.ok(long && other);
    assert.deepStrictEqual(
      {
        fits: [fits.fleetSocket.length, fits.fleetSocketDirectory === fits.directory],
        long: Buffer.byteLength(long.fleetSocket) < 60,
        consistent: dirname(long.fleetSocket) === long.fleetSocketDirectory,
        again: statePaths(long.directory).fleetSocket === long.fleetSocket,
        own: other.fleetSocket === long.fleetSocket,
      },
      { fits: [100, true], long: true, consistent: true, again: true, own: false },
    );
  });

  it('creates the directories that every process expects', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'bowline-paths-'));
    try {
      const paths = statePaths(join(parent, 'state'));
      await ensureStateDirectories(paths);
      assert.deepStrictEqual((await readdir(paths.directory)).sort(), [
        'agents',
        'contexts',
        'log',
        'spool',
        'versions',
      ]);
    } finally {
      rmSync(parent, { recursive: true });
    }
  });
});
