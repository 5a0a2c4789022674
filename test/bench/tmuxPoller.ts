import { type ChildProcess, execFile, spawn } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { processorTime } from './processorTime.ts';
import { bundlePrograms } from '../harness/bundle.ts';

const run = promisify(execFile);

/** A tmux server of its own with sleeping panes, and a process that lists them once a second by starting tmux. */
export class TmuxPoller {
  private constructor(
    private readonly poller: ChildProcess,
    private readonly server: number,
  ) {}

  /** Everything is in `directory`; the caller ends what runs there. */
  static async start(options: {
    readonly directory: string;
    readonly configuration: string;
    readonly panes: number;
  }): Promise<TmuxPoller> {
    const socket = path.join(options.directory, 'poller.sock');
    const tmux = (...args: string[]): Promise<{ stdout: string }> =>
      run('tmux', ['-f', options.configuration, '-S', socket, ...args], { cwd: options.directory });
    for (let index = 1; index <= options.panes; index += 1) {
      await tmux('new-session', '-d', '-s', `agent-${index}`, '--', 'sleep', '86400');
    }
    const { stdout } = await tmux('display-message', '-p', '#{pid}');
    const { directory } = options;
    await bundlePrograms({
      entryPoints: { poller: path.join(__dirname, '../harness/tmuxPollerMain.ts') },
      directory,
    });
    const file = path.join(directory, 'poller.js');
    const poller = spawn(process.execPath, [file, 'tmux', socket], { cwd: options.directory, stdio: 'ignore' });
    return new TmuxPoller(poller, Number(stdout));
  }

  /** Processor time so far in milliseconds: the poller, its ended children, and the tmux server. */
  async time(): Promise<number> {
    const { pid, exitCode } = this.poller;
    if (pid === undefined || exitCode !== null) throw new Error('the process that polls tmux has ended');
    return (await processorTime(pid)) + (await processorTime(this.server));
  }
}
