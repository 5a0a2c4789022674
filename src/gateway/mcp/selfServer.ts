import * as z from 'zod/mini';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { ContextStore } from '../contexts.ts';
import type { Clock, FleetPort } from '../ports.ts';
import type { Caller, EndpointServer } from './endpointServer.ts';
import { contextStatusText, fleetText, savedContextText, whoamiText } from './selfTexts.ts';
import { described, failure, plainTool, success, type Tool, tool, type ToolResult, toolServer } from './toolServer.ts';

/** Name under which every agent has the server. */
export const selfServerName = 'bowline-self';

/** Longest context that an agent may save, in bytes of UTF-8. */
export const contextLimit = 256_000;

const instructions = [
  'You run as an agent of Bowline, which starts, watches, heals and restarts Claude Code agents.',
  'Call save_my_context whenever a piece of work is done, before anything risky, and when you are asked to get ready for a restart:',
  'what the task is, what is done, what is left, decisions, and the files that matter. Each save replaces the former one.',
  'After a restart without your conversation call load_my_context first.',
  'whoami tells your name and whether your tools are bound; list_agents who else runs; context_status whether a restart would lose work.',
].join(' ');

export interface SelfServerOptions {
  readonly fleet: FleetPort;
  readonly contexts: ContextStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

/** The built-in server by which an agent knows itself and keeps its context. */
export function selfServer(options: SelfServerOptions): EndpointServer {
  const serverInfo = { name: selfServerName, title: 'Bowline', version: options.version };
  return toolServer(selfServerName, { serverInfo, instructions }, () => selfTools(options), options.log);
}

const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const;

function selfTools(options: SelfServerOptions): readonly Tool[] {
  const { fleet, contexts, clock } = options;
  return [
    plainTool(
      {
        name: 'whoami',
        title: 'Who am I',
        description:
          'Your name as a Bowline agent, your directory, launch and conversation, and whether your tools are bound.',
        annotations: { title: 'Who am I', ...reading },
      },
      (caller) => success(whoamiText(fleet.state, caller, clock())),
    ),
    tool(
      {
        name: 'save_my_context',
        title: 'Save my context',
        description:
          'Saves what you need to go on after a restart: task, what is done, what is left, decisions, important files. ' +
          'Call it when a piece of work is done. Replaces your former save. At most 256 kB.',
        annotations: {
          title: 'Save my context',
          readOnlyHint: false,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
      z.object({
        context: described(z.string(), 'Everything that you would want to read after losing this conversation.'),
        summary: z.optional(described(z.string().check(z.maxLength(2_000)), 'One or two sentences for the person.')),
      }),
      (caller, { context, summary }) => save(caller, context, summary, options),
    ),
    plainTool(
      {
        name: 'load_my_context',
        title: 'Load my context',
        description: 'What you last saved with save_my_context, with its age. Call it first after a restart.',
        annotations: { title: 'Load my context', ...reading },
      },
      async (caller) => {
        const found = await contexts.load(caller.agent);
        switch (found.kind) {
          case 'found':
            return success(savedContextText(found.saved, fleet.state.agents[caller.agent], clock()));
          case 'none':
            return success(
              'You have no saved context yet. Save one with save_my_context when a piece of work is done.',
            );
          case 'damaged':
            return failure(
              `Your saved context cannot be read (${found.reason}). Tell the person, and save a new one with save_my_context.`,
            );
        }
      },
    ),
    plainTool(
      {
        name: 'list_agents',
        title: 'List agents',
        description: 'All agents of this Bowline fleet: state, activity, directory, and whether their tools are bound.',
        annotations: { title: 'List agents', ...reading },
      },
      (caller) => success(fleetText(fleet.state, caller, clock())),
    ),
    plainTool(
      {
        name: 'context_status',
        title: 'Context status',
        description: 'Whether a restart without your conversation would lose work now, and how old your last save is.',
        annotations: { title: 'Context status', ...reading },
      },
      (caller) => success(contextStatusText(fleet.state.agents[caller.agent], clock())),
    ),
  ];
}

async function save(
  caller: Caller,
  context: string,
  summary: string | undefined,
  { fleet, contexts, clock, log }: SelfServerOptions,
): Promise<ToolResult> {
  const bytes = Buffer.byteLength(context);
  if (context.trim() === '')
    return failure('The context is empty; nothing was saved. Call again with the text to keep.');
  if (bytes > contextLimit) {
    return failure(
      `The context has ${bytes} bytes, at most ${contextLimit} can be saved; nothing was saved. ` +
        'Shorten it (name files instead of quoting them) and call save_my_context again.',
    );
  }
  const at = clock();
  const sessionId = fleet.state.agents[caller.agent]?.session?.id;
  try {
    await contexts.save({
      agent: caller.agent,
      at,
      launchId: caller.launchId,
      ...(sessionId !== undefined && { sessionId }),
      origin: 'explicit',
      ...(summary !== undefined && { summary }),
      context,
    });
  } catch (error) {
    log.error('context could not be saved', { agent: caller.agent, reason: messageOf(error) });
    return failure(`Nothing was saved: ${messageOf(error)}. Tell the person, then call save_my_context again.`);
  }
  return success(
    `Saved ${bytes} bytes at ${new Date(at).toISOString()}. load_my_context brings them back after a restart.`,
  );
}
