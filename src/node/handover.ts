import { rm } from 'node:fs/promises';
import { readFileSync, unlinkSync } from 'node:fs';
import * as z from 'zod/mini';
import { isErrorWithCode, writeFileAtomic } from './files.ts';
import type { AgentPaths } from './statePaths.ts';

const handoverSchema = z.object({ format: z.literal(1), launchId: z.string(), text: z.string() });

/** Lays down what the new conversation of this launch is to be told; undefined: nothing, and nothing older either. */
export async function writeHandover(
  { handover }: Pick<AgentPaths, 'handover'>,
  launchId: string,
  text: string | undefined,
): Promise<void> {
  if (text === undefined) await rm(handover, { force: true });
  else await writeFileAtomic(handover, JSON.stringify({ format: 1, launchId, text }));
}

/** The text for the new conversation of this launch, once: it is gone from the disk before it is returned. */
export function takeHandover({ handover }: Pick<AgentPaths, 'handover'>, launchId: string): string | undefined {
  let file: string;
  try {
    file = readFileSync(handover, 'utf8');
  } catch (error) {
    if (isErrorWithCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  const parsed = handoverSchema.safeParse(JSON.parse(file));
  if (!parsed.success || parsed.data.launchId !== launchId) return undefined;
  unlinkSync(handover);
  return parsed.data.text;
}
