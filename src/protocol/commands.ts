import * as z from 'zod/mini';
import { configurationChangeSchema, settingsSchema } from './fleetState.ts';
import { nameSchema, promptIdSchema } from './schema.ts';

const optional = z.exactOptional;

export const approvalShape = {
  server: z.string().check(z.maxLength(200)),
  digest: z.string().check(z.maxLength(100)),
};

/**
 * What a window or a script may ask of the gateway. Each is answered with `{}` or an error of a stable code. Names of new
 * agents arrive as plain text and are judged by the gateway, so that the answer can say what is wrong with them.
 */
export const commandSchema = z.discriminatedUnion('kind', [
  /** Creates the agent and starts it. Errors: name-invalid, name-taken, directory-missing. */
  z.object({
    kind: z.literal('create'),
    name: z.string().check(z.maxLength(1_000)),
    directory: z.string().check(z.maxLength(4_096)),
    model: optional(z.string().check(z.maxLength(200))),
    permissionMode: optional(z.string().check(z.maxLength(100))),
  }),
  /**
   * Ends the process (SIGTERM) of a claude that Bowline did not start, and goes on with its conversation as a new agent;
   * answered when it was asked to end. Process and conversation are those that a person confirmed, from `GET /foreign`.
   * Errors: name-invalid, name-taken, launch-refused (nothing was ended; the sentence tells why).
   */
  z.object({
    kind: z.literal('adopt'),
    name: z.string().check(z.maxLength(1_000)),
    pid: z.int().check(z.positive()),
    startTime: z.string().check(z.maxLength(200)),
    sessionId: z.string().check(z.maxLength(200)),
  }),
  /**
   * Starts an agent that does not run; resumes its conversation where it has one, also one that the record lost. Errors:
   * already-running, conversation-ambiguous (a person chooses: `resume other`), transcripts-unreadable.
   */
  z.object({ kind: z.literal('start'), name: nameSchema }),
  /** Errors: guard-blocked (the sentence tells the reason), unknown-agent. `bypass` writes an audit record. */
  z.object({
    kind: z.literal('restart'),
    name: nameSchema,
    mode: z.enum(['resume', 'fresh']),
    guard: z.enum(['enforce', 'bypass']),
    reason: optional(z.string().check(z.maxLength(1_000))),
  }),
  /**
   * Queues a prompt; sent once, however often it is asked for under one id. What becomes of it stands in the agent's
   * `prompts`. Errors: bad-request (the text), not-running.
   */
  z.object({ kind: z.literal('prompt'), name: nameSchema, id: promptIdSchema, text: z.string() }),
  /** Calls a prompt off as long as nothing of it was typed, else: bad-request. */
  z.object({ kind: z.literal('cancel prompt'), name: nameSchema, id: promptIdSchema }),
  /**
   * Asks the agent by a prompt of this id to save its context, and restarts it when that is done and its turn has ended.
   * What becomes of it stands in the agent's `saveRestart`. Errors: not-running, guard-blocked (it cannot save).
   */
  z.object({
    kind: z.literal('save and restart'),
    name: nameSchema,
    id: promptIdSchema,
    mode: z.enum(['resume', 'fresh']),
  }),
  /** Calls such a restart off as long as it has not begun. Its prompt, if it was typed, stays typed. */
  z.object({ kind: z.literal('cancel save and restart'), name: nameSchema, id: promptIdSchema }),
  /**
   * Goes on in a copy of the conversation that ends before its bad turn; the original stays as it is. Errors:
   * bad-request (nothing stands before it), guard-blocked.
   */
  z.object({ kind: z.literal('fork'), name: nameSchema }),
  /**
   * Starts an agent that does not run with this conversation, whatever became of it before. Errors: bad-request (no id),
   * already-running, conversation-in-use.
   */
  z.object({ kind: z.literal('resume other'), name: nameSchema, sessionId: z.string().check(z.maxLength(200)) }),
  /** Lifts the quarantine of the agent's conversation, and resumes it where nothing runs. Errors: bad-request. */
  z.object({ kind: z.literal('keep trying'), name: nameSchema }),
  /**
   * Presses Escape in the turn that is in progress, and in no other one. What came of it stands in the agent's
   * `interrupt`. Errors: not-running, bad-request (no turn, or a question that Escape would answer).
   */
  z.object({ kind: z.literal('interrupt'), name: nameSchema, id: promptIdSchema }),
  /** An agent that sleeps does not wake any more. */
  z.object({ kind: z.literal('stop'), name: nameSchema }),
  /** Stops every agent. */
  z.object({ kind: z.literal('stop all') }),
  /**
   * Brings the agents back that ended with the tmux server, a few at a time. What becomes of it stands in the fleet's
   * `restoration`. Errors: bad-request (none can be restored), transcripts-unreadable, conversation-ambiguous.
   */
  z.object({ kind: z.literal('restore all') }),
  /** Starts no more of them, and stops those that are not up yet. */
  z.object({ kind: z.literal('cancel restore') }),
  /** Stops the agent if it runs, and forgets it. Its transcripts stay. */
  z.object({ kind: z.literal('remove'), name: nameSchema }),
  /** Probes every endpoint of the agent now. */
  z.object({ kind: z.literal('verify'), name: nameSchema }),
  /** Types `/mcp reconnect` for the endpoint as soon as the agent is idle. Errors: not-running. */
  z.object({ kind: z.literal('reconnect'), name: nameSchema, server: z.string().check(z.maxLength(100)) }),
  /** Begins healing anew, whatever the policy, for these agents or for all, where they lost their tools. */
  z.object({ kind: z.literal('heal'), names: optional(z.array(nameSchema).check(z.maxLength(1_000))) }),
  /** Ends what `heal` began; a restart that is under way goes on. */
  z.object({ kind: z.literal('cancel heal'), names: z.array(nameSchema).check(z.maxLength(1_000)) }),
  z.object({ kind: z.literal('configure'), settings: settingsSchema }),
  /**
   * Changes the configuration of an agent. What needs another launch is relaunched with its conversation when it is idle.
   * Errors: bad-request (a value), directory-missing.
   */
  z.object({ kind: z.literal('configure agent'), name: nameSchema, change: configurationChangeSchema }),
  /**
   * A server that the project's file names may run, with exactly the definition of this digest (`GET
   * /agents/<name>/servers`). Errors: definition-changed, bad-request (there is none, or Claude's settings disable it).
   */
  z.object({ kind: z.literal('approve server'), name: nameSchema, ...approvalShape }),
  z.object({ kind: z.literal('withdraw server approval'), name: nameSchema, server: approvalShape.server }),
  /**
   * Ends the connection to an MCP server of the agent's own that is behind the gateway, with what is on its way there and
   * with its process, makes a new one as its definition is by now, and verifies it. What came of it stands in the
   * endpoint's `upstream`. Errors: not-running, bad-request (there is no such server, or the agent does not use it).
   */
  z.object({ kind: z.literal('reconnect upstream'), name: nameSchema, server: approvalShape.server }),
  /** Leaves the new connection to the next call; what was ended stays so. */
  z.object({ kind: z.literal('cancel reconnect upstream'), name: nameSchema, server: approvalShape.server }),
  /** The machine slept, or is believed to have: every binding is proven again. */
  z.object({ kind: z.literal('host resumed') }),
  /** Compares what is there with the record; what came of it stands in the fleet's `reconciliation`. */
  z.object({ kind: z.literal('reconcile') }),
]);

export type Command = z.infer<typeof commandSchema>;
