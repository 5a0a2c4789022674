import type { UnboundCause } from './health.ts';

/** What a person reads about a cause: what is wrong, and what to do next. */
export interface CauseText {
  readonly what: string;
  readonly nextStep: string;
  /** Whether a restart could help: configuration causes go to a person, never to a restart (spec, Healing ladder). */
  readonly mend: 'reconnect' | 'person';
}

const texts: Readonly<Record<UnboundCause, CauseText>> = {
  'name missing': {
    what: 'Requests arrive without the X-Agent-Name header.',
    nextStep: 'Restart the agent so that it gets its configuration file again.',
    mend: 'person',
  },
  'name blank': {
    what: 'The X-Agent-Name header is empty.',
    nextStep: 'Look for an empty variable in the MCP configuration, then restart the agent.',
    mend: 'person',
  },
  'name literal variable': {
    what: 'The X-Agent-Name header holds a variable that was never filled in.',
    nextStep: 'Set that variable in the environment of the agent, or restart the agent from Bowline.',
    mend: 'person',
  },
  'name malformed': {
    what: 'The X-Agent-Name header is not a valid name (spaces or other characters).',
    nextStep: 'Correct the name in the MCP configuration that sends it.',
    mend: 'person',
  },
  'name unknown': {
    what: 'The name in the X-Agent-Name header belongs to no agent.',
    nextStep: 'Create an agent of that name, or correct the name in the MCP configuration.',
    mend: 'person',
  },
  'key missing': {
    what: 'Requests carry the name but no key.',
    nextStep: 'Restart the agent from Bowline: its configuration file holds the key.',
    mend: 'person',
  },
  'key wrong': {
    what: 'Requests carry a key that is not valid (any more).',
    nextStep: 'Restart the agent from Bowline: it gets a configuration file with the right key.',
    mend: 'person',
  },
  'key of another agent': {
    what: 'Requests carry the key of another agent.',
    nextStep: 'Look for a copied MCP configuration file; each agent must use its own.',
    mend: 'person',
  },
  'launch stale': {
    what: 'A process of an earlier launch uses this name.',
    nextStep: 'End the other process, or restart the agent.',
    mend: 'person',
  },
  'server unknown': {
    what: 'Requests ask for an MCP server that Bowline does not serve to this agent.',
    nextStep: 'Correct the server name in the MCP configuration.',
    mend: 'person',
  },
  'two live launches': {
    what: 'Two processes run under this name.',
    nextStep: 'Stop the agent, end the other process, and start the agent again.',
    mend: 'person',
  },
  'trust dialog': {
    what: 'Claude asks whether it may trust the directory.',
    nextStep: 'Attach to the agent and answer the question.',
    mend: 'person',
  },
  'approval dialog': {
    what: 'Claude asks whether to use new MCP servers.',
    nextStep: 'Attach to the agent and answer the question.',
    mend: 'person',
  },
  'gateway was away': {
    what: 'The gateway was away for so long that the client gave up; its tools are gone without a word.',
    nextStep: 'Reconnect MCP; if that fails, restart the agent with resume.',
    mend: 'reconnect',
  },
  'client gave up': {
    what: 'The client dropped its connection and does not come back by itself.',
    nextStep: 'Reconnect MCP; if that fails, restart the agent with resume.',
    mend: 'reconnect',
  },
  'tools never listed': {
    what: 'The client connected but never asked for the tools.',
    nextStep: 'Reconnect MCP; if that fails, restart the agent with resume.',
    mend: 'reconnect',
  },
  'never connected': {
    what: 'No request of this launch was ever seen; the cause is unknown.',
    nextStep: 'Attach and look at /mcp; then Reconnect MCP, or restart the agent with resume.',
    mend: 'reconnect',
  },
};

/** The words for a cause. */
export function causeText(cause: UnboundCause): CauseText {
  return texts[cause];
}
