import * as z from 'zod/mini';
import type { FleetState } from '../core/fleet/state.ts';
import { hookFactSchema } from './hookFact.ts';
import { type Exactly, nameSchema, promptIdSchema, textSchema, timeSchema } from './schema.ts';

const optional = z.exactOptional;
const count = z.int().check(z.nonnegative());

export const epochSchema = z.object({
  id: z.string(),
  startedAt: timeSchema,
  previousSeenAt: optional(timeSchema),
  port: z.enum(['kept open', 'was closed']),
  portSince: optional(timeSchema),
});

const healingPolicySchema = z.enum(['auto', 'auto to reconnect', 'auto to resume', 'ask', 'off']);
const environmentSchema = z.record(z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)), z.string());

/** A week at most. */
const idleMinutesSchema = z.number().check(z.nonnegative(), z.maximum(10_080));

const wordSchema = z.string().check(z.minLength(1), z.maxLength(200));

const failedResumeSchema = z.enum(['ask', 'fresh']);

const switchSchema = z.enum(['on', 'off']);

export const settingsSchema = z.object({
  claudePath: z.string().check(z.minLength(1)),
  environment: environmentSchema,
  healing: healingPolicySchema,
  tmuxPath: optional(z.string().check(z.minLength(1))),
  handsWithoutWindow: optional(switchSchema),
  failedResume: optional(failedResumeSchema),
  idleMinutes: optional(idleMinutesSchema),
  guardError: optional(z.enum(['block', 'allow'])),
  messaging: optional(switchSchema),
  memory: optional(switchSchema),
  mcpServers: optional(z.record(z.string(), z.unknown())),
  mcpServersThroughGateway: optional(switchSchema),
});

export const noticeSchema = z.object({
  at: timeSchema,
  code: z.string(),
  sentence: textSchema,
  severity: z.enum(['info', 'warning', 'error']),
  agent: optional(z.string()),
});

const launchModeSchema = z.enum(['fresh', 'resume']);

export const guardBypassSchema = z.object({
  at: timeSchema,
  agent: z.string(),
  action: z.literal('guard bypassed'),
  mode: launchModeSchema,
  by: z.string(),
  verdict: z.string(),
  reason: textSchema,
});

const lifeKinds = ['stopped', 'launching', 'running', 'stopping', 'sleeping', 'blocked', 'dead'] as const;

const auditSchema = z.discriminatedUnion('action', [
  guardBypassSchema,
  z.object({
    at: timeSchema,
    agent: z.string(),
    action: z.literal('life'),
    from: z.enum(['none', ...lifeKinds]),
    to: z.enum([...lifeKinds, 'removed']),
    trigger: z.string(),
    by: optional(z.string()),
    detail: optional(z.string()),
  }),
  z.object({
    at: timeSchema,
    agent: z.string(),
    action: z.literal('deed'),
    what: z.string(),
    by: z.string(),
    detail: optional(z.string()),
  }),
]);

export const configurationSchema = z.object({
  directory: z.string().check(z.startsWith('/')),
  model: optional(z.string()),
  permissionMode: optional(z.string()),
  extraArguments: z.array(z.string()),
  environment: environmentSchema,
  servers: z.record(z.string(), switchSchema),
  healing: optional(healingPolicySchema),
  failedResume: optional(failedResumeSchema),
  idleMinutes: optional(idleMinutesSchema),
  addedDirectories: optional(z.array(z.string())),
  effort: optional(z.string()),
  systemPrompt: optional(z.string()),
  aroundBowline: optional(z.array(z.string())),
});

/**
 * Changes of an agent's configuration; `null`: as the fleet has it, or as Claude chooses. Servers that are not named stay
 * as they are.
 */
export const configurationChangeSchema = z.object({
  model: optional(z.nullable(wordSchema)),
  permissionMode: optional(z.nullable(wordSchema)),
  effort: optional(z.nullable(wordSchema)),
  systemPrompt: optional(z.nullable(z.string().check(z.maxLength(20_000)))),
  addedDirectories: optional(z.array(z.string().check(z.maxLength(4_096))).check(z.maxLength(100))),
  extraArguments: optional(z.array(z.string().check(z.maxLength(4_096))).check(z.maxLength(100))),
  environment: optional(environmentSchema),
  healing: optional(z.nullable(healingPolicySchema)),
  failedResume: optional(z.nullable(failedResumeSchema)),
  idleMinutes: optional(z.nullable(idleMinutesSchema)),
  servers: optional(z.record(z.string(), switchSchema)),
  aroundBowline: optional(z.array(z.string().check(z.maxLength(200))).check(z.maxLength(200))),
});

