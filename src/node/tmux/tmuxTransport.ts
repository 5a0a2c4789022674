import { spawn } from 'node:child_process';
import { Emitter, type Event } from '../../base/events.ts';
import { messageOf } from '../../base/errors.ts';
import type { PtyModule } from '../pty.ts';

/** How the control client is run: `-CC` in a pseudo terminal, or `-C` over pipes. */
export type TransportKind = 'pty' | 'pipes';

/** One run of a tmux control client. */
export interface TmuxTransport {
  readonly kind: TransportKind;
  /** Decoded text in pieces of any size. */
  readonly onData: Event<string>;
  /** Fired once, with the last words of the process for the log. */
  readonly onExit: Event<string>;
  /** Sends one line. Over a terminal only after the `opened` event: before that, the line would be echoed and cut. */
  write(line: string): void;
  /** Ends the control client, the hard way: it would wait for a server that hangs. Server and sessions go on. */
  kill(): void;
}

export interface ControlClientCommand {
  readonly file: string;
  /** Arguments up to the control flag, e.g. `-S <socket>`. */
  readonly serverArguments: readonly string[];
  /** Session to attach to, as a tmux target. */
  readonly session: string;
  readonly environment: Record<string, string>;
}

/** `ignore-size`: attached terminals keep their size. `no-output`: no pane output is sent. `-u`: output stays UTF-8. */
function controlArguments(command: ControlClientCommand, flag: '-C' | '-CC'): string[] {
  const attach = ['attach-session', '-f', 'no-output,ignore-size', '-t', command.session];
  return ['-u', ...command.serverArguments, flag, ...attach];
}

/** Starts `tmux -C` over pipes. */
export function openPipeTransport(command: ControlClientCommand): TmuxTransport {
  const data = new Emitter<string>();
  const exit = new Emitter<string>();
  const child = spawn(command.file, controlArguments(command, '-C'), { env: command.environment, cwd: '/' });
  let errors = '';
  let over = false;
  const end = (detail: string): void => {
    if (over) return;
    over = true;
    exit.fire([detail, errors.trim()].filter((part) => part !== '').join(': '));
  };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    data.fire(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors = (errors + chunk).slice(-2000);
  });
  // EPIPE: the close event tells the rest.
  child.stdin.on('error', () => undefined);
  child.on('error', (error) => {
    end(messageOf(error));
  });
  child.on('close', (code, signal) => {
    end(`tmux -C ended with ${signal ?? `status ${code ?? 'unknown'}`}`);
  });
  return {
    kind: 'pipes',
    onData: data.event,
    onExit: exit.event,
    write: (line) => {
      if (!over) child.stdin.write(`${line}\n`);
    },
    kill: () => {
      child.kill('SIGKILL');
    },
  };
}

/** Starts `tmux -CC` in a pseudo terminal. Throws when node-pty cannot start a process. */
export function openPtyTransport(command: ControlClientCommand, pty: PtyModule): TmuxTransport {
  const data = new Emitter<string>();
  const exit = new Emitter<string>();
  const child = pty.spawn(command.file, controlArguments(command, '-CC'), {
    name: 'xterm-256color',
    cols: 200,
    rows: 50,
    cwd: '/',
    env: command.environment,
  });
  let over = false;
  child.onData((chunk) => {
    data.fire(chunk);
  });
  child.onExit(({ exitCode, signal }) => {
    over = true;
    exit.fire(`tmux -CC ended with ${signal ? `signal ${signal}` : `status ${exitCode}`}`);
  });
  return {
    kind: 'pty',
    onData: data.event,
    onExit: exit.event,
    write: (line) => {
      if (!over) child.write(`${line}\n`);
    },
    kill: () => {
      if (!over) child.kill('SIGKILL');
    },
  };
}
