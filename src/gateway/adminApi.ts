import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import { BowlineError, type ErrorCode, messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { promptViews } from '../core/fleet/promptView.ts';
import { type AgentRow, select } from '../core/fleet/select.ts';
import { approvalShape, type Command, commandSchema } from '../protocol/commands.ts';
import { configurationChangeSchema } from '../protocol/fleetState.ts';
import type { conversationListSchema } from '../protocol/conversations.ts';
import { firstIssue, inEnglish } from '../protocol/issues.ts';
import { promptIdSchema } from '../protocol/schema.ts';
import type { Environment } from '../node/environment.ts';
import type { foreignListSchema } from '../protocol/adoption.ts';
import type { Adoptions } from './adoptions.ts';
import type { Commands } from './commands.ts';
import type { EventStreams } from './eventStreams.ts';
import type { FleetService } from './fleetService.ts';
import { sendEmpty, sendError, sendJson } from './http/answers.ts';
import { readBody } from './http/body.ts';
import { bearerToken, equalSecrets } from './http/checks.ts';
import type { Clock } from './ports.ts';
import type { Restarts } from './restarts.ts';
import { conversationsFor } from './transcripts.ts';
import type { ServerCommands } from './upstream/serverCommands.ts';

/** What {@link AdminApi} works with. */
export interface AdminApiOptions {
  readonly fleet: FleetService;
  readonly commands: Commands;
  readonly restarts: Pick<Restarts, 'plan'>;
  readonly adoptions: Pick<Adoptions, 'list'>;
  readonly servers: Pick<ServerCommands, 'list'>;
  readonly events: EventStreams;
  /** Lets another installed version take over; see `HandOver.request`. */
  readonly handOver: (version: string) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  /** Of this process; tells where Claude keeps its files. */
  readonly environment: Environment;
  /** Bearer token of the endpoint file. */
  readonly token: string;
}

/** What names the caller in the audit: the API has one token for all scripts. */
const caller = 'admin API';
const largestBody = 1024 * 1024;

const statuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  'bad-request': 400,
  'name-invalid': 400,
  'directory-missing': 400,
  'unknown-agent': 404,
  'name-taken': 409,
  'not-running': 409,
  'already-running': 409,
  'guard-blocked': 409,
  'conversation-poisoned': 409,
  'conversation-in-use': 409,
  'conversation-ambiguous': 409,
  'launch-refused': 409,
  'definition-changed': 409,
  'takeover-refused': 409,
};

const restartSchema = z.object({
  mode: z._default(z.enum(['resume', 'fresh']), 'resume'),
  bypassGuard: z._default(z.boolean(), false),
  reason: z.exactOptional(z.string().check(z.maxLength(1_000))),
});
const planSchema = z.object({ mode: z._default(z.enum(['resume', 'fresh']), 'resume') });
const takeoverSchema = z.object({ version: z.string().check(z.maxLength(200)) });
const promptSchema = z.object({ text: z.string(), id: z.exactOptional(promptIdSchema) });
const interruptSchema = z.object({ id: z.exactOptional(promptIdSchema) });
const promptNameSchema = z.object({ id: promptIdSchema });
const saveSchema = z.object({
  mode: z._default(z.enum(['resume', 'fresh']), 'fresh'),
  id: z.exactOptional(promptIdSchema),
});
const resumeOtherSchema = z.object({ sessionId: z.string().check(z.maxLength(200)) });
const approveSchema = z.object(approvalShape);
const withdrawSchema = z.pick(approveSchema, { server: true });
const reconnectSchema = z.object({ server: z.string().check(z.maxLength(100)) });

/** The command that `POST /agents/<name>/<action>` asks for. */
type Action = (name: string, body: () => Promise<object>) => Command | Promise<Command>;

