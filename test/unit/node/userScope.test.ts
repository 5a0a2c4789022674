import { deepStrictEqual } from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { userScope } from '../../../src/node/userScope.ts';

/** A script stands in for systemd-run. */
describe('userScope', function () {
  this.timeout(20_000);
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'bowline-scope-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  async function words(does: string | undefined, session: Record<string, string>): Promise<readonly string[]> {
    const file = path.join(directory, 'systemd-run');
    await rm(file, { force: true });
    if (does !== undefined) {
      await writeFile(file, `#!/bin/sh\necho "$*" >>'${directory}/asked'\n${does}\n`);
      await chmod(file, 0o755);
    }
    return userScope({ PATH: directory, ...session });
  }

  it('is used only where a scope can be had right now', async () => {
    const session = { XDG_RUNTIME_DIR: directory };
    const scope = ['systemd-run', '--user', '--scope', '--quiet', '--collect', '--'];
    deepStrictEqual(
      {
        works: await words('exit 0', session),
        refused: await words('exit 1', session),
        hangs: await words('exec /bin/sleep 600', session),
        notThere: await words(undefined, session),
        noSession: await words('exit 0', {}),
        asked: await readFile(path.join(directory, 'asked'), 'utf8'),
      },
      {
        works: scope,
        refused: [],
        hangs: [],
        notThere: [],
        noSession: [],
        asked: '--user --scope --quiet --collect -- true\n'.repeat(3),
      },
    );
  });
});
