/** Keeps one process the only writer of a file: what is to be written passes here until the gate is closed. */
export class WriteGate {
  private running: Promise<unknown> = Promise.resolve();
  private closed = false;

  /** Runs a write. Rejects once another process owns the file. */
  run(write: () => Promise<void>): Promise<void> {
    if (this.closed) return Promise.reject(new Error('another process writes it now'));
    const result = write();
    this.running = Promise.allSettled([this.running, result]);
    return result;
  }

  /** No write begins from now on; resolves when none is under way. */
  async close(): Promise<void> {
    this.closed = true;
    await this.running;
  }
}
