import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { Disposable } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { isSettled } from '../core/fleet/reducePrompts.ts';
import type { Agent } from '../core/fleet/agent.ts';
import { ensurePrivateDirectory, readTextFile, writeFileAtomic } from '../node/files.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { FleetService } from './fleetService.ts';

/** The texts of prompts until they are settled, one file of mode 0600 each, among the files of their agent. */
export class PromptStore {
  constructor(private readonly paths: Pick<StatePaths, 'agent'>) {}

  /** Resolves when the text is on disk; rejects with the system's error. */
  async save(name: string, promptId: string, text: string): Promise<void> {
    await ensurePrivateDirectory(this.paths.agent(name).prompts);
    await writeFileAtomic(this.file(name, promptId), text);
  }

  /** Rejects when there is none. */
  async text(name: string, promptId: string): Promise<string> {
    const text = await readTextFile(this.file(name, promptId));
    if (text === undefined) throw new Error('its file is gone');
    return text;
  }

  /** No text is kept longer than it is needed. None is no error. */
  async remove(name: string, promptId: string): Promise<void> {
    await rm(this.file(name, promptId), { force: true });
  }

  private file(name: string, promptId: string): string {
    return join(this.paths.agent(name).prompts, promptId);
  }
}

/** Removes the texts of prompts when they are settled. */
export function followPrompts(options: {
  readonly fleet: Pick<FleetService, 'state' | 'onEvent'>;
  readonly prompts: Pick<PromptStore, 'remove'>;
  readonly log: Log;
}): Disposable {
  const { fleet, prompts, log } = options;
  const removed = new Set<string>();
  const removeSettled = (agent: Agent): void => {
    for (const prompt of agent.prompts ?? []) {
      if (!isSettled(prompt) || removed.has(prompt.id)) continue;
      removed.add(prompt.id);
      prompts.remove(agent.name, prompt.id).catch((error: unknown) => {
        log.error('the text of a prompt cannot be removed', { agent: agent.name, reason: messageOf(error) });
      });
    }
  };
  for (const agent of Object.values(fleet.state.agents)) removeSettled(agent);
  return fleet.onEvent(({ event }) => {
    const isEnd =
      event.kind === 'prompt ended' ||
      (event.kind === 'transcript seen' && event.promptId !== undefined) ||
      (event.kind === 'hook reported' && event.hook.event === 'UserPromptSubmit');
    const agent = isEnd ? fleet.state.agents[event.name] : undefined;
    if (agent !== undefined) removeSettled(agent);
  });
}
