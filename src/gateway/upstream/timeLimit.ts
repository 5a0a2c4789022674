import type { Disposable } from '../../base/lifecycle.ts';

/** How long nothing may be heard of a request, in milliseconds. */
export interface SilenceTimes {
  readonly answer: number;
  /** Of `tools/call`, which may rightly take long. */
  readonly call: number;
}

/** The most that a timer takes, in milliseconds. */
const forEver = 2 ** 31 - 1;

export function silenceLimit(method: string, { answer, call }: SilenceTimes): number {
  switch (method) {
    case 'tools/call':
      return call;
    case 'subscriptions/listen': // answered when the upstream has nothing more to tell
      return forEver;
    default:
      return answer;
  }
}

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