const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['start', (name) => ({ kind: 'start', name })],
  ['stop', (name) => ({ kind: 'stop', name })],
  [
    'interrupt',
    async (name, body) => ({ kind: 'interrupt', name, id: randomUUID(), ...readAs(interruptSchema, await body()) }),
  ],
  ['fork', (name) => ({ kind: 'fork', name })],
  ['approve-server', async (name, body) => ({ kind: 'approve server', name, ...readAs(approveSchema, await body()) })],
  [
    'withdraw-server',
    async (name, body) => ({ kind: 'withdraw server approval', name, ...readAs(withdrawSchema, await body()) }),
  ],
  ['resume-other', async (name, body) => ({ kind: 'resume other', name, ...readAs(resumeOtherSchema, await body()) })],
  ['keep-trying', (name) => ({ kind: 'keep trying', name })],
  ['verify', (name) => ({ kind: 'verify', name })],
  [
    'configure',
    async (name, body) => ({ kind: 'configure agent', name, change: readAs(configurationChangeSchema, await body()) }),
  ],
  ['heal', (name) => ({ kind: 'heal', names: [name] })],
  ['reconnect', async (name, body) => ({ kind: 'reconnect', name, ...readAs(reconnectSchema, await body()) })],
  [
    'reconnect-upstream',
    async (name, body) => ({ kind: 'reconnect upstream', name, ...readAs(reconnectSchema, await body()) }),
  ],
  [
    'restart',
    async (name, body) => {
      const { bypassGuard, ...rest } = readAs(restartSchema, await body());
      return { kind: 'restart', name, guard: bypassGuard ? 'bypass' : 'enforce', ...rest };
    },
  ],
  ['prompt', async (name, body) => ({ kind: 'prompt', name, id: randomUUID(), ...readAs(promptSchema, await body()) })],
  ['cancel-prompt', async (name, body) => ({ kind: 'cancel prompt', name, ...readAs(promptNameSchema, await body()) })],
  [
    'save-and-restart',
    async (name, body) => ({ kind: 'save and restart', name, id: randomUUID(), ...readAs(saveSchema, await body()) }),
  ],
  [
    'cancel-save-and-restart',
    async (name, body) => ({ kind: 'cancel save and restart', name, ...readAs(promptNameSchema, await body()) }),
  ],
]);

/** The command that a `POST` to this path asks for. */
const fleetActions: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['/host/resumed', { kind: 'host resumed' }],
  ['/stop-all', { kind: 'stop all' }],
  ['/restore-all', { kind: 'restore all' }],
  ['/cancel-restore', { kind: 'cancel restore' }],
]);

/** The HTTP API for scripts. Every route but `/health` wants the bearer token; errors are `{error: {code, sentence}}`. */
export class AdminApi {
  constructor(private readonly options: AdminApiOptions) {}

  /** Whether a request may use the API (also the stream of the windows). */
  authorizes(request: IncomingMessage): boolean {
    const token = bearerToken(request.headers.authorization);
    return token !== undefined && equalSecrets(token, this.options.token);
  }

