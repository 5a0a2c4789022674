import type { ChildProcess } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { messageOf } from '../../base/errors.ts';
import { isErrorWithCode } from '../../node/files.ts';
import { longestMessage, type MessagePipe, type PipeFailure, type PipeListener, type PipeOpening } from './pipe.ts';
import { StdioLines } from './stdioLines.ts';
import type { StdioProcess, StdioProcesses, StdioProgram } from './stdioProcesses.ts';

/** What a process wrote last is read for so long after it ended, in milliseconds; a descendant may hold the pipe open. */
const lastWordsLimit = 1000;

export interface StdioPipeOptions {
  readonly program: StdioProgram;
  readonly processes: Pick<StdioProcesses, 'start'>;
  readonly listener: PipeListener;
  /** One line of the process's stderr, or what became of one. */
  readonly stderr: (line: string) => void;
  /** Something that it wrote was dropped: the predicate of a sentence. */
  readonly dropped: (reason: string) => void;
}

/** Starts a stdio server and resolves when its process runs. */
export async function openStdioPipe(options: StdioPipeOptions): Promise<PipeOpening> {
  const { program } = options;
  try {
    return { kind: 'open', pipe: new StdioPipe(await options.processes.start(program), options) };
  } catch (error) {
    return await readStartError(program, error);
  }
}

async function readStartError(
  { command, directory }: StdioProgram,
  error: unknown,
): Promise<Extract<PipeOpening, { kind: 'refused' | 'unreachable' }>> {
  const isThere = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere) return { kind: 'refused', reason: `its directory ${directory} is not there` };
  if (isErrorWithCode(error, 'ENOENT')) {
    return { kind: 'refused', reason: `its command ${command} was not found; check its path and the agent's PATH` };
  }
  if (isErrorWithCode(error, 'EACCES') || isErrorWithCode(error, 'ENOEXEC')) {
    return { kind: 'refused', reason: `its command ${command} cannot be run (${messageOf(error)})` };
  }
  if (isErrorWithCode(error, 'ERR_INVALID_ARG_VALUE') || isErrorWithCode(error, 'E2BIG')) {
    return { kind: 'refused', reason: `its command, arguments or variables cannot be used (${messageOf(error)})` };
  }
  return { kind: 'unreachable', reason: `its process could not be started (${messageOf(error)})` };
}

/** A line of stderr that is longer is told as too long. */
const longestStderrLine = 16 * 1024;

interface Waiting {
  readonly message: string;
  readonly settle: (outcome: { readonly kind: 'sent' } | PipeFailure) => void;
}

class StdioPipe implements MessagePipe {
  backlog = 0;
  private readonly waiting: Waiting[] = [];
  private isWriting = true;
  private isOver = false;
  private lastWords: NodeJS.Timeout | undefined;

  constructor(
    private readonly process: StdioProcess,
    private readonly options: StdioPipeOptions,
  ) {
    const { child } = process;
    const { listener, dropped, stderr } = options;
    const lines = new StdioLines(longestMessage, {
      line: (text) => {
        if (!this.isOver) listener.message(text);
      },
      dropped,
    });
    const words = new StdioLines(longestStderrLine, {
      line: stderr,
      dropped: (reason) => {
        stderr(`(a line that ${reason})`);
      },
    });
    child.stdout.on('data', (chunk: Buffer) => {
      lines.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      words.push(chunk);
    });
    child.stderr.on('end', () => {
      words.end();
    });
    child.stdout.on('end', () => {
      lines.end();
      this.closing();
    });
    child.once('exit', () => {
      this.closing();
    });
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      stream.on('error', () => {
        this.closing();
      });
    }
    void process.recorded.then(() => {
      this.isWriting = false;
      this.write();
    });
  }

  send(message: string): ReturnType<MessagePipe['send']> {
    return new Promise((settle) => {
      this.waiting.push({ message, settle });
      this.backlog += message.length;
      this.write();
    });
  }

  pause(): void {
    this.process.child.stdout.pause();
  }

  resume(): void {
    this.process.child.stdout.resume();
  }

  dispose(): void {
    this.end('its session has ended');
  }

  gone(): Promise<void> {
    return this.process.end();
  }

  /**
   * One message at a time, so that it is known which of them went out: of one whose end the kernel did not take, the
   * server has at most a torn line.
   */
  private write(): void {
    if (this.isOver) this.refuseWaiting('its process is gone');
    if (this.isWriting) return;
    const next = this.waiting.shift();
    if (next === undefined) return;
    this.isWriting = true;
    this.process.child.stdin.write(`${next.message}\n`, (error) => {
      this.isWriting = false;
      this.backlog -= next.message.length;
      next.settle(error ? { kind: 'session lost', reason: 'its process takes nothing any more' } : { kind: 'sent' });
      this.write();
    });
  }

  private refuseWaiting(reason: string): void {
    for (const { message, settle } of this.waiting.splice(0)) {
      this.backlog -= message.length;
      settle({ kind: 'session lost', reason });
    }
  }

  /** A process that ended, or closed its input or output, serves nobody any more. Its last words are heard first. */
  private closing(): void {
    const { child } = this.process;
    if (this.isOver) return;
    const end = endOf(child);
    if (end !== undefined && child.stdout.readableEnded) {
      this.close(end);
      return;
    }
    this.lastWords ??= setTimeout(() => {
      this.close(endOf(child) ?? 'its process closed its input or output');
    }, lastWordsLimit);
  }

  private close(reason: string): void {
    if (this.isOver) return;
    this.end(reason);
    this.options.listener.closed(reason);
  }

  private end(reason: string): void {
    this.isOver = true;
    clearTimeout(this.lastWords);
    this.refuseWaiting(reason);
    void this.process.end();
    // What it still says would stop it when nobody reads it.
    this.process.child.stdout.resume();
  }
}

function endOf({ exitCode, signalCode }: ChildProcess): string | undefined {
  if (signalCode !== null) return `its process was ended by ${signalCode}`;
  return exitCode === null ? undefined : `its process ended with code ${exitCode}`;
}
