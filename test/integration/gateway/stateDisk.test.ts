import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { loadState } from '../../../src/gateway/stateStore.ts';
import { ensureHolder } from '../../../src/node/gatewayLauncher.ts';
import { type StatePaths, statePaths } from '../../../src/node/statePaths.ts';
import { gatewayProcesses } from '../../harness/gatewayProcesses.ts';
import { bundleGatewayPrograms, type GatewayPrograms, GatewayRig } from '../../harness/gatewayRig.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { created, fleetOnDisk, JournaledFleet } from '../../harness/journaledFleet.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('the state on a disk that refuses', function () {
  this.timeout(120_000);
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'bowline-disk-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('is kept when the disk is full, whole to the last byte, and is complete when there is room again', async () => {
    const disk = smallDisk(join(root, 'Platte voll 满'));
    try {
      const paths = statePaths(disk.directory);
      const fleet = await JournaledFleet.open(paths);
      await fleet.commit(created('a'));
      disk.fill();
      const refusals: unknown[] = [];
      for (let number = 0; number < 40; number += 1) {
        await fleet.commit(created(`b${number}`)).catch((error: unknown) => refusals.push(error));
      }
      const during = await loadState(paths, silentLog);
      disk.makeRoom();
      await fleet.commit(created('c'));
      const after = await loadState(paths, silentLog);
      await fleet.journal.seal();
      assert.deepStrictEqual(
        {
          refused:
            refusals.length > 0 && refusals.every((error) => /state in .*Platte voll 满 \(E/.test(String(error))),
          old: during.state.agents['a']?.name,
          odd: during.notices.filter(({ code }) => code !== 'journal-torn'),
          after: [after.state, after.notices],
        },
        { refused: true, old: 'a', odd: [], after: [fleet.state, []] },
      );
    } finally {
      disk.dispose();
    }
  });

  it('is kept when the directory is read-only, and is complete when it is not any more', async () => {
    const disk = smallDisk(join(root, 'read only'));
    try {
      const paths = statePaths(disk.directory);
      const first = await JournaledFleet.open(paths);
      await first.commit(created('a'));
      await first.journal.seal();
      const fleet = await JournaledFleet.open(paths);
      disk.forbid();
      await assert.rejects(fleet.commit(created('b')), {
        code: 'state-not-written',
        message: /Make room there, or make it/,
      });
      const during = await fleetOnDisk(paths);
      disk.permit();
      await fleet.commit(created('c'));
      await fleet.journal.seal();
      assert.deepStrictEqual([Object.keys(during.agents), await fleetOnDisk(paths)], [['a'], fleet.state]);
    } finally {
      disk.dispose();
    }
  });

  describe('of a running gateway', () => {
    let programs: GatewayPrograms;
    let rig: GatewayRig;
    before(async () => {
      programs = await bundleGatewayPrograms();
    });
    after(() => {
      programs.dispose();
    });
    beforeEach(() => {
      rig = new GatewayRig(programs);
    });
    afterEach(async () => {
      await rig.dispose();
    });

    for (const [refusing, refuse, permit] of [
      ['is full', 'fill', 'makeRoom'],
      ['is read-only', 'forbid', 'permit'],
    ] as const) {
      it(`does not keep a new run of the gateway from serving the fleet when it ${refusing}`, async () => {
        const disk = smallDisk(rig.paths.directory, { size: '16m' });
        try {
          const endpoint = await rig.start();
          const first = await WindowStandIn.join(endpoint, 'one');
          await first.ask({ kind: 'create', name: 'ada', directory: rig.directory() });
          await first.launch('ada');
          await waitFor(
            'it on disk',
            async () => (await fleetOnDisk(rig.paths)).agents['ada']?.life.kind === 'running',
          );
          const { holder } = await gatewayProcesses(rig.paths);
          disk[refuse](holder);
          process.kill(endpoint.gateway.pid, 'SIGKILL');
          // The file of the run before is all that a window finds.
          const found = await ensureHolder({ paths: rig.paths, install: () => Promise.resolve(), log: silentLog });
          const window = await WindowStandIn.join(found, 'one');
          await waitFor('the notice', () => window.state.notices.some(({ code }) => code === 'state-not-written'));
          const refusal = await window.ask({ kind: 'stop', name: 'ada' });
          const during = [window.state.epoch?.id !== endpoint.gateway.instance, window.state.agents['ada']?.life.kind];
          disk[permit](holder, await runningGateway(rig.paths));
          await waitFor('the other notice', () => window.state.notices.some(({ code }) => code === 'state-written'));
          const next = await rig.up({ not: endpoint });
          window.close();
          first.close();
          assert.deepStrictEqual(
            [refusal?.code, during, next.port, next.token, await agentsOnDisk(rig.paths)],
            ['state-not-written', [true, 'stopping'], endpoint.port, endpoint.token, ['ada']],
          );
        } finally {
          disk.dispose();
        }
      });
    }

    it('is told when it is read-only from the start, and nothing is left of that', async () => {
      const disk = smallDisk(rig.paths.directory, { size: '16m' });
      try {
        const launch = { paths: rig.paths, install: () => rig.install(), log: silentLog };
        await rig.install();
        disk.forbid();
        const before = readdirSync(rig.paths.directory, { recursive: true });
        await assert.rejects(ensureHolder(launch), {
          code: 'gateway-cannot-start',
          message: /does not start: E\w+: .*Mend the cause and try again/,
        });
        const after = [readdirSync(rig.paths.directory, { recursive: true }), rig.processes()];
        disk.permit();
        const { port } = await ensureHolder(launch);
        assert.deepStrictEqual([after, port > 0], [[before, []], true]);
      } finally {
        disk.dispose();
      }
    });

    it('does not stop the fleet: it goes on in memory, says so once, and writes everything when it can', async () => {
      const endpoint = await rig.start();
      const window = await WindowStandIn.join(endpoint, 'one');
      await window.ask({ kind: 'create', name: 'ada', directory: rig.directory() });
      limitFileSize(endpoint.gateway.pid, '0');
      const problems: unknown[] = [];
      for (const name of ['bo', 'cy']) {
        problems.push((await window.ask({ kind: 'create', name, directory: rig.directory() }))?.code);
      }
      const told = (): string[] => window.state.notices.map(({ code, severity }) => `${code} ${severity}`);
      await waitFor('the notice', () => told().length > 0);
      const during = { told: told(), agents: Object.keys(window.state.agents), disk: await agentsOnDisk(rig.paths) };
      limitFileSize(endpoint.gateway.pid, 'unlimited');
      await waitFor('the other notice', () => told().length > 1);
      const disk = await waitFor('all on disk', async () => {
        const names = await agentsOnDisk(rig.paths);
        return names.length === 3 && names;
      });
      const second = await rig.restartGateway(endpoint);
      const again = await WindowStandIn.join(second, 'one');
      const after = Object.keys(again.state.agents);
      again.close();
      assert.deepStrictEqual(
        { problems, during, told: told(), disk, after },
        {
          problems: ['state-not-written', 'state-not-written'],
          during: { told: ['state-not-written error'], agents: ['ada', 'bo', 'cy'], disk: ['ada'] },
          told: ['state-not-written error', 'state-written info'],
          disk: ['ada', 'bo', 'cy'],
          after: ['ada', 'bo', 'cy'],
        },
      );
    });
  });
});

