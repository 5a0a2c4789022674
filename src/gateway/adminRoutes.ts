import type { ServerResponse } from 'node:http';
import type * as z from 'zod/mini';
import { BowlineError } from '../base/errors.ts';
import { promptViews } from '../core/fleet/promptView.ts';
import { type AgentRow, select } from '../core/fleet/select.ts';
import type { Environment } from '../node/environment.ts';
import type { foreignListSchema } from '../protocol/adoption.ts';
import { type Command, commandSchema } from '../protocol/commands.ts';
import type { conversationListSchema } from '../protocol/conversations.ts';
import { type Action, agentActions, fleetActions, planSchema, readAs, takeoverSchema } from './adminActions.ts';
import type { Adoptions } from './adoptions.ts';
import type { Commands } from './commands.ts';
import type { EventStreams } from './eventStreams.ts';
import type { FleetService } from './fleetService.ts';
import { sendEmpty, sendJson } from './http/answers.ts';
import type { Clock } from './ports.ts';
import type { Restarts } from './restarts.ts';
import { conversationsFor } from './transcripts.ts';
import type { ServerCommands } from './upstream/serverCommands.ts';

/** What the routes of the admin API act on. */
export interface AdminParts {
  readonly fleet: FleetService;
  readonly commands: Commands;
  readonly restarts: Pick<Restarts, 'plan'>;
  readonly adoptions: Pick<Adoptions, 'list'>;
  readonly servers: Pick<ServerCommands, 'list'>;
  readonly events: EventStreams;
  /** Lets another installed version take over; see `HandOver.request`. */
  readonly handOver: (version: string) => Promise<void>;
  readonly clock: Clock;
  /** Of this process; tells where Claude keeps its files. */
  readonly environment: Environment;
}

/** An authorized request for a route. */
export interface AdminCall {
  /** What stands for `<name>` in the path; empty where the path has none. */
  readonly name: string;
  readonly query: URLSearchParams;
  /** The body, a JSON object, read on first use; empty where there is none. Throws `bad-request` or `too-large`. */
  readonly body: () => Promise<object>;
  readonly response: ServerResponse;
}

export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `<name>` stands for one part of a path. */
  readonly path: string;
  /** Answers, or throws a `BowlineError`. */
  readonly answer: (parts: AdminParts, call: AdminCall) => Promise<void> | void;
}

/** What names the caller in the audit: the API has one token for all scripts. */
const caller = 'admin API';

/** All of the API but `/health`, which anybody may ask. The page `docs/admin-api.md` tells each. */
export const adminRoutes: readonly AdminRoute[] = [
  {
    method: 'GET',
    path: '/agents',
    answer: (parts, { response }) => {
      const { claudePath, healing } = parts.fleet.state.settings;
      sendJson(response, 200, { agents: rows(parts), settings: { claudePath, healing } });
    },
  },
  {
    method: 'POST',
    path: '/agents',
    answer: async (parts, { response, body }) => {
      await execute(parts, { ...(await body()), kind: 'create' });
      sendEmpty(response, 201);
    },
  },
  {
    method: 'GET',
    path: '/agents/<name>',
    answer: (parts, { response, name }) => {
      sendJson(response, 200, { view: rowOf(parts, name), agent: parts.fleet.state.agents[name] });
    },
  },
  {
    method: 'DELETE',
    path: '/agents/<name>',
    answer: async (parts, { response, name }) => {
      await execute(parts, { kind: 'remove', name });
      sendEmpty(response, 204);
    },
  },
  {
    method: 'GET',
    path: '/agents/<name>/prompt',
    answer: (parts, { response, name }) => {
      rowOf(parts, name);
      sendJson(response, 200, { prompts: promptViews(parts.fleet.state, name, parts.clock()) });
    },
  },
  {
    method: 'GET',
    path: '/agents/<name>/plan',
    answer: async (parts, { response, name, query }) => {
      rowOf(parts, name);
      const { mode } = readAs(planSchema, Object.fromEntries(query));
      sendJson(response, 200, await parts.restarts.plan(name, mode));
    },
  },
  {
    method: 'GET',
    path: '/agents/<name>/servers',
    answer: async (parts, { response, name }) => {
      sendJson(response, 200, await parts.servers.list(rowOf(parts, name)));
    },
  },
  { method: 'GET', path: '/agents/<name>/conversations', answer: sendConversations },
  ...[...agentActions].map(([action, commandOf]): AdminRoute => agentAction(action, commandOf)),
  {
    method: 'GET',
    path: '/foreign',
    answer: async ({ adoptions }, { response }) => {
      const processes = [...(await adoptions.list())];
      sendJson(response, 200, { processes } satisfies z.infer<typeof foreignListSchema>);
    },
  },
  {
    method: 'POST',
    path: '/foreign',
    answer: async (parts, { response, body }) => {
      await execute(parts, { ...(await body()), kind: 'adopt' });
      sendEmpty(response, 202);
    },
  },
  {
    method: 'GET',
    path: '/events',
    answer: ({ events }, { response }) => {
      events.serve(response);
    },
  },
  {
    method: 'GET',
    path: '/restore-plan',
    answer: async ({ commands }, { response }) => {
      sendJson(response, 200, await commands.restores.plan());
    },
  },
  ...[...fleetActions].map(([path, command]): AdminRoute => ({
    method: 'POST',
    path,
    answer: async (parts, { response }) => {
      await execute(parts, command);
      sendEmpty(response, 204);
    },
  })),
  {
    method: 'POST',
    path: '/takeover',
    answer: async ({ handOver }, { response, body }) => {
      const { version } = readAs(takeoverSchema, await body());
      await handOver(version);
      sendEmpty(response, 202);
    },
  },
];

/** 202 with the id where something goes on under one, else 204. */
function agentAction(action: string, commandOf: Action): AdminRoute {
  return {
    method: 'POST',
    path: `/agents/<name>/${action}`,
    answer: async (parts, { response, name, body }) => {
      const command = await commandOf(name, body);
      await execute(parts, command);
      if ('id' in command && !action.startsWith('cancel')) sendJson(response, 202, { id: command.id });
      else sendEmpty(response, 204);
    },
  };
}

async function sendConversations(parts: AdminParts, { response, name }: AdminCall): Promise<void> {
  rowOf(parts, name);
  const { state } = parts.fleet;
  const agent = state.agents[name];
  const conversations = agent === undefined ? [] : await conversationsFor(state, agent, parts.environment);
  sendJson(response, 200, { conversations } satisfies z.infer<typeof conversationListSchema>);
}

async function execute({ commands }: AdminParts, command: unknown): Promise<void> {
  const known: Command = readAs(commandSchema, command);
  await commands.execute(known, caller);
}

function rows({ fleet, clock }: AdminParts): readonly AgentRow[] {
  return select(fleet.state, { kind: 'connected' }, clock()).agents;
}

function rowOf(parts: AdminParts, name: string): AgentRow {
  const row = rows(parts).find((one) => one.name === name);
  if (row === undefined) throw new BowlineError('unknown-agent', `No agent is named "${name.slice(0, 64)}".`);
  return row;
}
