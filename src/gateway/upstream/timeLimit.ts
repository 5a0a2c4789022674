import type { Disposable } from '../../base/lifecycle.ts';

/** One limit that is set anew as something goes on. Keeps no process alive. */
export class TimeLimit implements Disposable {
  private timer: ReturnType<typeof setTimeout>;
  private over = false;

  /** `reached` gets the milliseconds that were too short. */
  constructor(
    private milliseconds: number,
    private readonly reached: (milliseconds: number) => void,
  ) {
    this.timer = this.begin();
  }

  /** From now on: `milliseconds`, or as before. */
  restart(milliseconds: number = this.milliseconds): void {
    if (this.over) return;
    if (milliseconds === this.milliseconds) {
      this.timer.refresh();
      return;
    }
    clearTimeout(this.timer);
    this.milliseconds = milliseconds;
    this.timer = this.begin();
  }

  dispose(): void {
    this.over = true;
    clearTimeout(this.timer);
  }

  private begin(): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      if (this.over) return;
      this.over = true;
      this.reached(this.milliseconds);
    }, this.milliseconds).unref();
  }
}
