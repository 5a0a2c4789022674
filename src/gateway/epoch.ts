import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Epoch } from '../core/fleet/state.ts';
import { readEndpointFile } from '../node/endpointFile.ts';
import { listJournals } from '../node/stateFiles.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { Endpoint } from '../protocol/endpointFile.ts';

/** What the run of the gateway before this one left behind. */
export interface FormerRun {
  readonly endpoint?: Endpoint;
  /** When it was last known to live: a living gateway touches its endpoint file. */
  readonly seenAt?: number;
}

/** Reads the former run. An endpoint file that cannot be used counts as none, its time all the same. */
export async function readFormerRun(paths: StatePaths): Promise<FormerRun> {
  const journals = await listJournals(paths);
  const written = [paths.endpoint, paths.state, ...journals.map(({ path }) => path)];
  const [reading, ...times] = await Promise.all([readEndpointFile(paths), ...written.map(changedAt)]);
  const seen = times.filter((time) => time !== undefined);
  return {
    ...(reading.kind === 'ok' && { endpoint: reading.endpoint }),
    ...(seen.length > 0 && { seenAt: Math.max(...seen) }),
  };
}

/** What a new run knows of itself; `portSince` is that of the former epoch. */
export interface NewRun {
  readonly holder: string;
  readonly port: number;
  readonly now: number;
  readonly portSince: number | undefined;
}

/** A new run. The port stayed open if the same holder held it for the former one. */
export function newEpoch(former: FormerRun, { holder, port, now, portSince }: NewRun): Epoch {
  const keptOpen = former.endpoint?.holder.instance === holder;
  const moved = former.endpoint !== undefined && former.endpoint.port !== port;
  const since = moved ? now : portSince;
  return {
    id: randomUUID(),
    startedAt: now,
    ...(former.seenAt !== undefined && { previousSeenAt: Math.min(Math.round(former.seenAt), now) }),
    port: keptOpen ? 'kept open' : 'was closed',
    ...(since !== undefined && { portSince: since }),
  };
}

async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return undefined; // there is none: the first run
  }
}