async function agentsOnDisk(paths: StatePaths): Promise<string[]> {
  return Object.keys((await fleetOnDisk(paths)).agents);
}

/** Of the gateway that runs now, which the files do not name while the disk is full. */
async function runningGateway(paths: StatePaths): Promise<number> {
  const { holder } = await gatewayProcesses(paths);
  return Number(execFileSync('ps', ['-o', 'pid=', '--ppid', String(holder)], { encoding: 'utf8' }).trim());
}

/**
 * A disk of its own, which can be full and read-only. Where nothing may be mounted, this process may not write files, or
 * those that are named.
 */
function smallDisk(
  directory: string,
  { size = '128k' } = {},
): {
  readonly directory: string;
  fill(...pids: readonly number[]): void;
  makeRoom(...pids: readonly number[]): void;
  forbid(): void;
  permit(): void;
  dispose(): void;
} {
  mkdirSync(directory, { recursive: true });
  const mount = (...words: string[]): void => {
    execFileSync('mount', [...words, directory], { stdio: 'ignore' });
  };
  try {
    mount('-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'bowline-test');
  } catch {
    const limit =
      (soft: string) =>
      (...pids: readonly number[]): void => {
        for (const pid of pids.length === 0 ? [process.pid] : pids) limitFileSize(pid, soft);
      };
    const [stop, go] = [limit('0'), limit('unlimited')];
    return { directory, fill: stop, makeRoom: go, forbid: stop, permit: go, dispose: go };
  }
  let mounts = 1;
  const unmount = (): void => {
    execFileSync('umount', ['-l', directory]);
    mounts -= 1;
  };
  const filler = join(directory, 'filler');
  return {
    directory,
    fill: () => {
      assert.throws(() => {
        writeFileSync(filler, Buffer.alloc(100_000_000));
      }, /ENOSPC/);
    },
    makeRoom: () => {
      rmSync(filler);
    },
    // Laid over it, because what is open for writing below stays so.
    forbid: () => {
      mount('--bind', directory);
      mounts += 1;
      mount('-o', 'remount,bind,ro');
    },
    permit: unmount,
    dispose: () => {
      while (mounts > 0) unmount();
    },
  };
}

/** How large files may become that a process writes, in bytes; what is there stays. */
function limitFileSize(pid: number, soft: string): void {
  execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${soft}:unlimited`]);
}
