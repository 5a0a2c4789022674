import { copyFile, link, readdir, rename, rm } from 'node:fs/promises';
import * as z from 'zod/mini';
import { BowlineError, messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { agentNamePattern } from '../core/fleet/names.ts';
import { emptyFleet, type FleetState, type Notice } from '../core/fleet/state.ts';
import { type JsonFile, quarantine, readJsonFile, writeFileAtomic } from '../node/files.ts';
import type { StatePaths } from '../node/statePaths.ts';
import { fleetStateSchema } from '../protocol/fleetState.ts';

/** The state as the last run of the gateway left it, and what a person should know about how it was found. */
export interface LoadedState {
  readonly state: FleetState;
  readonly notices: readonly Omit<Notice, 'at'>[];
}

const formatSchema = z.object({ format: z.number() });

/** Where the state before the last one is kept. */
export function previousStatePath(paths: StatePaths): string {
  return `${paths.state}.previous`;
}

/**
 * Reads the state file. A damaged one is put aside (quarantined) and the one before it is used; what neither holds whole is
 * picked out agent by agent. Nothing of this is silent: the notices tell it.
 * Rejects with `state-unreadable` when a newer Bowline wrote the file, or when it cannot be read (EACCES ...).
 */
export async function loadState(paths: StatePaths, log: Log): Promise<LoadedState> {
  const reading = await read(paths.state);
  if (reading.kind === 'ok') return { state: reading.value, notices: [] };
  const former = await read(previousStatePath(paths));
  if (reading.kind === 'missing') {
    if (former.kind !== 'ok') return { state: emptyFleet, notices: await lossNotices(paths) };
    log.warn('the state file is missing; using the one before it');
    const sentence = 'The state file was missing. Bowline uses the one before it; the latest changes are lost.';
    return { state: former.value, notices: [{ code: 'state-missing', sentence, severity: 'warning' }] };
  }
  const kept = await quarantine(paths.state);
  log.error('the state file is damaged', { reason: reading.reason, kept });
  const notice = (sentence: string): LoadedState['notices'] => [
    {
      code: 'state-damaged',
      sentence: `The state file was damaged (${reading.reason}) and is kept as ${kept}. ${sentence}`.slice(0, 4000),
      severity: 'error',
    },
  ];
  if (former.kind === 'ok') {
    return {
      state: former.value,
      notices: notice('Bowline uses the state before it; check the agents that changed last.'),
    };
  }
  const picked = pick(reading.value) ?? (former.kind === 'damaged' ? pick(former.value) : undefined);
  if (picked === undefined) {
    return {
      state: emptyFleet,
      notices: notice('No earlier state can be read. What runs goes on and is not touched: create the agents again.'),
    };
  }
  log.warn('picked what is whole out of a damaged state', { dropped: picked.dropped });
  return {
    state: picked.state,
    notices: notice(`What could be read is used; ${picked.dropped} damaged parts are missing.`),
  };
}

/** Nothing at the first start; where agents have files, their record was lost, and an empty fleet must say so. */
async function lossNotices(paths: StatePaths): Promise<LoadedState['notices']> {
  const names = (await readdir(paths.agents).catch(() => [])).filter((name) => agentNamePattern.test(name)).sort();
  if (names.length === 0) return [];
  const shown = names.slice(0, 20).join(', ') + (names.length > 20 ? ', ...' : '');
  const sentence =
    'The state file and the one before it are gone, so Bowline has no record of its agents. ' +
    `Files of ${shown} are still there. What runs goes on and is not touched: create the agents again; ` +
    'where one still runs, Bowline says how to reach it.';
  return [{ code: 'state-missing', sentence, severity: 'error' }];
}

/** Replaces the state file durably and keeps the one that it replaces. */
export async function saveState(paths: StatePaths, state: FleetState): Promise<void> {
  const text = `${JSON.stringify(state)}\n`;
  await keepPrevious(paths);
  await writeFileAtomic(paths.state, text);
}

async function keepPrevious(paths: StatePaths): Promise<void> {
  const temporary = `${previousStatePath(paths)}.tmp`;
  await rm(temporary, { force: true });
  try {
    await link(paths.state, temporary);
  } catch (error) {
    if (isMissing(error)) return;
    await copyFile(paths.state, temporary); // a file system without hard links
  }
  await rename(temporary, previousStatePath(paths));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

async function read(path: string): Promise<JsonFile<FleetState>> {
  try {
    return await readJsonFile(path, fleetStateSchema, (value) => {
      refuseNewer(path, value);
    });
  } catch (error) {
    if (error instanceof BowlineError) throw error;
    throw new BowlineError(
      'state-unreadable',
      `Bowline cannot read ${path} (${messageOf(error)}). Make it readable for this user and try again.`,
      { cause: error },
    );
  }
}

function refuseNewer(path: string, value: unknown): void {
  const reading = formatSchema.safeParse(value);
  if (!reading.success || reading.data.format <= emptyFleet.format) return;
  throw new BowlineError(
    'state-unreadable',
    `${path} was written by a newer Bowline (format ${reading.data.format}, this one knows ${emptyFleet.format}). ` +
      'Update Bowline; nothing was changed.',
  );
}

const looseSchema = z.object({
  settings: z.unknown(),
  agents: z.record(z.string(), z.unknown()),
  audit: z.catch(z.array(z.unknown()), []),
});

/** Takes agents, settings and audit records that are whole; drops the rest, counted. Undefined: no agent can be told. */
function pick(value: unknown): { readonly state: FleetState; readonly dropped: number } | undefined {
  const loose = looseSchema.safeParse(value);
  if (!loose.success) return undefined;
  let state: FleetState = emptyFleet;
  let dropped = 0;
  const take = (candidate: object): void => {
    const parsed = fleetStateSchema.safeParse(candidate);
    if (parsed.success) state = parsed.data;
    else dropped++;
  };
  take({ ...state, settings: loose.data.settings });
  for (const [name, agent] of Object.entries(loose.data.agents)) {
    take({ ...state, agents: { ...state.agents, [name]: agent } });
  }
  for (const record of loose.data.audit) take({ ...state, audit: [...state.audit, record] });
  return { state, dropped };
}