export type ConfigurationChange = z.infer<typeof configurationChangeSchema>;

export const launchSchema = z.object({
  id: z.string(),
  mode: launchModeSchema,
  expectedSessionId: optional(z.string()),
  forkOf: optional(z.string()),
  requestedAt: timeSchema,
  cause: z.enum(['person', 'healing', 'wake', 'configuration', 'restore']),
  restoration: optional(z.string()),
  guard: optional(z.literal('bypassed')),
});

export const endReasonSchema = z.enum(['idle', 'replaced', 'released', 'shutdown', 'crashed', 'killed', 'host gone']);
export const dialogSchema = z.enum(['trust', 'mcp-approval', 'permission', 'login', 'other']);
export const activityKindSchema = z.enum(['idle', 'busy', 'waiting for permission', 'waiting for input', 'unknown']);

export const processSchema = z.object({
  tmuxSession: z.string(),
  pane: z.string(),
  pid: z.int().check(z.positive()),
});

export const screenShowsSchema = z.enum(['empty input', 'unsent input', 'permission', 'dialog', 'unknown']);
export const interruptOutcomeSchema = z.enum(['interrupted', 'no effect']);

const lookSchema = z.object({
  askedAt: timeSchema,
  seen: optional(z.object({ at: timeSchema, shows: screenShowsSchema })),
});

const interruptSchema = z.object({
  id: z.string(),
  at: timeSchema,
  turnSince: timeSchema,
  by: z.string(),
  pressedAt: optional(timeSchema),
  ended: optional(z.object({ at: timeSchema, outcome: interruptOutcomeSchema, detail: z.string() })),
});

const otherStartSchema = z.object({ sessionId: z.string(), transcript: z.enum(['there', 'missing']) });

const runningSchema = z.object({
  launch: launchSchema,
  process: processSchema,
  startedAt: timeSchema,
  confirmedAt: optional(timeSchema),
  otherStart: optional(otherStartSchema),
  verifiedAt: optional(timeSchema),
  unverified: optional(z.object({ at: timeSchema, detail: z.string() })),
  awake: optional(z.object({ at: timeSchema, detail: z.string() })),
  shared: optional(z.object({ at: timeSchema, pid: z.int() })),
  doubled: optional(z.object({ at: timeSchema, pid: z.int(), startTime: z.string() })),
  hooks: optional(z.object({ checkedAt: timeSchema, silentSince: optional(timeSchema) })),
  program: optional(z.enum(['replaced', 'gone'])),
  dialog: optional(dialogSchema),
  look: optional(lookSchema),
  interrupt: optional(interruptSchema),
});

const lifeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('stopped'), at: timeSchema, detail: optional(z.string()) }),
  z.object({
    kind: z.literal('launching'),
    launch: launchSchema,
    confirmedAt: optional(timeSchema),
    ending: optional(runningSchema),
    otherStart: optional(otherStartSchema),
    waits: optional(z.string()),
  }),
  z.object({ kind: z.literal('running'), running: runningSchema }),
  z.object({
    kind: z.literal('stopping'),
    launch: launchSchema,
    ending: optional(runningSchema),
    running: optional(runningSchema),
    reason: endReasonSchema,
    then: z.enum(['keep', 'remove']),
    failed: optional(z.string()),
  }),
  z.object({ kind: z.literal('sleeping'), at: timeSchema }),
  z.object({
    kind: z.literal('blocked'),
    at: timeSchema,
    reason: z.enum([
      'resume failed',
      'login needed',
      'launch refused',
      'configuration error',
      'conversation poisoned',
      'conversation in use',
    ]),
    detail: z.string(),
  }),
  z.object({
    kind: z.literal('dead'),
    at: timeSchema,
    reason: z.enum(['crashed', 'crash loop', 'healing failed', 'binary missing']),
    detail: z.string(),
  }),
]);

