import { BowlineError } from '../../base/errors.ts';
import { Emitter } from '../../base/events.ts';
import { DisposableObject } from '../../base/lifecycle.ts';
import { type ControlEvent, ControlModeParser, type ControlReply } from '../../core/tmux/controlMode.ts';
import { commandLine } from '../../core/tmux/quote.ts';
import { failed, noAnswer } from './tmuxServer.ts';
import type { TmuxTransport } from './tmuxTransport.ts';

interface PendingLine {
  /** Replies still to come unless one fails. */
  remaining: number;
  readonly replies: string[][];
  readonly settle: (result: string[][] | BowlineError) => void;
}

/** One attached control client: commands out, replies in their order, notifications as they come. */
export class ControlConnection extends DisposableObject {
  private readonly parser = new ControlModeParser();
  private readonly pending: PendingLine[] = [];
  private readonly subscriptionEmitter = this._register(new Emitter<{ subscription: string; value: string }>());
  private readonly answerEmitter = this._register(new Emitter<undefined>());
  private readonly closedEmitter = this._register(new Emitter<string>());
  private strayText = '';
  private exitReason = '';
  private closedDetail: string | undefined;
  private openedSeen = false;
  private settleAttach: ((error: BowlineError | undefined) => void) | undefined;

  readonly onSubscription = this.subscriptionEmitter.event;
  /** Any reply to a command, also one that came too late: tmux lives. */
  readonly onAnswer = this.answerEmitter.event;
  /** Fired once with what is known about the end. */
  readonly onClosed = this.closedEmitter.event;

  constructor(private readonly transport: TmuxTransport) {
    super();
    this._register(
      transport.onData((chunk) => {
        for (const event of this.parser.push(chunk)) this.receive(event);
      }),
    );
    this._register(
      transport.onExit((detail) => {
        this.close([this.exitReason, this.strayText, detail].filter((part) => part !== '').join('; '));
      }),
    );
  }

  get kind(): TmuxTransport['kind'] {
    return this.transport.kind;
  }

  get closed(): boolean {
    return this.closedDetail !== undefined;
  }

  /** Whether the terminal wrapper of `-CC` was seen. */
  get opened(): boolean {
    return this.openedSeen;
  }

  /** Resolves when tmux has attached the client. Call once, right after construction. */
  attached(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.settleAttach?.(noAnswer(timeoutMs));
      }, timeoutMs);
      this.settleAttach = (error) => {
        clearTimeout(timer);
        this.settleAttach = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
    });
  }

  /**
   * Runs commands as one line. Resolves with the lines of each reply.
   * Rejects with `tmux-failed` at the first command that fails (the rest does not run), and with `tmux-no-answer` after
   * `timeoutMs` or when the client ends: the commands may then have run or not.
   */
  run(commands: readonly (readonly string[])[], timeoutMs: number): Promise<string[][]> {
    if (this.closed) return Promise.reject(connectionLost(this.closedDetail ?? ''));
    const line = commandLine(commands);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        // The entry stays queued: its replies may still come, and must not be taken for those of another line.
        reject(noAnswer(timeoutMs));
      }, timeoutMs);
      this.pending.push({
        remaining: commands.length,
        replies: [],
        settle: (result) => {
          clearTimeout(timer);
          if (result instanceof BowlineError) reject(result);
          else resolve(result);
        },
      });
      this.transport.write(line);
    });
  }

  override dispose(): void {
    this.transport.kill();
    this.close('closed by Bowline');
    super.dispose();
  }

  private receive(event: ControlEvent): void {
    switch (event.kind) {
      case 'opened':
        this.openedSeen = true;
        return;
      case 'reply':
        this.receiveReply(event);
        return;
      case 'subscription':
        this.subscriptionEmitter.fire(event);
        return;
      case 'exit':
        this.exitReason = event.reason;
        return;
      case 'text':
        this.strayText = `${this.strayText} ${event.line}`.trim().slice(0, 500);
        return;
      case 'closed':
      case 'notification':
        return;
    }
  }

  private receiveReply(reply: ControlReply): void {
    if (!reply.own) {
      this.settleAttach?.(reply.outcome === 'ok' ? undefined : failed(reply.lines.join(' ')));
      return;
    }
    const line = this.pending[0];
    if (line !== undefined) {
      line.replies.push([...reply.lines]);
      line.remaining -= 1;
      if (reply.outcome === 'error' || line.remaining === 0) {
        this.pending.shift();
        line.settle(reply.outcome === 'ok' ? line.replies : failed(reply.lines.join(' ')));
      }
    }
    this.answerEmitter.fire(undefined);
  }

  private close(detail: string): void {
    if (this.closedDetail !== undefined) return;
    this.closedDetail = detail;
    this.settleAttach?.(failed(detail));
    for (const line of this.pending.splice(0)) line.settle(connectionLost(detail));
    this.closedEmitter.fire(detail);
  }
}

function connectionLost(detail: string): BowlineError {
  return new BowlineError(
    'tmux-no-answer',
    'The connection to tmux ended before it answered. Bowline connects again by itself.',
    { cause: detail },
  );
}
