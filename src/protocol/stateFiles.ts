import * as z from 'zod/mini';
import { fleetStateSchema } from './fleetState.ts';

/**
 * Version of the files that hold the state. 1: the state file is the state, without a journal. 2: the state file says
 * which event it goes up to, journals hold the events after it, and both have checksums.
 */
export const stateFilesFormat = 2;

/** What each format needs to become the next one. */
const migrations: Readonly<Record<number, (file: object) => object>> = {
  1: (state) => ({ format: 2, sequence: 0, state }),
};

/** A state file: a snapshot, with the number of the last event in it. The checksum comes last in its text. */
export const snapshotSchema = z.object({
  format: z.literal(stateFilesFormat),
  sequence: z.int().check(z.nonnegative()),
  state: fleetStateSchema,
  checksum: z.exactOptional(z.string()),
});

const formatSchema = z.looseObject({ format: z.int() });

/** The format that a file says it has; undefined: it says none. */
export function formatOf(value: unknown): number | undefined {
  return formatSchema.safeParse(value).data?.format;
}

/** What a state file of any known format holds, in the present one. What is none stays as it is. */
export function migrated(value: unknown): unknown {
  const parsed = formatSchema.safeParse(value);
  const migrate = parsed.success ? migrations[parsed.data.format] : undefined;
  return parsed.success && migrate !== undefined ? migrated(migrate(parsed.data)) : value;
}
