import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { BowlineError } from '../../../src/base/errors.ts';
import type { PaneInfo } from '../../../src/core/tmux/formats.ts';
import { exists } from '../../../src/node/files.ts';
import { loadPty, type PtyModule } from '../../../src/node/pty.ts';
import { processIdentity } from '../../../src/node/processIdentity.ts';
import { newSession } from '../../../src/node/tmux/paneOperations.ts';
import type { TmuxClient, TmuxClientOptions } from '../../../src/node/tmux/tmuxClient.ts';
import { scopeMark, scopeStandIn } from '../../harness/scopeStandIn.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { FleetHome, realPty } from './fleetHome.ts';

const run = promisify(execFile);

/** The code that `promise` rejects with. */
async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'no error';
  } catch (error) {
    return error instanceof BowlineError ? error.code : String(error);
  }
}

for (const transport of ['pty', 'pipes'] as const) {
  describe(`tmux client through ${transport}`, function () {
    this.timeout(30_000);
    let home: FleetHome;
    const client = (options: Partial<TmuxClientOptions> = {}): TmuxClient =>
      home.client({ ...(transport === 'pty' && { loadPty: realPty }), ...options });
    const start = (tmux: TmuxClient, name: string): Promise<PaneInfo> =>
      newSession(tmux, { name, directory: home.root, argv: ['sleep', '1000'], environment: {}, launchId: `l-${name}` });
    const serverPid = async (tmux: TmuxClient): Promise<number> =>
      Number((await tmux.command(['display-message', '-p', '#{pid}']))[0]);
    const stateOf = ({ state }: TmuxClient): string => (state.kind === 'away' ? state.reason : state.kind);

    beforeEach(async () => {
      home = await FleetHome.create();
    });
    afterEach(() => home.dispose());

    it('gives each of many commands its own reply, and drops what follows a failed one', async () => {
      const tmux = client();
      await tmux.connect();
      const numbers = Array.from({ length: 50 }, (_, index) => String(index));
      const answers = await Promise.all(
        numbers.map((n) => tmux.command(['display-message', '-p', `${n}\n%%end 1 2 1`])),
      );
      assert.deepStrictEqual(
        answers,
        numbers.map((n) => [n, '%end 1 2 1']),
      );
      const say = (text: string): string[] => ['display-message', '-p', text];
      assert.deepStrictEqual(await tmux.commands([say('a'), ['start-server'], say('b')]), [['a'], [], ['b']]);
      const failing = tmux.commands([say('a'), ['kill-session', '-t', '=absent'], ['set-option', '-s', '@after', 'x']]);
      assert.deepStrictEqual(
        await Promise.all([codeOf(failing), codeOf(tmux.command(['no-such-command'])), tmux.command(say('#{@after}'))]),
        ['tmux-failed', 'tmux-failed', ['']],
      );
    });

    it('pushes a new session and a death within about a second', async () => {
      const tmux = client({ timings: { safetyNetMs: 600_000 } });
      await tmux.connect();
      const snapshots: (readonly PaneInfo[])[] = [];
      tmux.onPanesChanged((panes) => snapshots.push(panes));
      await home.tmux('new-session', '-d', '-s', 'foreign', 'sleep', '1000');
      const born = await waitFor('the new session', () => snapshots.at(-1)?.[0], { timeoutMs: 3000 });
      process.kill(born.pid, 'SIGKILL');
      const isKilled = ({ deadSignal }: PaneInfo): boolean => deadSignal !== undefined;
      const dead = await waitFor('its death', () => snapshots.at(-1)?.find(isKilled), { timeoutMs: 3000 });
      assert.deepStrictEqual(dead, { ...born, dead: true, deadSignal: '9' });
      assert.deepStrictEqual(tmux.panes, [dead]);
    });

    it('pushes how a process ended that closed its terminal long before', async () => {
      const tmux = client({ timings: { safetyNetMs: 600_000 } });
      await tmux.connect();
      const end = join(home.root, 'end');
      const script = 'trap "" HUP; exec <&- >&- 2>&-; until [ -e "$1" ]; do sleep 0.1; done; exit 3';
      await home.tmux('new-session', '-d', '-s', 'foreign', 'sh', '-c', script, 'sh', end);
      const closed = await waitFor('the closed terminal', () => tmux.panes?.find((pane) => pane.dead));
      assert.equal(closed.deadStatus, undefined);
      await writeFile(end, '');
      await waitFor('its status', () => tmux.panes?.[0]?.deadStatus === 3, { timeoutMs: 3000 });
    });

    it('says that there is no server only when it is proven, and starts none by itself', async () => {
      const tmux = client();
      await tmux.connect();
      await start(tmux, 'ada');
      await waitFor('the snapshot', () => tmux.panes?.length === 1);
      const states: string[] = [];
      tmux.onState(() => states.push(stateOf(tmux)));
      const pid = await serverPid(tmux);
      process.kill(pid, 'SIGKILL');
      await waitFor('the proof', () => stateOf(tmux) === 'no server');
      assert.deepStrictEqual(await codeOf(tmux.listPanes()), 'tmux-failed');
      assert.deepStrictEqual(await tmux.server.presence(), { kind: 'none' });
      await tmux.connect();
      await waitFor('an empty snapshot', () => tmux.panes?.length === 0);
      assert.deepStrictEqual(
        states.filter((state) => state !== 'unknown'),
        ['connecting', 'no server', 'connected'],
      );
      assert.notEqual(await serverPid(tmux), pid);
    });

    it('finds a server that another window started', async () => {
      const [first, second] = [client(), client()];
      await first.connect();
      process.kill(await serverPid(first), 'SIGKILL');
      await waitFor('the proof', () => stateOf(first) === 'no server');
      await second.connect();
      await start(second, 'ada');
      await waitFor('the first client', () => stateOf(first) === 'connected' && first.panes?.length === 1);
    });

    it('attaches again when only the control client died', async () => {
      const tmux = client();
      await tmux.connect();
      const ada = await start(tmux, 'ada');
      const states: string[] = [];
      tmux.onState(() => states.push(stateOf(tmux)));
      const [control] = await tmux.command(['list-clients', '-F', '#{client_pid}']);
      process.kill(Number(control), 'SIGKILL');
      await waitFor('the new control client', () => states.at(-1) === 'connected');
      assert.deepStrictEqual([states, await tmux.listPanes()], [['connecting', 'connected'], [ada]]);
    });

    it('calls a server that hangs unknown, and takes it back when it answers', async () => {
      const tmux = client({ timings: { commandMs: 1000, safetyNetMs: 100 } });
      await tmux.connect();
      const ada = await start(tmux, 'ada');
      const pid = await serverPid(tmux);
      const states: string[] = [];
      tmux.onState(() => states.push(stateOf(tmux)));
      process.kill(pid, 'SIGSTOP');
      assert.deepStrictEqual(await codeOf(tmux.command(['list-sessions'])), 'tmux-no-answer');
      assert.deepStrictEqual(await codeOf(client({ timings: { commandMs: 1000 } }).connect()), 'tmux-no-answer');
      assert.deepStrictEqual(states, ['unknown']);
      process.kill(pid, 'SIGCONT');
      await waitFor('the late answer', () => stateOf(tmux) === 'connected');
      assert.deepStrictEqual([states, await tmux.listPanes()], [['unknown', 'connected'], [ada]]);
    });

    it('gives a connection up that hangs for long, and never takes the server for dead', async () => {
      const tmux = client({ timings: { commandMs: 1000, safetyNetMs: 100, stalledMs: 200, longestBackoffMs: 100 } });
      await tmux.connect();
      const ada = await start(tmux, 'ada');
      const pid = await serverPid(tmux);
      const states: string[] = [];
      tmux.onState(() => states.push(stateOf(tmux)));
      process.kill(pid, 'SIGSTOP');
      await waitFor('a new attempt', () => states.includes('connecting') && states.at(-1) === 'unknown');
      process.kill(pid, 'SIGCONT');
      await waitFor('the new connection', () => stateOf(tmux) === 'connected');
      assert.deepStrictEqual([await tmux.listPanes(), states.includes('no server')], [[ada], false]);
    });

    it('has a deleted socket made again, by a running client and by a new one', async () => {
      const tmux = client({ timings: { safetyNetMs: 100 } });
      await tmux.connect();
      const ada = await start(tmux, 'ada');
      await rm(tmux.server.socketPath);
      await waitFor('the socket', () => exists(tmux.server.socketPath));
      assert.deepStrictEqual(stateOf(tmux), 'connected');
      tmux.dispose();
      await rm(tmux.server.socketPath);
      const late = client();
      await late.connect();
      assert.deepStrictEqual(await late.listPanes(), [ada]);
    });

    it('cleans the environment of a server that a Claude Code shell started', async () => {
      const tmux = client();
      const { socketPath } = tmux.server;
      const foreign = {
        CLAUDECODE: '1',
        CLAUDE_CODE_CHILD_SESSION: '1',
        NODE_OPTIONS: '',
        VSCODE_PID: '1',
        TWO: 'a\nb=c',
      };
      await run('tmux', ['-S', socketPath, 'new-session', '-d', '-s', 'x', 'sleep', '1000'], {
        env: { ...tmux.server.environment, ...foreign },
      });
      await tmux.connect();
      await newSession(tmux, {
        name: 'ada',
        directory: home.root,
        argv: home.probe('report'),
        environment: { CLAUDE_CODE_DISABLE_TERMINAL_TITLE: '1' },
        launchId: 'l',
      });
      const { environment } = await home.report('report');
      const suspicious = Object.keys(environment).filter((name) => /^(CLAUDE|NODE_OPT|VSCODE|TWO)/.test(name));
      assert.deepStrictEqual(suspicious, ['CLAUDE_CODE_DISABLE_TERMINAL_TITLE']);
      assert.deepStrictEqual(environment['COLORTERM'], 'truecolor');
    });

    it('starts one server when several windows come at once', async () => {
      const clients = [client(), client(), client()];
      await Promise.all(clients.map((tmux) => tmux.connect()));
      const pids = await Promise.all(clients.map(serverPid));
      assert.deepStrictEqual(new Set(pids).size, 1);
      clients[0]?.dispose();
      const ada = await start(clients[1] ?? client(), 'ada');
      await waitFor('the push to the third', () => clients[2]?.panes?.[0]?.paneId === ada.paneId);
    });

    it('takes a long state directory', async () => {
      const stateDirectory = join(home.root, 'x'.repeat(100));
      await mkdir(stateDirectory, { mode: 0o700 });
      const tmux = client({ stateDirectory });
      try {
        await tmux.connect();
        assert.ok(tmux.server.socketPath.length <= 100);
        await tmux.command(['kill-server']).catch(() => undefined);
      } finally {
        tmux.dispose();
        await rm(join(tmux.server.socketPath, '..'), { recursive: true, force: true });
      }
    });
  });
}

