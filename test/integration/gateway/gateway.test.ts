import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delay } from '../../../src/base/async.ts';
import { BowlineError } from '../../../src/base/errors.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { FleetState } from '../../../src/core/fleet/state.ts';
import { readFormerRun } from '../../../src/gateway/epoch.ts';
import { readEndpointFile } from '../../../src/node/endpointFile.ts';
import { ensureHolder } from '../../../src/node/gatewayLauncher.ts';
import { spoolReport } from '../../../src/node/hookSpool.ts';
import { isSameProcess } from '../../../src/node/processIdentity.ts';
import { listJournals } from '../../../src/node/stateFiles.ts';
import { bundleGatewayPrograms, call, type GatewayPrograms, GatewayRig } from '../../harness/gatewayRig.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { endOf, kill } from '../../harness/holderRig.ts';
import { fleetOnDisk } from '../../harness/journaledFleet.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('gateway process', function () {
  this.timeout(120_000);
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

  const stateOnDisk = (): Promise<FleetState> => fleetOnDisk(rig.paths);
  const lifeOnDisk = async (name: string): Promise<string | undefined> => (await stateOnDisk()).agents[name]?.life.kind;

  it('goes on after kill -9 where it was: agents, keys, port and token; the epoch is new, the port stayed open', async () => {
    const first = await rig.start();
    const window = await WindowStandIn.join(first, 'one');
    await window.ask({ kind: 'create', name: 'ada', directory: rig.directory() });
    await window.launch('ada');
    const key = readFileSync(rig.paths.agent('ada').key, 'utf8');
    await waitFor('the launch on disk', async () => (await lifeOnDisk('ada')) === 'running');
    const second = await rig.restartGateway(first);
    const closed = await waitFor('the end of the stream', () => window.closed);
    const again = await WindowStandIn.join(second, 'one');
    const { state } = again;
    again.close();
    assert.deepStrictEqual(
      {
        endpoint: [second.port, second.token, second.holder.instance],
        key: readFileSync(rig.paths.agent('ada').key, 'utf8'),
        life: state.agents['ada']?.life.kind,
        port: state.epoch?.port,
        newEpoch: state.epoch?.id !== first.gateway.instance && state.epoch?.id === second.gateway.instance,
        seen: (state.epoch?.previousSeenAt ?? 0) >= first.startedAt,
        closed: closed.code,
        modes: [rig.paths.endpoint, rig.paths.state].map((path) => statSync(path).mode & 0o777),
      },
      {
        endpoint: [first.port, first.token, first.holder.instance],
        key,
        life: 'running',
        port: 'kept open',
        newEpoch: true,
        seen: true,
        closed: 1006,
        modes: [0o600, 0o600],
      },
    );
  });

  it('loses no request that comes while it is dead: it waits and is answered', async () => {
    const first = await rig.start();
    kill(first.gateway.pid, 'SIGKILL');
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => call(first, 'GET', '/agents')));
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
  });

  it('knows that the port was closed when the holder died, too, and since when', async () => {
    const first = await rig.start();
    const window = await WindowStandIn.join(first, 'one');
    for (const pid of rig.processes()) kill(pid, 'SIGKILL');
    await waitFor('the end of all', () => rig.processes().length === 0);
    await waitFor('the end of the stream', () => window.closed);
    const { seenAt } = await readFormerRun(rig.paths);
    rig.startHolder();
    const second = await rig.up({ not: first });
    const again = await WindowStandIn.join(second, 'one');
    const { epoch } = again.state;
    again.close();
    assert.deepStrictEqual(
      { port: epoch?.port, seen: epoch?.previousSeenAt, token: second.token },
      { port: 'was closed', seen: Math.round(seenAt ?? 0), token: first.token },
    );
  });

  it('leaves at once when its holder dies, with everything on disk', async () => {
    const first = await rig.start();
    const window = await WindowStandIn.join(first, 'one');
    await window.ask({ kind: 'create', name: 'ada', directory: rig.directory() });
    await window.launch('ada');
    const holder = rig.processes().find((pid) => pid !== first.gateway.pid);
    assert.ok(holder !== undefined);
    kill(holder, 'SIGKILL');
    await waitFor('the end of the gateway', () => rig.processes().length === 0);
    assert.equal(await lifeOnDisk('ada'), 'running');
    assert.ok(rig.logLines().some((line) => line.includes('the holder is gone')));
  });

  it('ends in peace when the holder is asked to end: windows are told, the last fact is on disk', async () => {
    await rig.install();
    const holder = rig.startHolder();
    const first = await rig.up();
    const window = await WindowStandIn.join(first, 'one');
    await window.ask({ kind: 'create', name: 'ada', directory: rig.directory() });
    await window.launch('ada');
    holder.kill('SIGTERM');
    const closed = await waitFor('the end of the stream', () => window.closed);
    assert.deepStrictEqual([await endOf(holder), closed.code, await lifeOnDisk('ada')], [0, 1001, 'running']);
  });

  it('puts a damaged state aside, uses the one before it, and says so to every window', async () => {
    const first = await rig.start();
    for (const name of ['ada', 'bo']) await call(first, 'POST', '/agents', { name, directory: rig.directory() });
    kill(first.gateway.pid, 'SIGSTOP'); // else it writes again
    writeFileSync(rig.paths.state, '{"format":2,"sequence":');
    const second = await rig.restartGateway(first);
    const window = await WindowStandIn.join(second, 'one');
    const { agents, notices } = window.state;
    window.close();
    assert.deepStrictEqual(
      {
        agents: Object.keys(agents),
        notice: notices.map(({ code, severity }) => [code, severity]),
        kept: readdirSync(rig.paths.directory).filter((name) => name.startsWith('state.json.damaged-')).length,
      },
      { agents: ['ada', 'bo'], notice: [['state-damaged', 'error']], kept: 1 },
    );
  });

  it('keeps every change that it has answered for, at whatever moment of a write it is killed', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    await rig.install();
    let holder = rig.startHolder();
    let endpoint = await rig.up();
    const directory = rig.directory();
    const answered: string[] = [];
    const random = randomFrom(seed);
    for (let round = 0; round < 8; round += 1) {
      const asked = [1, 2, 3, 4, 5, 6].map(async (number) => {
        const name = `a${round}-${number}`;
        await delay(random() * 60);
        const { status } = await call(endpoint, 'POST', '/agents', { name, directory });
        if (status < 300) answered.push(name);
      });
      const killed = delay(random() * 120).then(() => {
        kill(endpoint.gateway.pid, 'SIGKILL');
      });
      await Promise.all([killed, ...asked.map((one) => one.catch(() => undefined))]);
      if (round % 3 === 2) {
        // A holder waits longer after each death in a row; another one begins anew.
        holder.kill('SIGKILL');
        holder = rig.startHolder();
      }
      endpoint = await rig.up({ not: endpoint });
      const known = Object.keys((await stateOnDisk()).agents);
      assert.deepStrictEqual(
        answered.filter((name) => !known.includes(name)),
        [],
        `seed ${seed}, round ${round}`,
      );
    }
    const found = readdirSync(rig.paths.directory).filter((name) => /damaged/.test(name));
    const { notices } = await stateOnDisk();
    assert.deepStrictEqual(
      { found, some: answered.length > 8, notices: notices.filter(({ code }) => code !== 'journal-torn') },
      {
        found: [],
        some: true,
        notices: [],
      },
      `seed ${seed}`,
    );
  });

  it('says so when the state is lost though agents were there, instead of beginning anew in silence', async () => {
    const first = await rig.start();
    await call(first, 'POST', '/agents', { name: 'ada', directory: rig.directory() });
    await waitFor('the key', () => existsSync(rig.paths.agent('ada').directory));
    kill(first.gateway.pid, 'SIGSTOP'); // else it writes again
    const journals = (await listJournals(rig.paths)).map(({ path }) => path);
    for (const path of [rig.paths.state, rig.paths.previousState, ...journals]) rmSync(path, { force: true });
    await rig.restartGateway(first);
    const notices = await waitFor('the notice', async () => {
      const { notices: all } = await stateOnDisk();
      return all.length > 0 && all.map(({ code, sentence }) => `${code}: ${sentence.slice(0, 64)}`);
    });
    assert.deepStrictEqual(notices, [
      'state-missing: The state file and the one before it are gone, so Bowline has no',
    ]);
  });

  it('refuses a state of a newer Bowline with one sentence, and leaves it as it is', async () => {
    await rig.install();
    const text = '{"format":99,"agents":{"ada":{}}}';
    writeFileSync(rig.paths.state, text);
    rig.startHolder();
    const said = await waitFor('the sentence', () => {
      const output = readFileSync(rig.paths.gatewayOutput, 'utf8');
      return output.includes('newer Bowline') && output.split('\n')[0];
    });
    assert.match(said, /^Bowline gateway: .*state\.json was written by a newer Bowline \(format 99.*Update Bowline/);
    assert.equal(readFileSync(rig.paths.state, 'utf8'), text);
  });

  it('says what to run when it is started by hand', async () => {
    const { BOWLINE_HOLDER: _holder, ...env } = process.env;
    const child = spawn(process.execPath, [`${programs.directory}/gateway.js`], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...env, BOWLINE_HOME: rig.paths.directory },
    });
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => (words += part));
    assert.equal(await endOf(child), 1);
    await waitFor('the sentence', () => words.includes('launcher holder'));
  });

  it('takes a report out of the spool as soon as it is there', async () => {
    const first = await rig.start();
    const window = await WindowStandIn.join(first, 'one');
    await window.ask({ kind: 'create', name: 'ada', directory: rig.directory() });
    const launchId = await window.launch('ada');
    const hook = { event: 'SessionStart', sessionId: 'spooled', transcriptExists: false } as const;
    spoolReport(rig.paths, 'ada', { at: Date.now(), launchId, hook });
    // Without the watch it would take up to 10 s.
    const id = await waitFor('the id', () => window.state.agents['ada']?.session?.id, { timeoutMs: 5_000 });
    await waitFor('an empty spool', () => readdirSync(rig.paths.spool).length === 0);
    window.close();
    assert.equal(id, 'spooled');
  });

  it('mends a damaged endpoint file while it runs, so that windows find it', async () => {
    const first = await rig.start();
    for (const damage of ['{"po', '']) {
      writeFileSync(rig.paths.endpoint, damage);
      await waitFor('the endpoint file', async () => (await readEndpointFile(rig.paths)).kind === 'ok');
    }
    assert.deepStrictEqual(await readEndpointFile(rig.paths), { kind: 'ok', endpoint: first });
  });

  it('says why it does not come back, also to windows that knew it: a state of a newer Bowline', async () => {
    const first = await rig.start();
    kill(first.gateway.pid, 'SIGKILL');
    writeFileSync(rig.paths.state, '{"format":99}');
    const install = (): Promise<unknown> => Promise.reject(new Error('the holder runs'));
    await waitFor('the end of the gateway', async () => (await isSameProcess(first.gateway)) === 'gone');
    await assert.rejects(ensureHolder({ paths: rig.paths, install, log: silentLog, timeoutMs: 6_000 }), (error) => {
      return error instanceof BowlineError && /written by a newer Bowline \(format 99/.test(error.message);
    });
    assert.equal(readFileSync(rig.paths.state, 'utf8'), '{"format":99}');
  });

  it('removes an agent with its key, its files and its saved context', async () => {
    const first = await rig.start();
    const window = await WindowStandIn.join(first, 'one');
    await window.ask({ kind: 'create', name: 'ada', directory: rig.directory() });
    const launchId = await window.launch('ada');
    writeFileSync(rig.paths.context('ada'), '{}');
    await window.ask({ kind: 'remove', name: 'ada' });
    await waitFor('the end task', () => window.tasks.some(({ kind }) => kind === 'end'));
    window.report({
      at: Date.now(),
      kind: 'process ended',
      name: 'ada',
      launchId,
      exit: { how: 'gone', reading: 'other', detail: 'ended' },
    });
    await waitFor('no agent', () => window.state.agents['ada'] === undefined);
    await waitFor('no files', () => !existsSync(rig.paths.agent('ada').directory));
    await waitFor('no context', () => !existsSync(rig.paths.context('ada')));
    window.close();
  });
});

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
