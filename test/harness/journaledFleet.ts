import { silentLog } from '../../src/base/log.ts';
import type { FleetEvent } from '../../src/core/fleet/events.ts';
import { reduce } from '../../src/core/fleet/reduce.ts';
import { emptyFleet, type FleetState } from '../../src/core/fleet/state.ts';
import { StateJournal, type StateJournalOptions } from '../../src/gateway/stateJournal.ts';
import { type LoadedState, loadState } from '../../src/gateway/stateStore.ts';
import { readState } from '../../src/node/stateFiles.ts';
import type { StatePaths } from '../../src/node/statePaths.ts';

/** A fleet whose events go to a real journal, without a gateway around it. */
export class JournaledFleet {
  state: FleetState;
  sequence: number;

  private constructor(
    readonly loaded: LoadedState,
    readonly journal: StateJournal,
  ) {
    ({ state: this.state, sequence: this.sequence } = loaded);
  }

  static async open(
    paths: StatePaths,
    options: Omit<Partial<StateJournalOptions>, 'loaded' | 'paths'> = {},
  ): Promise<JournaledFleet> {
    const log = options.log ?? silentLog;
    const loaded = await loadState(paths, log);
    return new JournaledFleet(loaded, await StateJournal.open({ ...options, paths, log, loaded }));
  }

  report(...events: readonly FleetEvent[]): void {
    for (const event of events) {
      const next = reduce(this.state, event);
      if (next === this.state) throw new Error(`${event.kind} changes nothing`);
      this.state = next;
      this.sequence += 1;
      this.journal.add({ sequence: this.sequence, event }, next);
    }
  }

  commit(...events: readonly FleetEvent[]): Promise<void> {
    this.report(...events);
    return this.journal.commit();
  }
}

export function created(name: string, at = 1): FleetEvent {
  const configuration = { directory: '/d', extraArguments: [], environment: {}, servers: {} };
  return { at, kind: 'agent created', name, configuration };
}

/** What the files hold; an empty fleet when there is none that is whole. */
export async function fleetOnDisk(paths: StatePaths): Promise<FleetState> {
  const reading = await readState(paths);
  return reading.kind === 'ok' ? reading.state : emptyFleet;
}
