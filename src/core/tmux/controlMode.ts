/** What the control stream of tmux says (tmux(1), "CONTROL MODE"). */
export type ControlEvent =
  /** The `ESC P 1000 p` wrapper of `-CC` was seen: from here on tmux reads commands. Never sent for `-C`. */
  | { readonly kind: 'opened' }
  /** The wrapper ended (`ESC \`). */
  | { readonly kind: 'closed' }
  | ControlReply
  /** A watched format has a new value (`refresh-client -B`). */
  | { readonly kind: 'subscription'; readonly subscription: string; readonly value: string }
  /** tmux lets this client go. `reason` is empty when the client asked for it itself. */
  | { readonly kind: 'exit'; readonly reason: string }
  /** Any other notification: `%sessions-changed`, `%window-add @1`, or one of a newer tmux. */
  | { readonly kind: 'notification'; readonly name: string; readonly text: string }
  /** A line outside the protocol, e.g. an error before the client is attached. */
  | { readonly kind: 'text'; readonly line: string };

/** The answer to one command. */
export interface ControlReply {
  readonly kind: 'reply';
  readonly outcome: 'ok' | 'error';
  /** Whether a line that this client wrote asked for it. The attach itself is answered with `false`. */
  readonly own: boolean;
  readonly lines: readonly string[];
}

const wrapperStart = '\u001bP1000p';
const wrapperEnd = '\u001b\\';

interface OpenBlock {
  /** `<time> <number> <flags>`: the same text ends the block. */
  readonly guard: string;
  readonly lines: string[];
}

/**
 * Reads the control stream of tmux piece by piece; where the pieces are cut makes no difference.
 * Input is decoded text (a streaming UTF-8 decoder in front). Over a terminal (`-CC`, known by its wrapper) each line
 * ends with CR LF, over pipes with LF: measured, tmux 3.3a.
 */
export class ControlModeParser {
  private buffer = '';
  /** Up to here `buffer` holds no line end. */
  private scanned = 0;
  private carriageReturns = false;
  private block: OpenBlock | undefined;

  /** Takes the next piece and returns what it completed, in order. */
  push(chunk: string): ControlEvent[] {
    this.buffer += chunk;
    const events: ControlEvent[] = [];
    let start = 0;
    for (;;) {
      if (this.block === undefined) {
        if (this.buffer.startsWith(wrapperStart, start)) {
          start += wrapperStart.length;
          this.carriageReturns = true;
          events.push({ kind: 'opened' });
          continue;
        }
        if (this.carriageReturns && this.buffer.startsWith(wrapperEnd, start)) {
          start += wrapperEnd.length;
          events.push({ kind: 'closed' });
          continue;
        }
      }
      const end = this.buffer.indexOf('\n', Math.max(start, this.scanned));
      if (end < 0) break;
      const line = this.buffer.slice(start, this.carriageReturns && this.buffer[end - 1] === '\r' ? end - 1 : end);
      start = end + 1;
      const event = this.readLine(line);
      if (event !== undefined) events.push(event);
    }
    this.buffer = this.buffer.slice(start);
    this.scanned = this.buffer.length;
    return events;
  }

  private readLine(line: string): ControlEvent | undefined {
    if (this.block !== undefined) {
      const { guard, lines } = this.block;
      if (line !== `%end ${guard}` && line !== `%error ${guard}`) {
        lines.push(line);
        return undefined;
      }
      this.block = undefined;
      return { kind: 'reply', outcome: line.startsWith('%end') ? 'ok' : 'error', own: isOwn(guard), lines };
    }
    if (!line.startsWith('%')) return { kind: 'text', line };
    const [name, text] = cutAt(line.slice(1), ' ');
    switch (name) {
      case 'begin':
        this.block = { guard: text, lines: [] };
        return undefined;
      case 'exit':
        return { kind: 'exit', reason: text };
      case 'subscription-changed': {
        const [subject, value] = cutAt(text, ' : ');
        return { kind: 'subscription', subscription: cutAt(subject, ' ')[0], value };
      }
      default:
        return { kind: 'notification', name, text };
    }
  }
}

/** The third number of a guard holds flags; bit 0 says "from this control client". */
function isOwn(guard: string): boolean {
  return (Number(guard.split(' ')[2] ?? '0') & 1) === 1;
}

function cutAt(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