const activitySchema = z.object({
  kind: activityKindSchema,
  since: timeSchema,
  source: z.enum(['none', 'hook', 'live-session file']),
  lastWorkAt: optional(timeSchema),
});

const sessionSchema = z.object({
  id: z.string(),
  launchId: z.string(),
  cause: z.string(),
  since: timeSchema,
  reportedAt: timeSchema,
  transcriptPath: optional(z.string()),
  prompted: z.boolean(),
  turnsCompleted: count,
  givenUp: optional(z.object({ at: timeSchema, why: z.enum(['fresh restart', 'resume failed']) })),
  apiErrors: optional(z.object({ kind: z.string(), inARow: count, at: timeSchema })),
  clearedAt: optional(timeSchema),
  unsaved: optional(z.object({ since: timeSchema, path: z.string(), missingAt: optional(timeSchema) })),
  quarantine: optional(z.object({ at: timeSchema, error: z.string() })),
});

export const savedContextSchema = z.object({
  at: timeSchema,
  sessionId: optional(z.string()),
  launchId: z.string(),
  origin: z.enum(['explicit', 'carried']),
  bytes: count,
});

export const clientSchema = z.object({ name: z.string(), version: z.string(), protocolVersion: z.string() });

export const doubtCauseSchema = z.enum(['epoch changed', 'stream dropped', 'host slept', 'probe late', 'asked']);

export const identityFaultSchema = z.enum([
  'name missing',
  'name blank',
  'name literal variable',
  'name malformed',
  'name unknown',
  'key missing',
  'key wrong',
  'key of another agent',
  'launch stale',
  'server unknown',
  'two live launches',
]);

export const updateCauseSchema = z.enum(['changed', 'asked']);

const bindingSchema = z.object({
  launchId: z.string(),
  session: optional(z.string()),
  client: optional(clientSchema),
  initializedAt: optional(timeSchema),
  toolsListedAt: optional(timeSchema),
  stream: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('open'), since: timeSchema, epoch: z.string() }),
    z.object({ kind: z.literal('closed'), since: timeSchema }),
  ]),
  proof: optional(z.object({ at: timeSchema, epoch: z.string() })),
  probe: optional(
    z.object({
      sentAt: timeSchema,
      epoch: z.string(),
      answeredAt: optional(timeSchema),
      roundTripMs: optional(z.number()),
      failures: count,
    }),
  ),
  doubt: optional(z.object({ since: timeSchema, cause: doubtCauseSchema })),
  upstream: optional(z.object({ failingSince: timeSchema, epoch: z.string(), detail: z.string() })),
  update: optional(z.object({ since: timeSchema, why: updateCauseSchema })),
  goodCall: optional(z.object({ at: timeSchema, roundTripMs: z.number() })),
  fault: optional(z.object({ at: timeSchema, cause: identityFaultSchema })),
});

export const rungSchema = z.enum(['adopt', 'nudge', 'reconnect', 'resume', 'fresh']);
export const outcomeSchema = z.enum(['verified', 'failed', 'put off']);

export const incidentEndSchema = z.object({
  kind: z.enum(['asked', 'dead']),
  reason: z.enum(['configuration', 'policy', 'guard', 'crash loop', 'healing failed', 'called off']),
  detail: z.string(),
});

const incidentSchema = z.object({
  since: timeSchema,
  cause: z.string(),
  outage: optional(z.string()),
  reopenedAt: optional(timeSchema),
  attempts: z.array(
    z.object({
      id: z.string(),
      rung: rungSchema,
      startedAt: timeSchema,
      by: z.enum(['policy', 'person']),
      actedAt: optional(timeSchema),
      endedAt: optional(timeSchema),
      outcome: optional(outcomeSchema),
      detail: optional(z.string()),
    }),
  ),
  end: optional(z.extend(incidentEndSchema, { at: timeSchema })),
});

export const restoreOutcomeSchema = z.enum(['done', 'called off']);

const launchId = z.string();

const promptStateSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('queued'), waitsFor: optional(textSchema) }),
  z.object({ kind: z.literal('typing'), launchId, since: timeSchema }),
  z.object({ kind: z.literal('typed'), launchId, since: timeSchema, at: timeSchema }),
  z.object({ kind: z.literal('received'), launchId, at: timeSchema }),
  z.object({ kind: z.literal('unknown'), launchId, since: timeSchema, at: timeSchema, detail: textSchema }),
  z.object({ kind: z.literal('failed'), at: timeSchema, detail: textSchema }),
]);