describe('tmux client without what it wants', () => {
  let home: FleetHome;
  beforeEach(async () => {
    home = await FleetHome.create();
  });
  afterEach(() => home.dispose());

  it('falls back to pipes and says why', async () => {
    const real = realPty();
    assert.ok('spawn' in real);
    const throwing: PtyModule = {
      spawn: () => {
        throw new Error('posix_spawnp failed.');
      },
    };
    const helperWithoutRunBit: PtyModule = { spawn: (_file, _args, options) => real.spawn('/bin/false', [], options) };
    const states = [];
    for (const pty of [{ unavailable: 'node-pty does not load: x' }, throwing, helperWithoutRunBit]) {
      const tmux = home.client({ loadPty: () => pty });
      await tmux.connect();
      states.push(tmux.state);
    }
    assert.deepStrictEqual(states, [
      { kind: 'connected', transport: 'pipes', fallback: 'node-pty does not load: x' },
      { kind: 'connected', transport: 'pipes', fallback: 'node-pty cannot start a process: posix_spawnp failed.' },
      {
        kind: 'connected',
        transport: 'pipes',
        fallback: 'the pseudo terminal ended at once: tmux -CC ended with status 1',
      },
    ]);
  });

  it('falls back to pipes when the native part of node-pty is that of another platform', async () => {
    const real = dirname(createRequire(__filename).resolve('node-pty/package.json'));
    const copy = join(home.root, 'node-pty');
    await cp(real, copy, {
      recursive: true,
      filter: (file) => !/third_party|deps|\/src$/.test(file.slice(real.length)),
    });
    const own = join(copy, 'prebuilds', `${process.platform}-${process.arch}`, 'pty.node');
    const foreign = process.platform === 'darwin' ? 'linux-x64' : 'darwin-arm64';
    await cp(join(copy, 'prebuilds', foreign, 'pty.node'), own);
    await rm(join(copy, 'build'), { recursive: true, force: true });
    const tmux = home.client({ loadPty: () => loadPty(() => createRequire(__filename)(copy)) });
    await tmux.connect();
    const { state } = tmux;
    assert.deepStrictEqual(state.kind === 'connected' && state.transport, 'pipes');
    assert.match(state.kind === 'connected' ? (state.fallback ?? '') : '', /^node-pty does not load: /);
  });

  it('names a tmux that is missing, too old, silent or broken', async () => {
    const fake = async (name: string, script: string): Promise<string> => {
      const file = join(home.root, name);
      await writeFile(file, `#!/bin/sh\n${script}\n`);
      await chmod(file, 0o755);
      return file;
    };
    const paths = [
      join(home.root, 'absent'),
      await fake('old', 'echo tmux 3.1c'),
      await fake('silent', 'exec sleep 1000'),
      await fake('broken', 'echo no library >&2; exit 127'),
    ];
    const timings = { commandMs: 1000 };
    const codes = await Promise.all(paths.map((tmuxPath) => codeOf(home.client({ tmuxPath, timings }).connect())));
    assert.deepStrictEqual(codes, ['tmux-missing', 'tmux-too-old', 'tmux-no-answer', 'tmux-failed']);
  });

  it('starts the server in a systemd scope (a stand-in), and without one that fails in the end', async () => {
    const inScope: Record<string, boolean> = {};
    for (const then of ['refuses', 'runs'] as const) {
      const environment = { ...process.env, ...(await scopeStandIn(join(home.root, then), then)) };
      await home.client({ environment }).server.start();
      const pid = (await home.tmux('display-message', '-p', '#{pid}')).trim();
      inScope[then] = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').includes(scopeMark);
      await home.tmux('kill-server');
      await waitFor('the end of the server', async () => (await processIdentity(Number(pid))) === undefined);
    }
    assert.deepStrictEqual(inScope, { refuses: false, runs: true });
  });

  it('finds tmux in the usual places when PATH lacks it', async () => {
    const tmux = home.client({ environment: { HOME: home.root, PATH: home.root } });
    assert.match((await tmux.server.locate()).file, /^\/.*\/tmux$/);
  });
});
