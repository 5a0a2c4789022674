import { bindingHealth } from '../binding/health.ts';
import { promptWaitsFor } from './planPrompts.ts';
import { enabledServers, type PromptRecord, type PromptState } from './agent.ts';
import { type FleetState, agentOf } from './state.ts';

/** A prompt as its sender sees it. */
export interface PromptView {
  readonly id: string;
  readonly requestedAt: number;
  readonly by: string;
  readonly characters: number;
  readonly state: PromptState['kind'];
  /** Queued only: what it waits for; absent: its turn has come. */
  readonly waitsFor?: string;
  /** Of `typed`, `received`, `unknown` and `failed`. */
  readonly at?: number;
  /** Of `unknown` and `failed`: a sentence for the person. */
  readonly detail?: string;
}

/** The prompts of an agent, oldest first; none for an unknown agent. */
export function promptViews(
  state: Pick<FleetState, 'agents' | 'epoch'>,
  name: string,
  now: number,
): readonly PromptView[] {
  const agent = agentOf(state, name);
  if (agent?.prompts === undefined) return [];
  const healths = enabledServers(agent).map((server) => bindingHealth(agent, server, state.epoch, now));
  return agent.prompts.map((prompt) => view(prompt, promptWaitsFor(agent, prompt, healths)));
}

function view({ id, requestedAt, by, characters, state }: PromptRecord, waitsFor: string | undefined): PromptView {
  return {
    ...{ id, requestedAt, by, characters },
    state: state.kind,
    ...(waitsFor !== undefined && { waitsFor }),
    ...('at' in state && { at: state.at }),
    ...('detail' in state && { detail: state.detail }),
  };
}
