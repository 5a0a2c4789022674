import * as z from 'zod/mini';
import type { FleetEvent } from '../core/fleet/events.ts';
import {
  activityKindSchema,
  adoptedConversationSchema,
  clientSchema,
  configurationSchema,
  ownServerSchema,
  dialogSchema,
  doubtCauseSchema,
  endReasonSchema,
  epochSchema,
  guardBypassSchema,
  identityFaultSchema,
  incidentEndSchema,
  interruptOutcomeSchema,
  launchSchema,
  noticeSchema,
  outcomeSchema,
  processSchema,
  promptSchema,
  restoreOutcomeSchema,
  rungSchema,
  savedContextSchema,
  saveRestartSchema,
  screenShowsSchema,
  settingsSchema,
  updateCauseSchema,
} from './fleetState.ts';
import { hookFactSchema } from './hookFact.ts';
import { type Exactly, nameSchema, promptIdSchema, textSchema, timeSchema } from './schema.ts';

const optional = z.exactOptional;
const at = timeSchema;
const name = nameSchema;
const launchId = z.string();
const endpoint = { at, name, server: z.string(), launchId };
const session = z.string();
const asker = optional(z.string());

const exitSchema = z.object({
  how: z.enum(['exited', 'gone', 'host gone']),
  status: optional(z.int()),
  signal: optional(z.string()),
  reading: z.enum(['conversation not found', 'login needed', 'binary missing', 'configuration error', 'other']),
  detail: textSchema,
});

const launched = z.object({ at, kind: z.literal('launched'), name, launchId, process: processSchema });
const launchFailed = z.object({
  at,
  kind: z.literal('launch failed'),
  name,
  launchId,
  code: z.string(),
  sentence: textSchema,
});
const launchWaits = z.object({ at, kind: z.literal('launch waits'), name, launchId, sentence: textSchema });
const sleepPutOff = z.object({ at, kind: z.literal('sleep put off'), name, launchId, detail: textSchema });
const processEnded = z.object({ at, kind: z.literal('process ended'), name, launchId, exit: exitSchema });
const screenRead = z.object({ at, kind: z.literal('screen read'), name, launchId, dialog: optional(dialogSchema) });
const activityObserved = z.object({
  at,
  kind: z.literal('activity observed'),
  name,
  launchId,
  activity: activityKindSchema,
});
const screenLookedAt = z.object({
  at,
  kind: z.literal('screen looked at'),
  name,
  launchId,
  askedAt: timeSchema,
  shows: screenShowsSchema,
});
const interrupt = { at, name, launchId, interruptId: z.string() };
const interruptPressed = z.object({ ...interrupt, kind: z.literal('interrupt pressed') });
const interruptEnded = z.object({
  ...interrupt,
  kind: z.literal('interrupt ended'),
  outcome: interruptOutcomeSchema,
  detail: textSchema,
});
const conversationShared = z.object({
  at,
  kind: z.literal('conversation shared'),
  name,
  launchId,
  pid: optional(z.int()),
});
const programChanged = z.object({
  at,
  kind: z.literal('program changed'),
  name,
  launchId,
  what: z.enum(['replaced', 'gone']),
});
const differenceFound = z.object({
  at,
  kind: z.literal('difference found'),
  name,
  what: z.enum(['pane without record', 'pane of another launch', 'other conversation', 'transcript missing']),
  detail: textSchema,
});
const reconciled = z.object({
  at,
  kind: z.literal('reconciled'),
  askedAt: timeSchema,
  differences: z.int(),
  problem: optional(textSchema),
});
const attempt = { at, name, server: z.string(), attemptId: z.string() };
const rungActed = z.object({ ...attempt, kind: z.literal('rung acted') });
const rungEnded = z.object({ ...attempt, kind: z.literal('rung ended'), outcome: outcomeSchema, detail: textSchema });
const prompt = { at, name, promptId: promptIdSchema };
const promptTaken = z.object({ ...prompt, kind: z.literal('prompt taken'), launchId });
const promptWaits = z.object({ ...prompt, kind: z.literal('prompt waits'), reason: textSchema });
const promptTyped = z.object({ ...prompt, kind: z.literal('prompt typed'), launchId });

