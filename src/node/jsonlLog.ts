import { closeSync, fchmodSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import type { Disposable } from '../base/lifecycle.ts';
import type { Log, LogFields } from '../base/log.ts';

/** Limits and clock of a {@link JsonlLog}. */
export interface JsonlLogOptions {
  /** Bytes after which the file moves to `<path>.1` (2 MB), over the one before it. */
  readonly rotateAt?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * A log in a file of mode 0600, one JSON object per line: `time` (ISO 8601), `level`, `message`, then the fields.
 * One process per file. Written at once, so that the last words before a crash are there. It never throws: what the
 * disk refuses is dropped and counted, and the count stands in the next line that gets through.
 */
export class JsonlLog implements Log, Disposable {
  private readonly rotateAt: number;
  private readonly now: () => number;
  private descriptor: number | undefined;
  private size = 0;
  private dropped = 0;
  private disposed = false;

  constructor(
    private readonly path: string,
    options: JsonlLogOptions = {},
  ) {
    this.rotateAt = options.rotateAt ?? 2_000_000;
    this.now = options.now ?? Date.now;
  }

  debug(message: string, fields?: LogFields): void {
    this.write('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.write('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.write('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.write('error', message, fields);
  }

  dispose(): void {
    this.disposed = true;
    this.close();
  }

  private write(level: Level, message: string, fields: LogFields | undefined): void {
    if (this.disposed) return;
    const dropped = this.dropped > 0 ? { dropped: this.dropped } : {};
    const entry = { time: new Date(this.now()).toISOString(), level, message, ...dropped, ...fields };
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    try {
      if (this.size > 0 && this.size + line.byteLength > this.rotateAt) this.rotate();
      this.descriptor ??= this.open();
      this.size += writeSync(this.descriptor, line);
      this.dropped = 0;
    } catch {
      this.dropped++;
      this.close();
    }
  }

  private open(): number {
    const descriptor = openSync(this.path, 'a', 0o600);
    fchmodSync(descriptor, 0o600);
    this.size = fstatSync(descriptor).size;
    return descriptor;
  }

  private rotate(): void {
    this.close();
    renameSync(this.path, `${this.path}.1`);
  }

  private close(): void {
    const descriptor = this.descriptor;
    this.descriptor = undefined;
    this.size = 0;
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