export const promptSchema = z.object({
  id: promptIdSchema,
  requestedAt: timeSchema,
  by: z.string(),
  digest: z.string(),
  characters: count,
  state: promptStateSchema,
});

export const saveRestartSchema = z.object({
  promptId: promptIdSchema,
  mode: launchModeSchema,
  requestedAt: timeSchema,
  ended: optional(z.object({ at: timeSchema, outcome: z.enum(['restarted', 'not restarted']), detail: textSchema })),
});

const adoptionSchema = z.object({
  pid: z.int().check(z.positive()),
  startTime: z.string(),
  by: z.string(),
});

export const adoptedConversationSchema = z.extend(z.pick(adoptionSchema, { pid: true, startTime: true }), {
  sessionId: z.string(),
  transcriptPath: z.string(),
});

const serverScopeSchema = z.enum(['bowline', 'local', 'project', 'user', 'plugin', 'claude.ai']);

export const ownServerSchema = z.object({
  name: z.string(),
  scope: serverScopeSchema,
  shadows: z.array(serverScopeSchema),
  way: z.enum(['through Bowline', 'direct', 'not given']),
  reason: optional(z.string()),
  approval: optional(
    z.object({ state: z.enum(['by Claude', 'by Bowline', 'not approved', 'disabled']), digest: z.string() }),
  ),
  definition: optional(z.string()),
});

export const agentSchema = z.object({
  name: nameSchema,
  configuration: configurationSchema,
  createdAt: timeSchema,
  life: lifeSchema,
  activity: activitySchema,
  session: optional(sessionSchema),
  lineage: z.array(sessionSchema),
  adoption: optional(adoptionSchema),
  hookReports: optional(z.array(z.string())),
  earlyHooks: optional(z.array(z.object({ at: timeSchema, launchId: z.string(), hook: hookFactSchema }))),
  launches: z.array(
    z.object({
      launch: launchSchema,
      endedAt: timeSchema,
      reason: endReasonSchema,
      detail: optional(z.string()),
      refused: optional(z.literal('guard')),
    }),
  ),
  launchCount: count,
  ownServers: optional(z.array(ownServerSchema)),
  bindings: z.record(z.string(), bindingSchema),
  incidents: z.record(z.string(), incidentSchema),
  savedContext: optional(savedContextSchema),
  prompts: optional(z.array(promptSchema)),
  saveRestart: optional(saveRestartSchema),
  relaunch: optional(
    z.object({
      since: timeSchema,
      from: configurationSchema,
      changed: z.array(z.string()),
      when: z.enum(['idle', 'asked']),
    }),
  ),
});

/** The state file and the snapshot on the stream. */
export const fleetStateSchema = z.object({
  format: z.literal(1),
  epoch: optional(epochSchema),
  settings: settingsSchema,
  agents: z.record(nameSchema, agentSchema),
  hands: optional(z.object({ holder: z.string(), since: timeSchema })),
  reconciliation: optional(
    z.object({
      askedAt: timeSchema,
      done: optional(z.object({ at: timeSchema, differences: z.int(), problem: optional(textSchema) })),
    }),
  ),
  restoration: optional(
    z.object({
      id: z.string(),
      askedAt: timeSchema,
      by: z.string(),
      agents: z.array(nameSchema),
      ended: optional(z.object({ at: timeSchema, outcome: restoreOutcomeSchema, left: z.array(nameSchema) })),
    }),
  ),
  approvedServers: optional(
    z.array(z.object({ digest: z.string(), server: z.string(), file: z.string(), at: timeSchema, by: z.string() })),
  ),
  loginServers: optional(z.array(z.string())),
  notices: z.array(noticeSchema),
  audit: z.array(auditSchema),
  timeline: z.array(
    z.object({
      at: timeSchema,
      agent: optional(z.string()),
      server: optional(z.string()),
      text: z.string(),
      kind: optional(z.enum(['epoch', 'outage', 'heal'])),
    }),
  ),
});

true satisfies Exactly<typeof fleetStateSchema, FleetState>;
