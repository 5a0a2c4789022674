import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';

const checksSchema = z.array(
  z.object({
    id: z.string(),
    status: z.enum(['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO']),
    errorMessage: z.optional(z.string()),
  }),
);

type Status = z.infer<typeof checksSchema>[number]['status'];

/** What a run said of one check; of one that was made several times, the worst. */
interface Outcome {
  readonly status: Status;
  readonly reason: string;
}

/** Outcomes of a run by `scenario/check`. */
export type Outcomes = ReadonlyMap<string, Outcome>;

const fromWorst: readonly Status[] = ['FAILURE', 'WARNING', 'SKIPPED', 'SUCCESS', 'INFO'];

/** Reads what the suite wrote below its `--output-dir`: `server-<scenario>-<time>/checks.json`. */
export async function readOutcomes(directory: string): Promise<Outcomes> {
  const outcomes = new Map<string, Outcome>();
  for (const folder of (await readdir(directory)).sort()) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder)?.[1] ?? folder;
    const checks = checksSchema.parse(JSON.parse(await readFile(join(directory, folder, 'checks.json'), 'utf8')));
    for (const { id, status, errorMessage: reason = '' } of checks) {
      const name = `${scenario}/${id}`;
      const former = outcomes.get(name)?.status ?? 'INFO';
      if (fromWorst.indexOf(status) <= fromWorst.indexOf(former)) outcomes.set(name, { status, reason });
    }
  }
  return outcomes;
}

/** Both columns. */
export interface Comparison {
  readonly lines: readonly string[];
  readonly passed: { readonly direct: number; readonly through: number };
  /** Checks that pass directly and not through the gateway. */
  readonly lost: readonly string[];
}

/** Lays two runs side by side; checks that only inform are left out. */
export function compare(direct: Outcomes, through: Outcomes): Comparison {
  const absent: Outcome = { status: 'INFO', reason: 'not made' };
  const rows = [...new Set([...direct.keys(), ...through.keys()])]
    .map((name) => ({ name, direct: direct.get(name) ?? absent, through: through.get(name) ?? absent }))
    .filter((row) => row.direct.status !== 'INFO' || row.through.status !== 'INFO');
  const width = Math.max(...rows.map(({ name }) => name.length), 0);
  const line = (...cells: [string, string, string]): string =>
    `${cells[0].padEnd(width)}  ${cells[1].padEnd(8)}  ${cells[2]}`.trimEnd();
  const lost = rows.filter((row) => row.direct.status === 'SUCCESS' && row.through.status !== 'SUCCESS');
  return {
    lines: [
      line('check', 'direct', 'through the gateway'),
      ...rows.flatMap(({ name, ...row }) => [
        line(name, row.direct.status, row.through.status),
        ...[row.direct, row.through].filter(({ reason }) => reason !== '').map(({ reason }) => `  ${reason}`),
      ]),
    ],
    passed: {
      direct: rows.filter((row) => row.direct.status === 'SUCCESS').length,
      through: rows.filter((row) => row.through.status === 'SUCCESS').length,
    },
    lost: lost.map(({ name, through: { status, reason } }) => `${name}: ${status} ${reason}`.trimEnd()),
  };
}
