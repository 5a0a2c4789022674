import { createHmac } from 'node:crypto';
import * as z from 'zod/mini';
import { readJsonFile, writeFileAtomic } from '../node/files.ts';
import type { RestartPlan } from '../protocol/restartPlan.ts';

type Environment = Readonly<Record<string, string>>;

/** Digests by variable, under the agent's key: without it they say nothing of the values. */
const digestsSchema = z.record(z.string(), z.string());
const fileSchema = z.object({
  launches: z.array(z.object({ launchId: z.string(), variables: digestsSchema })),
});

/** A launch that does not come up leaves the former one alive. */
const launchesKept = 3;

/** Differs in each launch. */
const launchVariable = 'BOWLINE_LAUNCH';

/** Keeps which variables a launch starts with, for {@link compareEnvironment}. */
export async function keepEnvironment(
  file: string,
  launch: { readonly launchId: string; readonly environment: Environment; readonly key: string },
): Promise<void> {
  const { launchId, environment, key } = launch;
  const former = (await readLaunches(file)).filter((one) => one.launchId !== launchId);
  const launches = [...former, { launchId, variables: digests(environment, key) }].slice(-launchesKept);
  await writeFileAtomic(file, `${JSON.stringify({ launches })}\n`);
}

/** The variables of a next launch against those that `launchId` was started with, by name. */
export async function compareEnvironment(
  file: string,
  next: { readonly launchId: string | undefined; readonly environment: Environment; readonly key: string },
): Promise<RestartPlan['environment']> {
  const now = digests(next.environment, next.key);
  const names = Object.keys(now).sort();
  const before = (await readLaunches(file)).find(({ launchId }) => launchId === next.launchId)?.variables;
  if (before === undefined) return { kind: 'nothing to compare', set: names };
  return {
    kind: 'compared',
    added: names.filter((name) => !Object.hasOwn(before, name)),
    changed: names.filter((name) => Object.hasOwn(before, name) && before[name] !== now[name]),
    removed: Object.keys(before)
      .filter((name) => !Object.hasOwn(now, name))
      .sort(),
  };
}

async function readLaunches(file: string): Promise<z.infer<typeof fileSchema>['launches']> {
  const reading = await readJsonFile(file, fileSchema);
  return reading.kind === 'ok' ? reading.value.launches : [];
}

function digests(environment: Environment, key: string): Record<string, string> {
  const entries = Object.entries(environment).filter(([name]) => name !== launchVariable);
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      createHmac('sha256', key).update(`${name}=${value}`).digest('base64url').slice(0, 16),
    ]),
  );
}
