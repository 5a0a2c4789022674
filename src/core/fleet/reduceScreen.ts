import type { Reduction } from './agentUpdate.ts';
import type { FleetEvent } from './events.ts';
import type { Agent } from './agent.ts';
import type { RunningLaunch } from './life.ts';

type ScreenEvent = Extract<FleetEvent, { kind: 'look requested' | 'screen looked at' | `interrupt ${string}` }>;

/** Folds a look at a screen, or one step of an interrupt. What is about another launch changes nothing. */
export function reduceScreen(agent: Agent, event: ScreenEvent): Reduction {
  const { life } = agent;
  if (life.kind !== 'running' || life.running.launch.id !== event.launchId) return { agent };
  const { look, interrupt } = life.running;
  const { at } = event;
  switch (event.kind) {
    case 'look requested':
      return { agent: withRunning(agent, { ...life.running, look: { askedAt: at } }) };
    case 'screen looked at': {
      if (look?.askedAt !== event.askedAt || look.seen !== undefined) return { agent };
      const seen = { at, shows: event.shows };
      return { agent: withRunning(agent, { ...life.running, look: { ...look, seen } }) };
    }
    case 'interrupt requested':
      if (interrupt?.id === event.request.id) return { agent };
      return {
        agent: withRunning(agent, { ...life.running, interrupt: { ...event.request, at } }),
        timeline: [{ at, text: `interrupt asked for by ${event.request.by}` }],
      };
    case 'interrupt pressed':
      if (interrupt?.id !== event.interruptId || interrupt.pressedAt !== undefined) return { agent };
      return { agent: withRunning(agent, { ...life.running, interrupt: { ...interrupt, pressedAt: at } }) };
    case 'interrupt ended': {
      if (interrupt?.id !== event.interruptId || interrupt.ended !== undefined) return { agent };
      const { outcome, detail } = event;
      return {
        agent: withRunning(agent, { ...life.running, interrupt: { ...interrupt, ended: { at, outcome, detail } } }),
        timeline: [{ at, text: outcome === 'interrupted' ? 'turn interrupted' : `not interrupted: ${detail}` }],
      };
    }
  }
}

function withRunning(agent: Agent, running: RunningLaunch): Agent {
  return { ...agent, life: { kind: 'running', running } };
}
