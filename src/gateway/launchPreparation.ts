import { handoverText } from '../core/fleet/manifest.ts';
import type { Agent } from '../core/fleet/agent.ts';
import type { Launch } from '../core/fleet/life.ts';
import { writeHandover } from '../node/handover.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { HandsTask } from '../protocol/stream.ts';
import type { ContextStore } from './contexts.ts';
import type { LaunchFiles } from './launchFiles.ts';
import type { Clock } from './ports.ts';

/** What {@link prepareLaunch} works with. */
export interface LaunchPreparation {
  readonly files: Pick<LaunchFiles, 'prepare'>;
  readonly contexts: Pick<ContextStore, 'load'>;
  readonly paths: StatePaths;
  readonly clock: Clock;
  /** Resolves when the endpoint file names this gateway; rejects with why it does not. */
  readonly published: () => Promise<void>;
}

/**
 * Everything that a launch needs before it may start: an endpoint file by which its hooks find this gateway, its own
 * files with name and key, and for a fresh one what it is told of the conversation before. Rejects, and nothing is
 * started, if one of them cannot be had.
 */
export async function prepareLaunch(parts: LaunchPreparation, agent: Agent, launch: Launch): Promise<HandsTask> {
  await parts.published();
  const task = await parts.files.prepare(agent, launch);
  const text = launch.mode === 'fresh' ? await textFor(parts, agent) : undefined;
  await writeHandover(parts.paths.agent(agent.name), launch.id, text);
  return task;
}

/** A damaged context is told by `load_my_context`, and holds no launch up. */
async function textFor({ contexts, clock }: LaunchPreparation, agent: Agent): Promise<string | undefined> {
  const reading = agent.savedContext === undefined ? undefined : await contexts.load(agent.name);
  return handoverText(agent, reading?.kind === 'found' ? reading.saved : undefined, clock());
}
