import assert from 'node:assert/strict';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { BowlineError } from '../../../src/base/errors.ts';
import type { TmuxClient } from '../../../src/node/tmux/tmuxClient.ts';
import {
  capturePane,
  findPane,
  isNotFound,
  killSession,
  lastClientActivity,
  newSession,
  readDeadPane,
  respawnPane,
  sendKeys,
} from '../../../src/node/tmux/paneOperations.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { FleetHome, realPty } from './fleetHome.ts';

const hostile = [
  '#(touch pwned)',
  '$(touch pwned)',
  '`touch pwned`',
  '#{pid}',
  'a#[b',
  'a##[b',
  '##h',
  '%Y-%m %%',
  '~',
  '$HOME',
  'a;',
  ';',
  '-x',
  '"q\' \\n \\',
  'a\tb\nc\rd\u0003',
  '#{?a,b,}',
  'é🎉 数据',
  ' ',
];

const withoutStyles = (line: string): string => line.replaceAll(/\u001b\[[\d;]*m/g, '');

for (const transport of ['pty', 'pipes'] as const) {
  describe(`panes through ${transport}`, function () {
    this.timeout(30_000);
    let home: FleetHome;
    let tmux: TmuxClient;

    beforeEach(async () => {
      home = await FleetHome.create();
      tmux = home.client(transport === 'pty' ? { loadPty: realPty } : {});
      await tmux.connect();
      assert.deepStrictEqual(tmux.state, { kind: 'connected', transport });
    });
    afterEach(() => home.dispose());

    it('hands directories, arguments and environment over unchanged, and no shell sees them', async () => {
      const expected = await Promise.all(
        hostile.map(async (text, index) => {
          const directory = await home.directory(text);
          const argv = [...hostile, text, '', index === 0 ? 'x'.repeat(100_000) : ''];
          await newSession(tmux, {
            name: `agent-${index}`,
            directory,
            argv: home.probe(`report-${index}`, argv),
            environment: { TEXT: text, EMPTY: '' },
            launchId: `launch-${index}`,
          });
          return { argv, directory, TEXT: text, EMPTY: '' };
        }),
      );
      const reports = await Promise.all(
        hostile.map(async (_text, index) => {
          const { argv, directory, environment } = await home.report(`report-${index}`);
          return { argv, directory, TEXT: environment['TEXT'], EMPTY: environment['EMPTY'] };
        }),
      );
      assert.deepStrictEqual(reports, expected);
      const found = await readdir(home.root, { recursive: true });
      assert.deepStrictEqual(
        found.filter((name) => name.endsWith('pwned')),
        [],
      );
    });

    it('hands any text over unchanged', async () => {
      let run = 0;
      const text = fc.string({ unit: 'binary', maxLength: 30 }).map((value) => value.replaceAll('\0', ''));
      await fc.assert(
        fc.asyncProperty(fc.array(text, { minLength: 100, maxLength: 200 }), async (argv) => {
          const name = `agent-${(run += 1)}`;
          await newSession(tmux, {
            name,
            directory: home.root,
            argv: home.probe(name, argv),
            environment: { TEXT: argv.join('') },
            launchId: name,
          });
          const report = await home.report(name);
          assert.deepStrictEqual([report.argv, report.environment['TEXT']], [argv, argv.join('')]);
        }),
        { numRuns: 5, endOnFailure: true },
      );
    });

    it('runs a program without arguments without a shell, too', async () => {
      const directory = await home.directory('a $(touch pwned) b');
      const program = join(directory, 'run me');
      await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${home.root}/probe.cjs' '${home.root}/alone'\n`);
      await chmod(program, 0o755);
      const session = { name: 'ada', directory, argv: [program], environment: {}, launchId: 'l' };
      await newSession(tmux, session);
      assert.deepStrictEqual((await home.report('alone')).directory, directory);
      assert.deepStrictEqual(
        (await readdir(home.root)).filter((name) => name === 'pwned'),
        [],
      );
    });

    it('keeps agent-1 and agent-10 apart', async () => {
      const program = { directory: home.root, argv: ['sleep', '1000'], environment: {} };
      const ten = await newSession(tmux, { ...program, name: 'agent-10', launchId: 'ten' });
      const one = await newSession(tmux, { ...program, name: 'agent-1', launchId: 'one' });
      assert.deepStrictEqual([one.launchId, one.sessionName, ten.launchId], ['one', 'agent-1', 'ten']);
      await killSession(tmux, one);
      await killSession(tmux, one);
      assert.deepStrictEqual(await tmux.listPanes(), [ten]);
      assert.deepStrictEqual([await findPane(tmux, one.paneId), await findPane(tmux, ten.paneId)], [undefined, ten]);
    });

    it('refuses what it cannot do with a code and changes nothing', async () => {
      const session = { name: 'ada', directory: home.root, argv: ['sleep', '1000'], environment: {}, launchId: 'l' };
      const ada = await newSession(tmux, session);
      const refused = async (
        change: Partial<typeof session> & { environment?: Record<string, string> },
      ): Promise<string> => {
        try {
          await newSession(tmux, { ...session, name: 'bo', ...change });
          return 'accepted';
        } catch (error) {
          return error instanceof BowlineError ? error.code : String(error);
        }
      };
      assert.deepStrictEqual(
        await Promise.all([
          refused({ name: 'ada' }),
          refused({ name: 'a.b' }),
          refused({ name: '_bowline' }),
          refused({ directory: join(home.root, 'absent') }),
          refused({ directory: 'relative' }),
          refused({ argv: [] }),
          refused({ argv: ['sleep', '1\0'] }),
          refused({ environment: { 'A=B': '' } }),
        ]),
        [
          'already-running',
          'name-invalid',
          'name-invalid',
          'directory-missing',
          'directory-missing',
          'bad-request',
          'bad-request',
          'bad-request',
        ],
      );
      assert.deepStrictEqual(await tmux.listPanes(), [ada]);
    });

    it('replaces the program and its environment while a terminal stays attached', async () => {
      const first = await newSession(tmux, {
        name: 'ada',
        directory: home.root,
        argv: home.probe('first'),
        environment: { KEPT: 'old', GONE: 'x' },
        launchId: 'first',
      });
      await home.report('first');
      assert.deepStrictEqual(await lastClientActivity(tmux, first.sessionId), undefined);

      const attach = await tmux.attachCommand(first.sessionId);
      const pty = realPty();
      assert.ok('spawn' in pty);
      const terminal = pty.spawn(attach.file, attach.args, {
        name: 'xterm-256color',
        cols: 80,
        rows: 24,
        cwd: '/',
        env: tmux.server.environment,
      });
      try {
        const clients = (): Promise<string[]> =>
          tmux.command(['list-clients', '-t', first.sessionId, '-F', '#{client_pid}']);
        await waitFor('the terminal', async () => (await clients()).length === 1);
        terminal.write('x');
        const activity = await waitFor('activity', () => lastClientActivity(tmux, first.sessionId));
        assert.ok(Math.abs(activity - Date.now() / 1000) < 60);

        const second = await respawnPane(tmux, first, {
          directory: await home.directory('#{pid}'),
          argv: home.probe('second', ['~']),
          environment: { KEPT: 'new', ADDED: '$x' },
          launchId: 'second',
        });
        const { argv, directory, environment } = await home.report('second');
        const { KEPT, GONE, ADDED } = environment;
        assert.deepStrictEqual(
          { argv, directory, KEPT, GONE, ADDED },
          {
            argv: ['~'],
            directory: join(home.root, 'directories', '#{pid}'),
            KEPT: 'new',
            GONE: undefined,
            ADDED: '$x',
          },
        );
        assert.deepStrictEqual(second, { ...first, pid: second.pid, launchId: 'second' });
        assert.notEqual(second.pid, first.pid);
        assert.deepStrictEqual(await clients(), [String(terminal.pid)]);
      } finally {
        terminal.kill('SIGKILL');
      }
    });

    it('ends and replaces nothing in a pane that another server gave the same id', async () => {
      const program = { directory: home.root, argv: ['sleep', '1000'], environment: {}, launchId: 'bo.1' };
      const there = await newSession(tmux, { ...program, name: 'bo' });
      const gone = { ...there, pid: there.pid + 1 };
      await killSession(tmux, gone);
      await assert.rejects(respawnPane(tmux, gone, { ...program, launchId: 'ada.2' }), isNotFound);
      assert.deepStrictEqual(await tmux.listPanes(), [there]);
    });

    it('reads the screen and types into it, also when a person has scrolled back', async () => {
      const { paneId } = await newSession(tmux, {
        name: 'ada',
        directory: home.root,
        argv: ['sh', '-c', 'printf "\\033[2mdim\\033[0m\\n"; exec cat'],
        environment: {},
        launchId: 'l',
      });
      await waitFor('the first line', async () => (await capturePane(tmux, paneId, { styles: 'none' }))[0] === 'dim');
      await tmux.command(['copy-mode', '-t', paneId]);
      const typed = "$(id); 'x' é Enter;";
      await sendKeys(tmux, paneId, { literal: typed });
      await sendKeys(tmux, paneId, { key: 'Enter' });
      const lines = await waitFor('the echo', async () => {
        const screen = await capturePane(tmux, paneId, { styles: 'escapes' });
        return screen[2] === typed && screen.slice(0, 3);
      });
      assert.deepStrictEqual(lines.map(withoutStyles), ['dim', typed, typed]);
      assert.match(lines[0] ?? '', /^\u001b\[2mdim/);
    });

    it('tells how each process ended, also when tmux has missed it', async () => {
      const argvs = [
        ...Array.from({ length: 20 }, () => ['sleep', '1000']),
        ['sh', '-c', 'exit 127'],
        ['/absent/claude', '-x'],
      ];
      const panes = await Promise.all(
        argvs.map((argv, index) =>
          newSession(tmux, { name: `a${index}`, directory: home.root, argv, environment: {}, launchId: `l${index}` }),
        ),
      );
      for (const { pid } of panes.slice(0, 20)) process.kill(pid, 'SIGKILL');
      const ends = await Promise.all(
        panes.map(({ paneId }) =>
          waitFor('a dead pane', async () => {
            const pane = await readDeadPane(tmux, paneId);
            return pane?.dead === true && (pane.deadSignal ?? pane.deadStatus);
          }),
        ),
      );
      assert.deepStrictEqual(ends, [...Array<string>(20).fill('9'), 127, 1]);
    });
  });
}
