import * as z from 'zod/mini';
import { launchArguments } from '../core/claude/launchArguments.ts';
import { shellLine } from '../core/claude/shellLine.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { Memory } from './memory.ts';

/** What Claude is started with where the person does not leave it to Claude. */
export interface LaunchChoices {
  readonly model?: string;
  readonly permissionMode?: string;
}

/** What a person chose for the last agents. */
export interface NewAgentChoices extends LaunchChoices {
  /** Absolute paths, the last one first. */
  readonly directories: readonly string[];
}

const key = 'newAgentChoices';
const directoriesKept = 5;
const choicesSchema = z.catch(
  z.object({
    directories: z.array(z.string()),
    model: z.exactOptional(z.string()),
    permissionMode: z.exactOptional(z.string()),
  }),
  { directories: [] },
);

/** What was remembered; whatever cannot be read counts as nothing. */
export function rememberedChoices(memory: Memory): NewAgentChoices {
  return choicesSchema.parse(memory.get(key));
}

export async function rememberChoices(memory: Memory, directory: string, launch: LaunchChoices): Promise<void> {
  const others = rememberedChoices(memory).directories.filter((one) => one !== directory);
  await memory.update(key, { ...launch, directories: [directory, ...others].slice(0, directoriesKept) });
}

/** The first launch of an agent as one line of a shell. Its variables and key are in no argument. */
export function launchPreview(
  name: string,
  launch: LaunchChoices,
  { paths, claudePath }: { readonly paths: Pick<StatePaths, 'agent'>; readonly claudePath: string },
): string {
  const { settings: settingsFile, mcpConfig: mcpConfigFile } = paths.agent(name);
  const conversation = { mode: 'fresh' } as const;
  const words = launchArguments({ ...launch, conversation, settingsFile, mcpConfigFile, extraArguments: [] });
  return shellLine([claudePath, ...words]);
}

/** For example `opus, plan`. */
export function launchWords({ model, permissionMode }: LaunchChoices): string {
  const words = [model, permissionMode].filter((word) => word !== undefined);
  return words.length === 0 ? 'as Claude chooses' : words.join(', ');
}
