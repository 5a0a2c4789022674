import { type FSWatcher, watch } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Sequencer } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import { DisposableObject, toDisposable } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { readSpool } from '../node/hookSpool.ts';
import { hookReportSchema } from '../protocol/hookReport.ts';
import { inEnglish } from '../protocol/issues.ts';
import type { StatePaths } from '../node/statePaths.ts';
import { hookEvent } from './hookIntake.ts';
import type { Clock, FleetPort } from './ports.ts';

/** What {@link SpoolDrain} works with. */
export interface SpoolDrainOptions {
  readonly fleet: FleetPort;
  readonly paths: StatePaths;
  readonly clock: Clock;
  readonly log: Log;
}

/** Notices of the file system can be missed; this is how long a report waits then. */
const everyMs = 60_000;

/** Takes in what hooks left while the gateway was away or slow: now, whenever the spool changes, and every minute. */
export class SpoolDrain extends DisposableObject {
  private readonly sequencer = new Sequencer();
  private waiting = false;
  private begin: () => void = () => undefined;
  /**
   * Resolves when all that waited at the start is folded in, on disk or not: whatever is told from then on is told to a
   * fleet that knows it. Never rejects.
   */
  readonly begun = new Promise<void>((resolve) => {
    this.begin = resolve;
  });

  constructor(private readonly options: SpoolDrainOptions) {
    super();
    const timer = setInterval(() => {
      this.drain();
    }, everyMs);
    this._register(
      toDisposable(() => {
        clearInterval(timer);
      }),
    );
    this.watch();
    this.drain();
  }

  private watch(): void {
    let watcher: FSWatcher;
    try {
      watcher = watch(this.options.paths.spool, () => {
        this.drain();
      });
    } catch (error) {
      this.options.log.warn('the spool cannot be watched; it is looked at every minute', { reason: messageOf(error) });
      return;
    }
    watcher.on('error', (error) => {
      this.options.log.warn('the watch of the spool ended; it is looked at every minute', { reason: messageOf(error) });
      watcher.close();
    });
    this._register(
      toDisposable(() => {
        watcher.close();
      }),
    );
  }

  /** One drain at a time; a wish that comes meanwhile is one more afterwards. */
  private drain(): void {
    if (this.waiting) return;
    this.waiting = true;
    void this.sequencer.run(async () => {
      this.waiting = false;
      try {
        await this.takeAll();
      } catch (error) {
        this.options.log.error('the spool cannot be drained', { reason: messageOf(error) });
      }
      this.begin();
    });
  }

  private async takeAll(): Promise<void> {
    const { fleet, paths, clock, log } = this.options;
    const spooled = await readSpool(paths, { parse: (value) => hookReportSchema.parse(value, inEnglish), log });
    if (spooled.length === 0) return;
    // They are in order, and stay so where a clock that was ahead wrote them: the last of them happened now at the latest.
    const soonest = clock() - spooled.length + 1;
    const written = spooled.map(({ agent, report }, index) => {
      return fleet.reportDurably(hookEvent(agent, { ...report, at: Math.min(report.at, soonest + index) }));
    });
    this.begin();
    await Promise.all(written);
    await Promise.all(spooled.map(({ path }) => rm(path, { force: true })));
    log.info('took in reports of hooks from the spool', { reports: spooled.length });
  }
}
