import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BowlineError } from '../../src/base/errors.ts';
import { silentLog } from '../../src/base/log.ts';
import {
  type EnsureHolderOptions,
  ensureHolder,
  holderEnvironment,
  liveHolder,
} from '../../src/node/gatewayLauncher.ts';
import type { Endpoint } from '../../src/protocol/endpointFile.ts';
import { type HolderPrograms, HolderRig, bundleHolderPrograms, kill } from '../harness/holderRig.ts';
import { scopeMark, scopeStandIn } from '../harness/scopeStandIn.ts';
import { waitFor } from '../harness/waitFor.ts';

describe('ensureHolder', function () {
  this.timeout(60_000);
  let programs: HolderPrograms;
  let rig: HolderRig;
  before(async () => {
    programs = await bundleHolderPrograms();
  });
  after(() => {
    programs.dispose();
  });
  beforeEach(() => {
    rig = new HolderRig(programs);
  });
  afterEach(() => rig.dispose());

  const ensure = (change: Partial<EnsureHolderOptions> = {}): Promise<Endpoint> =>
    ensureHolder({ paths: rig.paths, install: () => rig.install(), log: silentLog, ...change });

  const endAll = (): Promise<true> =>
    waitFor('the end of everything', () => {
      const pids = rig.processes();
      for (const pid of pids) kill(pid, 'SIGKILL');
      return pids.length === 0;
    });

  async function failure(change: Partial<EnsureHolderOptions> = {}): Promise<{ code: string; sentence: string }> {
    const error: unknown = await ensure(change).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof BowlineError, String(error));
    return { code: error.code, sentence: error.message.replaceAll(rig.paths.directory, '<state>') };
  }

  it('starts one holder for eight windows at once, and none when it is there', async () => {
    const endpoints = await Promise.all(Array.from({ length: 8 }, () => ensure()));
    let installed = 0;
    const again = await ensure({ install: () => Promise.resolve(installed++) });
    const holder = await liveHolder(rig.paths);
    assert.deepStrictEqual(
      {
        ports: [...new Set([...endpoints, again].map(({ port }) => port))],
        instances: [...new Set([...endpoints, again].map(({ holder: { instance } }) => instance))],
        gateways: (await rig.starts()).length,
        installed,
      },
      { ports: [holder?.port], instances: [holder?.instance], gateways: 1, installed: 0 },
    );
  });

  it('starts the holder in its own session, with little of the window in its environment', async () => {
    process.env['VSCODE_TEST_SECRET'] = 'window';
    try {
      await ensure();
    } finally {
      delete process.env['VSCODE_TEST_SECRET'];
    }
    const holder = await liveHolder(rig.paths);
    assert.ok(holder);
    const environment = await readFile(`/proc/${holder.pid}/environ`, 'utf8');
    const stat = await readFile(`/proc/${holder.pid}/stat`, 'utf8');
    const own = await readFile('/proc/self/stat', 'utf8');
    const session = (line: string): string | undefined => line.slice(line.lastIndexOf(')') + 2).split(' ')[3];
    assert.deepStrictEqual(
      {
        home: environment.split('\0').includes(`BOWLINE_HOME=${rig.paths.directory}`),
        secret: environment.includes('VSCODE_TEST_SECRET'),
        sameSession: session(stat) === session(own),
        allowed: holderEnvironment({ PATH: '/bin', NODE_OPTIONS: '-r x', CLAUDECODE: '1', HOME: undefined }, rig.paths),
      },
      {
        home: true,
        secret: false,
        sameSession: false,
        allowed: { BOWLINE_HOME: rig.paths.directory, PATH: '/bin' },
      },
    );
  });

  it('starts the holder in a systemd scope (a stand-in), and without one that fails in the end', async () => {
    const { PATH } = process.env;
    const inScope: Record<string, boolean> = {};
    try {
      for (const then of ['refuses', 'runs'] as const) {
        Object.assign(process.env, await scopeStandIn(join(rig.paths.directory, then), then));
        await ensure();
        const holder = await liveHolder(rig.paths);
        inScope[then] = (await readFile(`/proc/${String(holder?.pid)}/environ`, 'utf8'))
          .split('\0')
          .includes(scopeMark);
        await endAll();
      }
    } finally {
      Object.assign(process.env, { PATH });
      delete process.env['XDG_RUNTIME_DIR'];
    }
    assert.deepStrictEqual(inScope, { refuses: false, runs: true });
  });

  it('starts again what was killed with everything, on the same port', async () => {
    const first = await ensure();
    await endAll();
    const second = await ensure();
    assert.deepStrictEqual([second.port, second.holder.instance === first.holder.instance], [first.port, false]);
  });

  it('names a gateway that crashes, with its last words and the place of the logs', async () => {
    await rig.instruct('crash');
    const { code, sentence } = await failure({ timeoutMs: 8000 });
    assert.equal(code, 'gateway-cannot-start');
    assert.match(
      sentence,
      /^The Bowline gateway does not start: it did not come up\. It said: .*the gateway ended \(7\).*fake gateway: crashing as told.*the logs are in <state>\/log\.$/,
    );
  });

  it('names an endpoint file that cannot be used', async () => {
    await rig.instruct('unpublished');
    await writeFile(rig.paths.endpoint, '{}', { mode: 0o644 });
    assert.match(
      (await failure({ timeoutMs: 6000 })).sentence,
      /endpoint\.json is not usable \(mode 644 instead of 600\)/,
    );
  });

  it('names what keeps the programs from being installed or started, without waiting', async () => {
    const began = performance.now();
    await writeFile(rig.paths.versions, 'a file');
    const occupied = await failure();
    await rm(rig.paths.versions);
    const noLauncher = await failure({ install: () => Promise.resolve() });
    await rig.install();
    await rm(rig.paths.currentVersion);
    const noVersion = await failure({ install: () => Promise.resolve() });
    assert.deepStrictEqual([occupied.code, noLauncher.code, noVersion.code], Array(3).fill('gateway-cannot-start'));
    assert.match(occupied.sentence, /cannot use the directory <state>\/versions/);
    assert.match(noLauncher.sentence, /the launcher ended\. It said: .*<state>\/launcher: not found/);
    assert.match(
      noVersion.sentence,
      /the launcher ended\. It said: Bowline: no version is installed in <state>\/versions/,
    );
    assert.ok(performance.now() - began < 8000);
  });

  it('can be cancelled', async () => {
    await rig.instruct('unpublished');
    const abort = new AbortController();
    const waiting = failure({ signal: abort.signal });
    abort.abort();
    assert.equal((await waiting).code, 'cancelled');
  });
});
