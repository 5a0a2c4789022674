import { DisposableObject } from '../base/lifecycle.ts';
import { exists } from '../node/files.ts';

/**
 * Joins the fleet of this machine: at once where there is one, else as soon as another window has made it. Until then
 * nothing is started. `everyMs`: between looks at the directory (3 s).
 */
export class FleetWatch extends DisposableObject {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private disposed = false;

  constructor(
    private readonly directory: string,
    private readonly join: () => void,
    private readonly everyMs = 3_000,
  ) {
    super();
    this._register({
      dispose: () => {
        this.disposed = true;
        clearTimeout(this.timer);
      },
    });
  }

  /** Resolves after the first look. */
  async look(): Promise<void> {
    const found = await exists(this.directory);
    if (this.disposed) return;
    if (found) this.join();
    else this.timer = setTimeout(() => void this.look(), this.everyMs);
  }
}
