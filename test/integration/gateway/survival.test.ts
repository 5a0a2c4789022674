import { deepStrictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { statePaths } from '../../../src/node/statePaths.ts';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import { readEndpointFile } from '../../../src/node/endpointFile.ts';
import { gatewayProcesses } from '../../harness/gatewayProcesses.ts';
import { call } from '../../harness/gatewayRig.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { endProcesses } from '../../harness/processes.mjs';
import { waitFor } from '../../harness/waitFor.ts';
import { bundleWindowProgram, type WindowProcess, type WindowProgram } from '../../harness/windowProcess.ts';

const patience = { timeoutMs: 60_000 };
const repository = path.resolve(__dirname, '../../..');

/** Everything that a window starts lives on when the window's whole process group and session are ended. */
describe('the end of a window', function () {
  this.timeout(180_000);
  let root: string;
  let program: WindowProgram;
  let window: WindowProcess;
  let endpoint: Endpoint;
  let person: WindowStandIn;
  let fleetProcesses: Readonly<Record<string, number>>;

  before(async () => {
    root = await realpath(await mkdtemp(path.join(os.tmpdir(), 'bowline-')));
    await mkdir(path.join(root, 'work'));
    const standIn = path.join(root, 'stand-in');
    await writeFile(standIn, '#!/bin/sh\nexec sleep 600\n');
    await chmod(standIn, 0o755);
    program = await bundleWindowProgram();
    window = openWindow('first');
    endpoint = await waitFor('the gateway', published, patience);
    person = await WindowStandIn.join(endpoint, 'person', 'not offered');
    await waitFor('the window to have the hands', () => person.state.hands?.holder === 'first', patience);
    await person.ask({ kind: 'configure', settings: { ...person.state.settings, claudePath: standIn } });
    for (const name of ['ada', 'bo']) {
      await person.ask({ kind: 'create', name, directory: path.join(root, 'work') });
      await waitFor(`${name} to run`, () => pidOf(name) !== undefined, patience);
    }
    fleetProcesses = await processesOfFleet();
  });

  after(async () => {
    person.close();
    await endProcesses(root);
    await program.dispose();
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  });

  function openWindow(name: string): WindowProcess {
    const environment = { PATH: process.env['PATH'] ?? '', TMPDIR: root, LANG: 'C.UTF-8' };
    const logFile = path.join(root, `${name}.jsonl`);
    const stateDirectory = path.join(root, 'state');
    return program.start({ stateDirectory, repository, window: name, environment, transport: 'pipes', logFile });
  }

  async function published(): Promise<Endpoint | undefined> {
    const reading = await readEndpointFile(statePaths(path.join(root, 'state')));
    return reading.kind === 'ok' ? reading.endpoint : undefined;
  }

  function pidOf(name: string): number | undefined {
    const life = person.state.agents[name]?.life;
    return life?.kind === 'running' ? life.running.process.pid : undefined;
  }

  /** Pids by what they are: the loop around the holder, holder, gateway, tmux server, and the process of each pane. */
  async function processesOfFleet(): Promise<Readonly<Record<string, number>>> {
    const paths = statePaths(path.join(root, 'state'));
    const format = '#{pid} #{session_name} #{pane_dead} #{pane_pid}';
    const list = ['-S', paths.fleetSocket, 'list-panes', '-a', '-F', format];
    const lines = (await promisify(execFile)('tmux', list)).stdout.trim().split('\n');
    const panes = lines.map((line) => line.split(' '));
    return {
      ...(await gatewayProcesses(paths)),
      tmux: Number(panes[0]?.[0]),
      ...Object.fromEntries(panes.map(([, session, dead, pid]) => [`${session}, dead ${dead}`, Number(pid)])),
    };
  }

  it('finds nothing of the fleet among its children, in its group or in its session', async () => {
    const own = await processRow(window.pid);
    const rows = await Promise.all(Object.values(fleetProcesses).map(processRow));
    const below = await descendants(window.pid);
    deepStrictEqual(
      {
        names: Object.keys(fleetProcesses),
        leads: own.session === window.pid && own.group === window.pid,
        shared: rows.filter(({ pid, group, session }) => {
          return below.includes(pid) || group === own.group || session === own.session;
        }),
        terminals: rows.filter(({ terminal, pid }) => terminal !== 0 && !isPane(pid)),
      },
      {
        names: ['loop', 'holder', 'gateway', 'tmux', '_bowline, dead 0', 'ada, dead 0', 'bo, dead 0'],
        leads: true,
        shared: [],
        terminals: [],
      },
    );
  });

  it('leaves all of it alive: SIGHUP to group and session, then SIGKILL to what is left of them', async () => {
    const own = await members(window.pid);
    for (const pid of own) process.kill(pid, 'SIGHUP');
    // The window itself may end by it, and then its group has nobody else.
    for (const pid of await members(window.pid)) process.kill(pid, 'SIGKILL');
    await window.ended;
    await waitFor('the end of group and session', async () => (await members(window.pid)).length === 0, patience);
    await waitFor('the gateway to take the hands', () => person.state.hands?.holder !== 'first', patience);
    const health = await call(endpoint, 'GET', '/health');
    deepStrictEqual(
      { processes: await processesOfFleet(), same: await published(), health: health.status, closed: person.closed },
      { processes: fleetProcesses, same: endpoint, health: 200, closed: undefined },
    );
  });

  it('leaves all of it to the next window, which goes on with it', async () => {
    window = openWindow('second');
    await waitFor('the next window to have the hands', () => person.state.hands?.holder === 'second', patience);
    await person.ask({ kind: 'restart', name: 'bo', mode: 'resume', guard: 'bypass' });
    const before = fleetProcesses['bo, dead 0'];
    await waitFor('bo to run anew', () => ![undefined, before].includes(pidOf('bo')), patience);
    deepStrictEqual(await processesOfFleet(), { ...fleetProcesses, 'bo, dead 0': pidOf('bo') });
  });

  function isPane(pid: number): boolean {
    return Object.entries(fleetProcesses).some(([name, one]) => name.includes('dead') && one === pid);
  }
});

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Device number of the controlling terminal; 0: none. */
  readonly terminal: number;
}

/** Fields 4 to 7 of /proc/pid/stat (proc(5)). */
async function processRow(pid: number): Promise<ProcessRow> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [parent = 0, group = 0, session = 0, terminal = 0] = fields.slice(1, 5).map(Number);
  return { pid, parent, group, session, terminal: fields[0] === 'Z' ? -1 : terminal };
}

async function allRows(): Promise<readonly ProcessRow[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const rows = await Promise.all(pids.map((pid) => processRow(pid).catch(() => undefined)));
  return rows.flatMap((row) => (row === undefined || row.terminal === -1 ? [] : [row]));
}

/** Who lives in the process group or the session that `leader` leads. */
async function members(leader: number): Promise<readonly number[]> {
  const rows = await allRows();
  return rows.filter(({ group, session }) => group === leader || session === leader).map(({ pid }) => pid);
}

async function descendants(ancestor: number): Promise<readonly number[]> {
  const rows = await allRows();
  const found = new Set([ancestor]);
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const { pid, parent } of rows) if (found.has(parent)) found.add(pid);
  }
  return [...found].filter((pid) => pid !== ancestor);
}
