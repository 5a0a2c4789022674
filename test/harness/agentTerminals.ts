import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readScreen, type ScreenReading } from '../../src/core/claude/screen.ts';
import { waitFor } from './waitFor.ts';

const run = promisify(execFile);

/** How long Claude may take, in milliseconds: to show an empty input line, and to show what was typed. */
export interface TerminalLimits {
  readonly inputMs: number;
  readonly echoMs: number;
}

/** The fleet's tmux as a person at a terminal has it. */
export class AgentTerminals {
  constructor(
    private readonly socket: string,
    private readonly limits: TerminalLimits,
  ) {}

  async tmux(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-S', this.socket, ...args]);
    return stdout;
  }

  /** What stands on an agent's screen. */
  screen(name: string): Promise<string> {
    return this.tmux('capture-pane', '-p', '-t', `=${name}:`);
  }

  /** Waits for an empty input line: the hook that ends a turn runs while the screen still shows it. */
  async untilInput(name: string): Promise<void> {
    const isEmpty = async (): Promise<boolean> => {
      const reading = await this.reading(name);
      return reading.kind === 'input' && reading.text === '';
    };
    await waitFor(`the input line of ${name}`, isEmpty, { timeoutMs: this.limits.inputMs });
  }

  /** Types a prompt as a person would: text, a look at the input line alone (the same words may stand above it), Enter. */
  async prompt(name: string, text: string): Promise<void> {
    await this.tmux('send-keys', '-t', `=${name}:`, '-l', text);
    const isTyped = async (): Promise<boolean> => {
      const reading = await this.reading(name);
      const hasInput = reading.kind === 'input' || reading.kind === 'busy';
      return hasInput && withoutSpace(reading.text) === withoutSpace(text);
    };
    await waitFor(`${text} in the input line of ${name}`, isTyped, { timeoutMs: this.limits.echoMs });
    await this.tmux('send-keys', '-t', `=${name}:`, 'Enter');
  }

  private async reading(name: string): Promise<ScreenReading> {
    const screen = await this.tmux('capture-pane', '-e', '-p', '-t', `=${name}:`);
    return readScreen(screen.split('\n'));
  }
}

/** A long line is broken on the screen. */
function withoutSpace(text: string): string {
  return text.replace(/\s/g, '');
}
