import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { cp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type Server, _createServerHandle, connect, createServer } from 'node:net';
import { basename, join } from 'node:path';
import { isSameProcess, processIdentity } from '../../src/node/processIdentity.ts';
import { type HolderPrograms, HolderRig, ask, bundleHolderPrograms, endOf, kill } from '../harness/holderRig.ts';
import { waitFor } from '../harness/waitFor.ts';

describe('holder', function () {
  this.timeout(60_000);
  let programs: HolderPrograms;
  let rig: HolderRig;
  const servers: Server[] = [];

  before(async () => {
    programs = await bundleHolderPrograms();
  });
  after(() => {
    programs.dispose();
  });
  beforeEach(() => {
    rig = new HolderRig(programs);
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    await rig.dispose();
  });

  /** A program that is no holder, on a port of its choice or on `port`. */
  async function stranger(port = 0): Promise<number> {
    const server = createServer((socket) => socket.end('HTTP/1.1 418 stranger\r\n\r\n'));
    servers.push(server);
    await new Promise<void>((resolve, reject) => server.on('error', reject).listen(port, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(typeof address === 'object' && address);
    return address.port;
  }

  /** The programs, with the text of the holder changed. */
  async function programsWith(name: string, change: (text: string) => string): Promise<HolderPrograms> {
    const directory = `${programs.directory}-${name}`;
    await cp(programs.directory, directory, { recursive: true });
    const text = await readFile(join(directory, 'holder.js'), 'utf8');
    await writeFile(join(directory, 'holder.js'), change(text));
    return {
      directory,
      dispose: () => {
        rmSync(directory, { recursive: true });
      },
    };
  }

  async function argumentsOf(pid: number): Promise<string[]> {
    const [, ...words] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').filter(Boolean);
    return words.map((word) => basename(word));
  }

  it('is built on a handle of Node that binds, tells its port and descriptor, and does not listen by itself', async () => {
    const free = await stranger();
    servers.pop()?.close();
    const handle = _createServerHandle('127.0.0.1', free, 4);
    assert.ok(typeof handle === 'object');
    const address: { port?: number } = {};
    const named = handle.getsockname(address);
    const refused = await new Promise((resolve) => {
      connect(free, '127.0.0.1')
        .once('connect', () => {
          resolve(false);
        })
        .once('error', () => {
          resolve(true);
        });
    });
    const descriptor = handle.fd;
    handle.close();
    assert.deepStrictEqual(
      { named, port: address.port, refused, descriptor: descriptor > 2 },
      { named: 0, port: free, refused: true, descriptor: true },
    );
  });

  it('publishes itself: private files, an identity that is its own, a port below the ephemeral range', async () => {
    const child = rig.startHolder();
    const { holder, answer } = await rig.up();
    const modes = await Promise.all(
      [rig.paths.holder, rig.paths.port, rig.paths.gatewayOutput].map(async (path) => (await stat(path)).mode & 0o777),
    );
    assert.deepStrictEqual(
      {
        modes,
        identity: { pid: holder.pid, startTime: holder.startTime },
        gateway: holder.child,
        port: await readFile(rig.paths.port, 'utf8'),
        inRange: holder.port >= 20000 && holder.port < 32768,
        firstStart: [answer.lastExit, answer.portTaken],
      },
      {
        modes: [0o600, 0o600, 0o600],
        identity: await processIdentity(child.pid ?? 0),
        gateway: await processIdentity(answer.pid),
        port: `${holder.port}\n`,
        inRange: true,
        firstStart: [undefined, undefined],
      },
    );
  });

  it('has the port before its first gateway listens: a connection waits, and nobody else gets the port', async () => {
    await rig.instruct('slow');
    rig.startHolder();
    const holder = await waitFor('the file of the holder', () => rig.record(), { timeoutMs: 30_000 });
    const [answer] = await Promise.all([
      ask(holder.port),
      assert.rejects(stranger(holder.port), { code: 'EADDRINUSE' }),
    ]);
    assert.equal(answer.holder, holder.instance);
  });

  it('keeps the port when the gateway is killed: 100 connections made meanwhile wait, none is refused', async () => {
    rig.startHolder();
    const { holder, answer } = await rig.up();
    await rig.instruct('slow');
    kill(answer.pid, 'SIGKILL');
    await waitFor('the death of the gateway', async () => !(await processIdentity(answer.pid)));
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(holder.port)));
    const pids = new Set(answers.map(({ pid }) => pid));
    assert.deepStrictEqual(
      {
        lastExits: [...new Set(answers.map(({ lastExit }) => lastExit))],
        gateways: pids.size,
        old: pids.has(answer.pid),
      },
      { lastExits: ['SIGKILL'], gateways: 1, old: false },
    );
    assert.equal((await rig.record())?.instance, holder.instance);
  });

  it('starts the gateway with options that spare memory, and without them on a Node that refuses them', async () => {
    rig.startHolder();
    const { answer } = await rig.up();
    const changed = await programsWith('refused', (text) => {
      assert.equal(text.split('--single-threaded-gc').length, 2);
      return text.replace('--single-threaded-gc', '--no-such-option');
    });
    const other = new HolderRig(changed);
    try {
      other.startHolder();
      const refused = await other.up();
      assert.deepStrictEqual(
        [
          await argumentsOf(answer.pid),
          answer.lastExit,
          await argumentsOf(refused.answer.pid),
          refused.answer.lastExit,
        ],
        [['--max-semi-space-size=2', '--single-threaded-gc', 'gateway.js'], undefined, ['gateway.js'], '9'],
      );
    } finally {
      await other.dispose();
      changed.dispose();
    }
  });

  it('restarts a crashing gateway at once and then ever more slowly, and serves when it is mended', async () => {
    rig.startHolder();
    const { holder, answer } = await rig.up();
    await rig.instruct('crash');
    kill(answer.pid, 'SIGKILL');
    const waiting = ask(holder.port);
    await waitFor('four failed starts', async () => (await rig.starts()).length >= 5, { timeoutMs: 30_000 });
    const began = performance.now();
    await waitFor('one more', async () => (await rig.starts()).length >= 6);
    const pause = performance.now() - began;
    await rig.instruct('');
    const { pid, lastExit } = await waiting;
    assert.deepStrictEqual(
      { slower: pause > 300, lastExit, isOld: pid === answer.pid },
      { slower: true, lastExit: '7', isOld: false },
    );
  });

  it('ends a gateway that hangs, and only then', async () => {
    rig.startHolder(3000);
    const { holder, answer } = await rig.up();
    kill(answer.pid, 'SIGSTOP');
    const next = await ask(holder.port);
    assert.deepStrictEqual([next.pid === answer.pid, next.lastExit], [false, 'SIGKILL']);
    assert.equal(await isSameProcess(holder.child ?? holder), 'gone');
  });

  it('does not blame the gateway for its own sleep', async () => {
    const child = rig.startHolder(1000);
    const { holder, answer } = await rig.up();
    kill(child.pid ?? 0, 'SIGSTOP');
    kill(answer.pid, 'SIGSTOP');
    const stopped = performance.now();
    await waitFor('longer than every limit', () => performance.now() - stopped > 3600);
    kill(child.pid ?? 0, 'SIGCONT');
    kill(answer.pid, 'SIGCONT');
    const resumed = performance.now();
    await waitFor('another heartbeat limit', () => performance.now() - resumed > 1300);
    assert.deepStrictEqual([(await ask(holder.port)).pid, await rig.starts()], [answer.pid, [answer.pid]]);
  });

  it('comes back on the same port when it is killed', async () => {
    await rig.startLauncher();
    const before = await rig.up();
    kill(before.holder.pid, 'SIGKILL');
    const after = await rig.up({ not: before.holder });
    assert.deepStrictEqual(
      {
        port: after.holder.port,
        taken: after.answer.portTaken,
        oldGateway: await isSameProcess(before.holder.child ?? before.holder),
      },
      { port: before.holder.port, taken: undefined, oldGateway: 'gone' },
    );
  });

  it('ends a hung gateway that outlived its killed holder, and has its port', async () => {
    await rig.startLauncher();
    const before = await rig.up();
    kill(before.answer.pid, 'SIGSTOP');
    kill(before.holder.pid, 'SIGKILL');
    const after = await rig.up({ not: before.holder });
    assert.deepStrictEqual(
      { port: after.holder.port, oldGateway: await isSameProcess(before.holder.child ?? before.holder) },
      { port: before.holder.port, oldGateway: 'gone' },
    );
  });

  it('takes another port and says so when a stranger has the one of earlier runs', async () => {
    const taken = await stranger();
    await writeFile(rig.paths.port, `${taken}\n`);
    rig.startHolder();
    const { holder, answer } = await rig.up();
    kill(answer.pid, 'SIGKILL');
    const second = await ask(holder.port);
    assert.deepStrictEqual(
      {
        moved: holder.port !== taken,
        kept: await readFile(rig.paths.port, 'utf8'),
        said: [answer.portTaken, second.portTaken],
      },
      { moved: true, kept: `${holder.port}\n`, said: [String(taken), undefined] },
    );
  });

  it('has the same first port for a directory again, and the next one when a stranger is there', async () => {
    const first = rig.startHolder();
    const { holder } = await rig.up();
    first.kill();
    await endOf(first);
    await rm(rig.paths.port);
    await stranger(holder.port);
    rig.startHolder();
    const next = await rig.up({ not: holder });
    assert.deepStrictEqual([next.holder.port === holder.port, next.answer.portTaken], [false, undefined]);
  });

  for (const round of [1, 2, 3, 4, 5]) {
    it(`is exactly one of five started at once, round ${round}`, async () => {
      // Also with the traces of a killed one.
      if (round > 3) {
        const killed = rig.startHolder();
        await rig.up();
        killed.kill('SIGKILL');
        await endOf(killed);
      }
      const earlier = await rig.record();
      const children = Array.from({ length: 5 }, () => rig.startHolder());
      const { holder } = await rig.up(earlier ? { not: earlier } : {});
      const losers = children.filter(({ pid }) => pid !== holder.pid);
      const ends = await Promise.all(losers.map(endOf));
      const winner = children.find(({ pid }) => pid === holder.pid);
      assert.deepStrictEqual(
        { ends, winner: winner?.exitCode, gateways: (await rig.starts()).length },
        { ends: [0, 0, 0, 0], winner: null, gateways: earlier ? 2 : 1 },
      );
    });
  }

  it('is exactly one of two that begin in the same millisecond', async () => {
    // Each waits for the other, and then begins at the same time by its clock.
    const together = await programsWith('together', (text) => {
      const meet = `
        const { appendFileSync, readFileSync } = require('node:fs');
        const file = process.env.BOWLINE_HOME + '/here';
        appendFileSync(file, '.');
        while (readFileSync(file, 'utf8').length < 2);
        const begun = performance.now();
        Date.now = () => ${Date.now()} + Math.floor(performance.now() - begun);`;
      return `{${meet}\n}\n${text}`;
    });
    const found: unknown[] = [];
    try {
      for (let round = 0; round < 3; round += 1) {
        const here = new HolderRig(together);
        try {
          const children = [here.startHolder(), here.startHolder()];
          const { holder } = await here.up();
          const losers = children.filter(({ pid }) => pid !== holder.pid);
          found.push([
            await Promise.all(losers.map(endOf)),
            (await here.starts()).length,
            (await here.record())?.pid === holder.pid,
          ]);
        } finally {
          await here.dispose();
        }
      }
    } finally {
      together.dispose();
    }
    assert.deepStrictEqual(found, Array(3).fill([[0], 1, true]));
  });

  it('ends, and its launcher too, when the gateway ends on purpose', async () => {
    const launcher = await rig.startLauncher();
    const { holder } = await rig.up();
    await assert.rejects(ask(holder.port, '/exit?code=0'));
    assert.deepStrictEqual([await endOf(launcher), rig.processes(), await rig.record()], [0, [], undefined]);
  });

  it('ends with its gateway on SIGTERM, at once or with force', async () => {
    const polite = rig.startHolder();
    const first = await rig.up();
    polite.kill('SIGTERM');
    const politeEnd = await endOf(polite);
    await rig.instruct('deaf');
    const deaf = rig.startHolder();
    await rig.up({ not: first.holder });
    deaf.kill('SIGTERM');
    assert.deepStrictEqual([politeEnd, await endOf(deaf), rig.processes()], [0, 0, []]);
  });

  it('leaves when its state directory is removed', async () => {
    const launcher = await rig.startLauncher();
    await rig.up();
    const aside = `${rig.paths.directory}-aside`;
    renameSync(rig.paths.directory, aside);
    rmSync(aside, { recursive: true });
    const end = await endOf(launcher);
    const left = rig.processes();
    mkdirSync(rig.paths.directory);
    assert.deepStrictEqual([end, left], [0, []]);
  });

  it('writes its file again when that is lost or damaged, so that no second one starts', async () => {
    rig.startHolder();
    const { holder } = await rig.up();
    await writeFile(rig.paths.holder, '{"pid":');
    const second = rig.startHolder();
    const end = await endOf(second);
    assert.deepStrictEqual([end, await rig.record(), (await rig.starts()).length], [0, holder, 1]);
  });

  it('hands the socket to the gateway alone, not to what the gateway starts', async () => {
    const child = rig.startHolder();
    const { holder } = await rig.up();
    const { started } = await ask(holder.port, '/spawn');
    child.kill('SIGTERM');
    await endOf(child);
    const outlived = started !== undefined && (await processIdentity(started)) !== undefined;
    await assert.rejects(ask(holder.port), { code: 'ECONNREFUSED' });
    assert.ok(outlived);
  });

  it('asks for new programs when its own were removed', async () => {
    const directory = await rig.install();
    const launcher = await rig.startLauncher();
    const before = await rig.up();
    // An update: other content, another directory, the old one gone.
    await writeFile(`${programs.directory}/hook.js`, 'console.log("newer")');
    const newer = await rig.install();
    await rm(directory, { recursive: true });
    kill(before.answer.pid, 'SIGKILL');
    const after = await rig.up({ not: before.holder });
    const command = await readFile(`/proc/${after.holder.pid}/cmdline`, 'utf8');
    assert.deepStrictEqual(
      { port: after.holder.port, from: command.includes(newer), launcher: launcher.exitCode },
      { port: before.holder.port, from: true, launcher: null },
    );
  });
});
