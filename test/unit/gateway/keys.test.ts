import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { AgentKeyFiles } from '../../../src/gateway/keys.ts';
import { type StatePaths, statePaths } from '../../../src/node/statePaths.ts';

describe('AgentKeyFiles', () => {
  let paths: StatePaths;
  beforeEach(() => {
    paths = statePaths(mkdtempSync(join(tmpdir(), 'bowline-keys-')));
    mkdirSync(paths.agents);
  });
  afterEach(() => {
    rmSync(paths.directory, { recursive: true });
  });

  it('makes one key of 256 bits per agent, in a private file, and knows it again after a restart', async () => {
    const keys = await AgentKeyFiles.load(paths, silentLog);
    const [first, again, other] = await Promise.all([keys.keyOf('ada'), keys.keyOf('ada'), keys.keyOf('bo')]);
    const later = await AgentKeyFiles.load(paths, silentLog);
    assert.deepStrictEqual(
      {
        same: first === again,
        other: first === other,
        bits: Buffer.from(first, 'base64url').length * 8,
        mode: statSync(paths.agent('ada').key).mode & 0o777,
        file: readFileSync(paths.agent('ada').key, 'utf8') === `${first}\n`,
        later: await later.keyOf('ada'),
        owners: [first, other, 'x', ''].map((key) => later.ownerOf(key)),
      },
      {
        same: true,
        other: false,
        bits: 256,
        mode: 0o600,
        file: true,
        later: first,
        owners: ['ada', 'bo', undefined, undefined],
      },
    );
  });

  it('forgets a removed agent: its key is not valid any more and its files are gone', async () => {
    const keys = await AgentKeyFiles.load(paths, silentLog);
    const key = await keys.keyOf('ada');
    await keys.remove('ada');
    assert.deepStrictEqual(
      [keys.ownerOf(key), existsSync(paths.agent('ada').directory), (await keys.keyOf('ada')) === key],
      [undefined, false, false],
    );
  });

  it('keeps the files of a new agent whose name another one had a moment ago', async () => {
    const keys = await AgentKeyFiles.load(paths, silentLog);
    await keys.keyOf('ada');
    for (let file = 0; file < 200; file++) writeFileSync(join(paths.agent('ada').directory, String(file)), '');
    const removed = keys.remove('ada');
    const key = await keys.keyOf('ada');
    await removed;
    assert.deepStrictEqual(readFileSync(paths.agent('ada').key, 'utf8'), `${key}\n`);
  });

  for (const [name, lost] of [
    [
      'lost',
      (path: string) => {
        rmSync(path);
      },
    ],
    [
      'damaged',
      (path: string) => {
        writeFileSync(path, 'short\n');
      },
    ],
  ] as const) {
    it(`brings a key whose file is ${name} back from the configuration that the process was started with`, async () => {
      const key = await (await AgentKeyFiles.load(paths, silentLog)).keyOf('ada');
      const headers = { 'X-Agent-Name': 'ada', Authorization: `Bearer ${key}` };
      const entry = { type: 'http', url: 'http://127.0.0.1:1/mcp/bowline-self', headers };
      writeFileSync(paths.agent('ada').mcpConfig, JSON.stringify({ mcpServers: { 'bowline-self': entry } }));
      lost(paths.agent('ada').key);
      const later = await AgentKeyFiles.load(paths, silentLog);
      assert.deepStrictEqual(
        [later.ownerOf(key), await later.keyOf('ada'), readFileSync(paths.agent('ada').key, 'utf8')],
        ['ada', key, `${key}\n`],
      );
    });
  }

  it('takes no key out of a configuration that is damaged, or of another agent', async () => {
    const key = await (await AgentKeyFiles.load(paths, silentLog)).keyOf('ada');
    rmSync(paths.agent('ada').key);
    const headers = { 'X-Agent-Name': 'bo', Authorization: `Bearer ${key}` };
    const owners: unknown[] = [];
    for (const text of ['{', '{}', JSON.stringify({ mcpServers: { own: { command: 'x' }, bo: { headers } } })]) {
      writeFileSync(paths.agent('ada').mcpConfig, text);
      owners.push((await AgentKeyFiles.load(paths, silentLog)).ownerOf(key));
    }
    assert.deepStrictEqual(owners, [undefined, undefined, undefined]);
  });

  it('gives an agent with a damaged key file a new key', async () => {
    mkdirSync(paths.agent('ada').directory);
    writeFileSync(paths.agent('ada').key, 'short\n');
    const keys = await AgentKeyFiles.load(paths, silentLog);
    const key = await keys.keyOf('ada');
    assert.deepStrictEqual([keys.ownerOf('short'), keys.ownerOf(key)], [undefined, 'ada']);
  });
});