  /** Answers a request whose edges are checked. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    try {
      await this.route(request, response, url);
    } catch (error) {
      if (error instanceof BowlineError) {
        sendError(response, statuses[error.code] ?? 500, error.code, error.message);
        return;
      }
      this.options.log.error('a request failed', { path: url.pathname, reason: messageOf(error) });
      sendError(response, 500, 'internal', `The gateway failed (${messageOf(error)}). Its log tells more.`);
    }
  }

  private async route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { fleet } = this.options;
    const { method = 'GET' } = request;
    if (url.pathname === '/health') {
      if (method !== 'GET') refuseMethod(response, 'GET');
      else sendJson(response, 200, { product: 'bowline', epoch: fleet.state.epoch?.id });
      return;
    }
    if (!this.authorizes(request)) {
      const sentence = 'The token is missing or wrong. It stands in endpoint.json of the state directory.';
      sendError(response, 401, 'unauthorized', sentence, { 'www-authenticate': 'Bearer' });
      return;
    }
    const [first, second, third, ...rest] = segmentsOf(url);
    if (first === 'agents' && second !== undefined && rest.length === 0) {
      await this.agentRoute(request, response, url, second, third);
    } else if (url.pathname === '/agents') {
      await this.agentsRoute(request, response, method);
    } else if (url.pathname === '/foreign') {
      await this.foreignRoute(request, response, method);
    } else if (url.pathname === '/events') {
      if (method !== 'GET') refuseMethod(response, 'GET');
      else this.options.events.serve(response);
    } else if (url.pathname === '/restore-plan') {
      if (method !== 'GET') refuseMethod(response, 'GET');
      else sendJson(response, 200, await this.options.commands.restores.plan());
    } else if (fleetActions.has(url.pathname)) {
      if (method !== 'POST') {
        refuseMethod(response, 'POST');
        return;
      }
      await this.execute(fleetActions.get(url.pathname));
      sendEmpty(response, 204);
    } else if (url.pathname === '/takeover') {
      if (method !== 'POST') {
        refuseMethod(response, 'POST');
        return;
      }
      const { version } = readAs(takeoverSchema, await bodyOf(request));
      await this.options.handOver(version);
      sendEmpty(response, 202);
    } else {
      sendError(response, 404, 'unknown-route', `The gateway has no ${url.pathname.slice(0, 200)}.`);
    }
  }

  private async agentsRoute(request: IncomingMessage, response: ServerResponse, method: string): Promise<void> {
    if (method === 'GET') {
      const { claudePath, healing } = this.options.fleet.state.settings;
      sendJson(response, 200, { agents: this.view().agents, settings: { claudePath, healing } });
    } else if (method === 'POST') {
      await this.execute({ ...(await bodyOf(request)), kind: 'create' });
      sendEmpty(response, 201);
    } else {
      refuseMethod(response, 'GET, POST');
    }
  }

  private async foreignRoute(request: IncomingMessage, response: ServerResponse, method: string): Promise<void> {
    if (method === 'GET') {
      const processes = [...(await this.options.adoptions.list())];
      sendJson(response, 200, { processes } satisfies z.infer<typeof foreignListSchema>);
    } else if (method === 'POST') {
      await this.execute({ ...(await bodyOf(request)), kind: 'adopt' });
      sendEmpty(response, 202);
    } else {
      refuseMethod(response, 'GET, POST');
    }
  }

  private async agentRoute(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    name: string,
    action: string | undefined,
  ): Promise<void> {
    const { fleet, clock } = this.options;
    const { method = 'GET' } = request;
    if (action === undefined) {
      if (method === 'GET') sendJson(response, 200, { view: this.requireAgent(name), agent: fleet.state.agents[name] });
      else if (method === 'DELETE') {
        await this.execute({ kind: 'remove', name });
        sendEmpty(response, 204);
      } else refuseMethod(response, 'GET, DELETE');
    } else if (action === 'prompt' && method === 'GET') {
      this.requireAgent(name);
      sendJson(response, 200, { prompts: promptViews(fleet.state, name, clock()) });
    } else if (action === 'plan') {
      if (method !== 'GET') refuseMethod(response, 'GET');
      else {
        this.requireAgent(name);
        const { mode } = readAs(planSchema, Object.fromEntries(url.searchParams));
        sendJson(response, 200, await this.options.restarts.plan(name, mode));
      }
    } else if (action === 'servers') {
      if (method !== 'GET') refuseMethod(response, 'GET');
      else sendJson(response, 200, await this.options.servers.list(this.requireAgent(name)));
    } else if (action === 'conversations') {
      if (method === 'GET') await this.sendConversations(response, name);
      else refuseMethod(response, 'GET');
    } else if (method !== 'POST') {
      refuseMethod(response, action === 'prompt' ? 'GET, POST' : 'POST');
    } else {
      const commandOf = actions.get(action);
      if (commandOf === undefined) {
        sendError(response, 404, 'unknown-route', `Agents have no action "${action.slice(0, 64)}".`);
        return;
      }
      const command = await commandOf(name, () => bodyOf(request));
      await this.execute(command);
      if ('id' in command && !action.startsWith('cancel')) sendJson(response, 202, { id: command.id });
      else sendEmpty(response, 204);
    }
  }

  private async sendConversations(response: ServerResponse, name: string): Promise<void> {
    this.requireAgent(name);
    const { fleet, environment } = this.options;
    const { state } = fleet;
    const agent = state.agents[name];
    const conversations = agent === undefined ? [] : await conversationsFor(state, agent, environment);
    sendJson(response, 200, { conversations } satisfies z.infer<typeof conversationListSchema>);
  }

  private requireAgent(name: string): AgentRow {
    const row = this.view().agents.find((one) => one.name === name);
    if (row === undefined) throw new BowlineError('unknown-agent', `No agent is named "${name.slice(0, 64)}".`);
    return row;
  }

  private async execute(command: unknown): Promise<void> {
    const known: Command = readAs(commandSchema, command);
    await this.options.commands.execute(known, caller);
  }

  private view(): ReturnType<typeof select> {
    return select(this.options.fleet.state, { kind: 'connected' }, this.options.clock());
  }
}

/** The path in its parts, decoded; a part that cannot be decoded stays as it is. */
function segmentsOf(url: URL): string[] {
  return url.pathname
    .split('/')
    .slice(1)
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

async function bodyOf(request: IncomingMessage): Promise<object> {
  const reading = await readBody(request, { limit: largestBody });
  if (reading.kind === 'too large') {
    throw new BowlineError('bad-request', `The body is larger than ${largestBody} bytes.`);
  }
  if (reading.kind === 'aborted') throw new BowlineError('cancelled', 'The request was broken off.');
  if (reading.body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(reading.body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // answered below
  }
  throw new BowlineError('bad-request', 'The body is not a JSON object.');
}

function readAs<T>(schema: z.ZodMiniType<T>, value: unknown): T {
  const parsed = schema.safeParse(value, inEnglish);
  if (parsed.success) return parsed.data;
  throw new BowlineError('bad-request', `The request is not understood (${firstIssue(parsed.error, 'body')}).`);
}

function refuseMethod(response: ServerResponse, allow: string): void {
  sendError(response, 405, 'method-not-allowed', `Only ${allow} is served here.`, { allow });
}