/** The facts that the hands may report; nothing else is taken from them. */
export const handsFactSchema = z.discriminatedUnion('kind', [
  launched,
  launchFailed,
  launchWaits,
  processEnded,
  sleepPutOff,
  screenRead,
  activityObserved,
  conversationShared,
  programChanged,
  differenceFound,
  reconciled,
  rungActed,
  rungEnded,
  promptTaken,
  promptWaits,
  promptTyped,
  screenLookedAt,
  interruptPressed,
  interruptEnded,
]);

export type HandsFact = Extract<
  FleetEvent,
  {
    kind:
      | 'launched'
      | 'launch failed'
      | 'launch waits'
      | 'process ended'
      | 'sleep put off'
      | 'screen read'
      | 'activity observed'
      | 'conversation shared'
      | 'program changed'
      | 'difference found'
      | 'reconciled'
      | 'rung acted'
      | 'rung ended'
      | 'prompt taken'
      | 'prompt waits'
      | 'prompt typed'
      | 'screen looked at'
      | 'interrupt pressed'
      | 'interrupt ended';
  }
>;

true satisfies Exactly<typeof handsFactSchema, HandsFact>;

/** An event on the stream. */
export const fleetEventSchema = z.discriminatedUnion('kind', [
  z.object({ at, kind: z.literal('epoch started'), epoch: epochSchema }),
  z.object({ at, kind: z.literal('host resumed') }),
  z.object({ at, kind: z.literal('settings changed'), settings: settingsSchema }),
  z.object({ at, kind: z.literal('hands changed'), holder: optional(z.string()) }),
  z.object({ at, kind: z.literal('noticed'), notice: noticeSchema }),
  z.object({
    at,
    asker,
    kind: z.literal('agent created'),
    name,
    configuration: configurationSchema,
    launch: optional(launchSchema),
    adopts: optional(adoptedConversationSchema),
  }),
  z.object({ at, asker, kind: z.literal('adoption ended'), name, detail: textSchema }),
  z.object({ at, asker, kind: z.literal('agent configured'), name, configuration: configurationSchema }),
  z.object({
    ...{ at, kind: z.literal('own servers read'), name },
    servers: z.array(ownServerSchema),
    launchId: optional(z.string()),
  }),
  z.object({
    ...{ at, asker, kind: z.literal('server approved'), name },
    ...{ server: z.string(), file: z.string(), digest: z.string() },
  }),
  z.object({
    ...{ at, asker, kind: z.literal('server approval withdrawn'), name },
    ...{ server: z.string(), digest: z.string() },
  }),
  z.object({ at, kind: z.literal('server wants login'), name, server: z.string(), digest: z.string() }),
  z.object({ at, asker, kind: z.literal('agent removed'), name }),
  z.object({ at, asker, kind: z.literal('launch requested'), name, launch: launchSchema }),
  z.object({
    at,
    asker,
    kind: z.literal('stop requested'),
    name,
    reason: endReasonSchema,
    then: z.enum(['keep', 'remove']),
  }),
  z.object({ at, kind: z.literal('restore requested'), id: z.string(), by: z.string(), agents: z.array(name) }),
  z.object({ at, asker, kind: z.literal('restore ended'), id: z.string(), outcome: restoreOutcomeSchema }),
  z.object({ at, kind: z.literal('guard bypassed'), record: guardBypassSchema }),
  conversationShared,
  programChanged,
  differenceFound,
  reconciled,
  z.object({ at, asker, kind: z.literal('reconcile requested') }),
  z.object({
    at,
    kind: z.literal('transcript seen'),
    name,
    sessionId: z.string(),
    file: z.enum(['there', 'missing']),
    errors: optional(z.array(z.object({ kind: z.string(), at: timeSchema }))),
    promptId: optional(z.string()),
  }),
  z.object({ at, kind: z.literal('conversation released'), name, sessionId: z.string(), by: z.string() }),
  z.object({ at, kind: z.literal('doubted'), name, server: z.string(), cause: doubtCauseSchema }),
  launched,
  launchFailed,
  launchWaits,
  processEnded,
  sleepPutOff,
  screenRead,
  activityObserved,
  z.object({ at, kind: z.literal('prompt requested'), name, prompt: z.omit(promptSchema, { state: true }) }),
  promptTaken,
  promptWaits,
  promptTyped,
  z.object({ at, kind: z.literal('look requested'), name, launchId }),
  screenLookedAt,
  z.object({
    at,
    kind: z.literal('interrupt requested'),
    name,
    launchId,
    request: z.object({ id: z.string(), turnSince: timeSchema, by: z.string() }),
  }),
  interruptPressed,
  interruptEnded,
  z.object({ ...prompt, kind: z.literal('prompt ended'), outcome: z.enum(['unknown', 'failed']), detail: textSchema }),
  z.object({
    at,
    kind: z.literal('save restart requested'),
    name,
    request: z.omit(saveRestartSchema, { ended: true, requestedAt: true }),
  }),
  z.object({
    ...prompt,
    kind: z.literal('save restart ended'),
    outcome: z.enum(['restarted', 'not restarted']),
    detail: textSchema,
  }),
  z.object({
    at,
    kind: z.literal('hook reported'),
    name,
    launchId,
    hook: hookFactSchema,
    reportId: optional(z.string()),
  }),
  z.object({
    at,
    kind: z.literal('launch doubled'),
    name,
    launchId,
    process: optional(z.object({ pid: z.int(), startTime: z.string() })),
  }),
  z.object({ at, kind: z.literal('hooks checked'), name, launchId, silentSince: optional(timeSchema) }),
  z.object({ at, kind: z.literal('conversation found'), name, sessionId: z.string(), transcriptPath: z.string() }),
  z.object({ ...endpoint, kind: z.literal('mcp initialized'), session, client: clientSchema }),
  z.object({ ...endpoint, kind: z.literal('mcp tools listed'), session }),
  z.object({ ...endpoint, kind: z.literal('mcp proof seen'), session }),
  z.object({ ...endpoint, kind: z.literal('mcp stream opened'), session }),
  z.object({ ...endpoint, kind: z.literal('mcp stream closed'), session }),
  z.object({ ...endpoint, kind: z.literal('upstream failed'), detail: textSchema }),
  z.object({ ...endpoint, kind: z.literal('upstream answered'), roundTripMs: optional(z.number()) }),
  z.object({ ...endpoint, asker, kind: z.literal('upstream detached'), why: updateCauseSchema }),
  z.object({ ...endpoint, kind: z.literal('probe answered'), sentAt: timeSchema, roundTripMs: z.number() }),
  z.object({ ...endpoint, kind: z.literal('probe failed'), sentAt: timeSchema }),
  z.object({
    at,
    kind: z.literal('identity fault'),
    cause: identityFaultSchema,
    name: optional(z.string()),
    server: optional(z.string()),
    detail: textSchema,
  }),
  z.object({ at, kind: z.literal('context saved'), name, context: savedContextSchema }),
  z.object({
    ...{ at, kind: z.literal('incident opened'), name, server: z.string(), cause: z.string() },
    outage: optional(z.string()),
  }),
  z.object({ at, asker, kind: z.literal('incident reopened'), name, server: z.string() }),
  z.object({ at, kind: z.literal('incident closed'), name, server: z.string(), outcome: z.enum(['bound', 'over']) }),
  z.object({ at, asker, kind: z.literal('incident ended'), name, server: z.string(), end: incidentEndSchema }),
  z.object({
    ...attempt,
    asker,
    kind: z.literal('rung started'),
    rung: rungSchema,
    by: z.enum(['policy', 'person']),
  }),
  rungActed,
  rungEnded,
  z.object({ at, kind: z.literal('launch verified'), name, launchId: z.string() }),
  z.object({ at, kind: z.literal('resume failed'), name, launchId: z.string(), detail: z.string() }),
  z.object({ at, kind: z.literal('launch unverified'), name, launchId: z.string(), detail: z.string() }),
]);

true satisfies Exactly<typeof fleetEventSchema, FleetEvent>;
