import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEndpointFile, writeEndpointFile } from '../../../src/node/endpointFile.ts';
import { type StatePaths, statePaths } from '../../../src/node/statePaths.ts';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';

const endpoint: Endpoint = {
  protocol: 1,
  port: 20001,
  token: 'A'.repeat(43),
  gateway: { pid: 12, startTime: 'proc:boot:1', instance: 'epoch' },
  holder: { instance: 'holder' },
  startedAt: 1_700_000_000_000,
  version: '0.1.0',
};

describe('endpointFile', () => {
  let paths: StatePaths;
  beforeEach(() => {
    paths = statePaths(mkdtempSync(join(tmpdir(), 'bowline-endpoint-')));
  });
  afterEach(() => {
    rmSync(paths.directory, { recursive: true });
  });

  it('comes back as it was written, and is refused before it is written when it is wrong', async () => {
    const missing = await readEndpointFile(paths);
    await assert.rejects(writeEndpointFile(paths, { ...endpoint, token: 'short' }));
    const stillMissing = await readEndpointFile(paths);
    await writeEndpointFile(paths, endpoint);
    assert.deepStrictEqual(
      [missing, stillMissing, await readEndpointFile(paths)],
      [{ kind: 'missing' }, { kind: 'missing' }, { kind: 'ok', endpoint }],
    );
  });

  it('is not trusted when others can read it, and says why it cannot be used', async () => {
    await writeEndpointFile(paths, endpoint);
    chmodSync(paths.endpoint, 0o640);
    const open = await readEndpointFile(paths);
    chmodSync(paths.endpoint, 0o600);
    const after = async (text: string): Promise<unknown> => {
      writeFileSync(paths.endpoint, text);
      return readEndpointFile(paths);
    };
    assert.deepStrictEqual(
      [open, await after('{'), await after('{"protocol":2}'), await after(JSON.stringify({ ...endpoint, port: 0 }))],
      [
        { kind: 'unusable', reason: 'mode 640 instead of 600' },
        { kind: 'unusable', reason: 'not JSON' },
        { kind: 'unusable', reason: 'protocol 2 instead of 1' },
        { kind: 'unusable', reason: 'port: Too small: expected number to be >=1' },
      ],
    );
  });
});
