import { deepStrictEqual } from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { forgetRemoved } from '../../../src/gateway/agentFiles.ts';
import { AgentKeyFiles } from '../../../src/gateway/keys.ts';
import { statePaths } from '../../../src/node/statePaths.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

describe('files of removed agents', () => {
  it('go at the start of the gateway where the run before had no time for it; those of all others stay', async () => {
    const paths = statePaths(mkdtempSync(join(tmpdir(), 'bowline-removed-')));
    try {
      for (const directory of [paths.agents, paths.contexts]) mkdirSync(directory);
      const story = new FleetStory().create('ada').create('bo').create('cy');
      for (const name of ['ada', 'cy']) story.tell({ kind: 'agent removed', name });
      story.create('cy');
      const names = ['ada', 'bo', 'cy', 'off-record'];
      const former = await AgentKeyFiles.load(paths, silentLog);
      const keys: string[] = [];
      for (const name of names) {
        keys.push(await former.keyOf(name));
        writeFileSync(paths.context(name), '{}');
      }
      const next = await AgentKeyFiles.load(paths, silentLog);
      await forgetRemoved({ state: story.state, keys: next, paths, log: silentLog });
      deepStrictEqual(
        names.map((name, index) => [
          existsSync(paths.agent(name).key),
          existsSync(paths.context(name)),
          next.ownerOf(keys[index] ?? ''),
        ]),
        [
          [false, false, undefined],
          [true, true, 'bo'],
          [true, true, 'cy'],
          [true, true, 'off-record'],
        ],
      );
    } finally {
      rmSync(paths.directory, { recursive: true });
    }
  });
});
