import { isUtf8 } from 'node:buffer';
import { ByteParts } from '../byteParts.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Who is told of lines. */
export interface LineListener {
  /** Without its end; never empty. */
  line(text: string): void;
  /** One line was dropped alone; `reason` is the predicate of a sentence on it. */
  dropped(reason: string): void;
}

/**
 * Cuts what a process writes into lines of UTF-8. Looks only for the line feed, which is part of no other character, so
 * that a character may be torn between two chunks. A line that is too long is let go as it comes.
 */
export class StdioLines {
  private readonly parts = new ByteParts();
  /** Of the line, also of what was let go. */
  private length = 0;

  /** `longest` in bytes. */
  constructor(
    private readonly longest: number,
    private readonly listener: LineListener,
  ) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, start);
      if (end < 0) break;
      this.keep(chunk.subarray(start, end));
      this.end();
      start = end + 1;
    }
    if (start < chunk.length) this.keep(chunk.subarray(start));
  }

  /** Ends the last line, where there is one without a line feed. */
  end(): void {
    const { length } = this;
    this.length = 0;
    const whole = this.parts.take();
    if (length > this.longest) {
      this.listener.dropped(`has ${length} bytes, and ${this.longest} are taken`);
      return;
    }
    const line = whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole;
    if (line.length === 0) return;
    if (isUtf8(line)) this.listener.line(line.toString('utf8'));
    else this.listener.dropped('is not UTF-8');
  }

  private keep(part: Buffer): void {
    this.length += part.length;
    if (this.length > this.longest) this.parts.clear();
    else this.parts.add(part);
  }
}
