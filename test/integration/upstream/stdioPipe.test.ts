import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { silentLog } from '../../../src/base/log.ts';
import type { MessagePipe } from '../../../src/gateway/upstream/pipe.ts';
import { openStdioPipe } from '../../../src/gateway/upstream/stdioPipe.ts';
import { StdioProcesses, type StdioProgram } from '../../../src/gateway/upstream/stdioProcesses.ts';
import { processIdentity } from '../../../src/node/processIdentity.ts';
import { bundlePrograms } from '../../harness/bundle.ts';
import { findProcesses } from '../../harness/processes.mjs';
import { waitFor } from '../../harness/waitFor.ts';

const environmentSchema = z.object({
  environment: z.record(z.string(), z.string()),
  directory: z.string(),
  arguments: z.array(z.string()),
});

describe('a pipe to a stdio server', () => {
  let programs: string;
  let directory: string;
  let processes: StdioProcesses;
  let told: string[];

  before(async () => {
    programs = await mkdtemp(join(tmpdir(), 'bowline-programs-'));
    const rough = join(import.meta.dirname, '../../harness/upstreams/roughStdioMain.ts');
    const killed = join(import.meta.dirname, '../../harness/upstreams/killedAtStartMain.ts');
    await bundlePrograms({ entryPoints: { rough, killed }, directory: programs });
  });

  after(() => rm(programs, { recursive: true }));

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bowline-'));
    const gateway = await processIdentity(process.pid);
    assert.ok(gateway);
    const patience = { endOfInput: 1500, termination: 300 };
    processes = new StdioProcesses({ directory: join(directory, 'records'), gateway, log: silentLog, patience });
    told = [];
  });

  afterEach(async () => {
    processes.kill();
    await processes.settled();
    const left = await waitForNone();
    await rm(directory, { recursive: true });
    assert.deepStrictEqual(left, []);
  });

  const waitForNone = async (): Promise<unknown[]> => {
    await waitFor('no process to be left', () => findProcesses(directory).length === 0).catch(() => undefined);
    return findProcesses(directory);
  };

  const program = (...args: string[]): StdioProgram => ({
    command: process.execPath,
    args: [join(programs, 'rough.js'), ...args],
    environment: { PATH: process.env['PATH'] ?? '', MARK: directory },
    directory,
  });

  const open = async (chosen: StdioProgram): Promise<MessagePipe> => {
    const opening = await openStdioPipe({
      program: chosen,
      processes,
      listener: { message: (text) => told.push(text), closed: (reason) => told.push(`closed: ${reason}`) },
      stderr: (line) => told.push(`stderr: ${line}`),
      dropped: (reason) => told.push(`dropped: ${reason}`),
    });
    assert.ok(opening.kind === 'open', JSON.stringify(opening));
    return opening.pipe;
  };

  const says = (count: number): Promise<string[]> =>
    waitFor(`${count} things to be told`, () => told.length >= count && told, { timeoutMs: 30_000 });

  it('runs it without a shell, with its own variables and directory, and nothing of this process', async () => {
    const odd = ['two words', '$(touch x)', '"; exit 1; "', 'π'];
    const { environment } = program();
    await open(program('environment', ...odd));
    const [line = ''] = await says(1);
    const { BOWLINE_UPSTREAM: mark, ...given } = environmentSchema.parse(JSON.parse(line)).environment;
    assert.deepStrictEqual(
      { ...environmentSchema.parse(JSON.parse(line)), environment: given, isMarked: (mark ?? '').length > 30 },
      { environment, directory, arguments: odd, isMarked: true },
    );
  });

  it('is settled only when what was being started runs, and has ended when it is to', async () => {
    let running = false;
    const started = processes.start(program('echo')).then((one) => {
      running = true;
      return one;
    });
    await processes.settled();
    const wasRunning = running;
    void (await started).end();
    await processes.settled();
    assert.deepStrictEqual({ wasRunning, left: findProcesses(directory) }, { wasRunning: true, left: [] });
  });

  it('takes messages in order, however big they are, and gives them back', async () => {
    const pipe = await open(program('echo'));
    const messages = ['"first"', `"${'π€'.repeat(1_000_000)}"`, '"last"'];
    const sent = await Promise.all(messages.map((message) => pipe.send(message)));
    await says(3);
    assert.deepStrictEqual(
      { sent: sent.map(({ kind }) => kind), isSame: told.map((text, at) => text === messages[at]), left: pipe.backlog },
      { sent: ['sent', 'sent', 'sent'], isSame: [true, true, true], left: 0 },
    );
  });

  it('drops alone what is no line of UTF-8, and what is longer than 16 MB', async () => {
    await open(program('broken lines'));
    await says(3);
    await open(program('huge line'));
    await says(5);
    assert.deepStrictEqual(told, [
      '"one"',
      'dropped: is not UTF-8',
      '"π two"',
      'dropped: has 17825794 bytes, and 16777216 are taken',
      '"after"',
    ]);
  });

  it('tells the end with the last words, and which messages never went out', async () => {
    const pipe = await open(program('no reader'));
    const big = `"${'x'.repeat(4 * 1024 * 1024)}"`;
    const sent = ['"first"', big, '"last"'].map((message) => pipe.send(message));
    await sent[0];
    const [process] = findProcesses(directory);
    assert.ok(process);
    globalThis.process.kill(process.pid, 'SIGKILL');
    const outcomes = await Promise.all(sent);
    await says(1);
    await pipe.send('"late"').then((outcome) => outcomes.push(outcome));
    assert.deepStrictEqual(
      { outcomes: outcomes.map(({ kind }) => kind), told },
      {
        outcomes: ['sent', 'session lost', 'session lost', 'session lost'],
        told: ['closed: its process was ended by SIGKILL'],
      },
    );
    told = [];
    await open(program('exit', '3'));
    await says(2);
    assert.deepStrictEqual(told, [
      'stderr: cannot go on: secret-of-the-definition',
      'closed: its process ended with code 3',
    ]);
  });

  it('says what a person has to change where it cannot be started', async () => {
    const start = async (change: Partial<StdioProgram>): Promise<object> =>
      openStdioPipe({
        program: { ...program('echo'), ...change },
        processes,
        listener: { message: () => undefined, closed: () => undefined },
        stderr: () => undefined,
        dropped: () => undefined,
      });
    assert.deepStrictEqual(
      await Promise.all([
        start({ command: 'no-such-server' }),
        start({ directory: join(directory, 'none') }),
        start({ command: directory }),
      ]),
      [
        { kind: 'refused', reason: "its command no-such-server was not found; check its path and the agent's PATH" },
        { kind: 'refused', reason: `its directory ${join(directory, 'none')} is not there` },
        { kind: 'refused', reason: `its command ${directory} cannot be run (spawn ${directory} EACCES)` },
      ],
    );
  });

  it('leaves no process, also of a server that heeds nothing', async () => {
    const pipes = await Promise.all([open(program('echo')), open(program('deaf'))]);
    const running = findProcesses(directory).length;
    const recorded = await waitFor('both records', async () => {
      const names = await readdir(join(directory, 'records'));
      return names.length === 2 && names.length;
    });
    for (const pipe of pipes) pipe.dispose();
    await processes.settled();
    assert.deepStrictEqual(
      { running, recorded, left: findProcesses(directory), told, records: await readdir(join(directory, 'records')) },
      { running: 2, recorded: 2, left: [], told: [], records: [] },
    );
  });

  it('leaves none for long that a gateway had just started when it was killed, and no other process is touched', async () => {
    const start = { directory: join(directory, 'records'), program: program('deaf') };
    const gateway = spawn(process.execPath, [join(programs, 'killed.js'), JSON.stringify(start)], { stdio: 'ignore' });
    await once(gateway, 'exit');
    const { signalCode: signal } = gateway;
    const left = findProcesses(directory).length;
    const other = await open(program('deaf'));
    await processes.endLeftOver();
    const after = findProcesses(directory).length;
    other.dispose();
    await processes.settled();
    assert.deepStrictEqual(
      { signal, left, after, records: await readdir(join(directory, 'records')) },
      { signal: 'SIGKILL', left: 1, after: 1, records: [] },
    );
  });
});
