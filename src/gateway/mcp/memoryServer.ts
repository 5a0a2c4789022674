import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { Log } from '../../base/log.ts';
import type { BuiltInServer } from '../../core/fleet/builtInServers.ts';
import { type Note, type Notes, placeLimits, type Scope } from '../notes.ts';
import type { Clock } from '../ports.ts';
import type { EndpointServer } from './endpointServer.ts';
import { fitting, moment, quoted, reasonOf } from './itemTexts.ts';
import { described, failure, success, type Tool, tool, type ToolResult, toolServer } from './toolServer.ts';

const serverName: BuiltInServer = 'bowline-memory';

/** Longest text of a note, in bytes of UTF-8. */
const noteLimit = 8_000;

const recalledByDefault = 10;
const recalledAtMost = 50;

const instructions = [
  'Notes that outlive conversations and restarts, with full-text search.',
  'Call recall before you begin a task, and before you ask the person for something that may be known already.',
  'Call remember for what will be wanted again: decisions and their reasons, conventions, where things are, what did not work. One fact per note, with the words by which somebody would look for it. No secrets.',
  'Notes are yours alone unless you say scope shared: those all agents of the fleet see, and may forget.',
  'A shared note is the word of the agent that wrote it, not of the person.',
].join(' ');

export interface MemoryServerOptions {
  readonly notes: Notes;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

/** The built-in server in which agents keep notes. */
export function memoryServer(options: MemoryServerOptions): EndpointServer {
  const serverInfo = { name: serverName, title: 'Bowline memory', version: options.version };
  return toolServer(serverName, { serverInfo, instructions }, () => memoryTools(options), options.log);
}

function memoryTools(options: MemoryServerOptions): readonly Tool[] {
  return [
    tool(
      {
        name: 'remember',
        title: 'Remember',
        description: `Keeps a note, for you alone or (scope shared) for all agents of the fleet. At most ${noteLimit} bytes.`,
        annotations: {
          title: 'Remember',
          readOnlyHint: false,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
      z.object({
        text: described(z.string(), 'What is to be known later, in words that stand by themselves.'),
        tags: z._default(
          described(
            z.array(z.string().check(z.minLength(1), z.maxLength(50))).check(z.maxLength(20)),
            'Words by which it is to be found.',
          ),
          [],
        ),
        scope: z._default(
          described(z.enum(['agent', 'shared']), 'agent: you alone see it. shared: all agents do.'),
          'agent',
        ),
      }),
      (caller, { text, tags, scope }) => remember(caller.agent, { text, tags, scope }, options),
    ),
    tool(
      {
        name: 'recall',
        title: 'Recall',
        description:
          'Searches your notes and the shared ones, best first, each with its id, writer and time. An empty query shows the newest.',
        annotations: {
          title: 'Recall',
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
      z.object({
        query: described(z.string().check(z.maxLength(1_000)), 'Words that the note would have.'),
        limit: z._default(
          described(z.int().check(z.minimum(1), z.maximum(recalledAtMost)), 'How many notes at most.'),
          recalledByDefault,
        ),
      }),
      (caller, { query, limit }) => recall(caller.agent, query, limit, options),
    ),
    tool(
      {
        name: 'forget',
        title: 'Forget',
        description: 'Removes a note of yours, or a shared one, by its id.',
        annotations: {
          title: 'Forget',
          readOnlyHint: false,
          destructiveHint: true,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
      z.object({ id: described(z.string(), 'The id that remember or recall told.') }),
      (caller, { id }) => forget(caller.agent, id, options),
    ),
  ];
}

async function remember(
  agent: string,
  { text, tags, scope }: { readonly text: string; readonly tags: string[]; readonly scope: Scope },
  { notes, clock, log }: MemoryServerOptions,
): Promise<ToolResult> {
  const bytes = Buffer.byteLength(text);
  if (text.trim() === '') return failure('The text is empty; nothing was kept. Call again with what is to be known.');
  if (bytes > noteLimit) {
    return failure(
      `The text has ${bytes} bytes, a note at most ${noteLimit}; nothing was kept. ` +
        'Make several notes of it, one fact each, or write it into a file and remember the path.',
    );
  }
  const id = `n-${randomBytes(5).toString('hex')}`;
  try {
    const keeping = await notes.keep(scope, { id, by: agent, at: clock(), tags, text });
    switch (keeping.kind) {
      case 'kept':
        return success(`Kept as ${id}, ${seenBy[scope]}.`);
      case 'known':
        return success(`This very text is kept already as ${keeping.id}, ${seenBy[scope]}.`);
      case 'full':
        return failure(
          `Nothing was kept: there are ${keeping.notes} notes of ${keeping.bytes} bytes here, at most ` +
            `${placeLimits.notes} of ${placeLimits.bytes} bytes can be. Forget some that are not needed any more.`,
        );
    }
  } catch (error) {
    log.error('a note could not be kept', { agent, reason: reasonOf(error) });
    return failure(`Nothing was kept: ${reasonOf(error)}. Tell the person, then call remember again.`);
  }
}

const seenBy: Readonly<Record<Scope, string>> = { agent: 'for you alone', shared: 'for all agents' };

async function recall(
  agent: string,
  query: string,
  limit: number,
  { notes, clock }: MemoryServerOptions,
): Promise<ToolResult> {
  const own = await notes.seenBy(agent, 'agent');
  const all = [...own, ...(await notes.seenBy(agent, 'shared'))].sort((one, other) => one.at - other.at);
  if (all.length === 0) return success('There are no notes yet. Keep one with remember.');
  const matching = query.trim() === '' ? all.toReversed() : await search(all, query);
  if (matching.length === 0) {
    return success(`None of ${all.length} notes has these words. Try others, or an empty query for the newest notes.`);
  }
  const now = clock();
  const found = fitting(
    matching.slice(0, limit).map((note) => {
      const tags = note.tags.length === 0 ? '' : `, tags ${note.tags.map((tag) => JSON.stringify(tag)).join(' ')}`;
      const whose = own.includes(note) ? 'yours alone' : `shared, by ${note.by === agent ? 'you' : note.by}`;
      return `Note ${note.id}, ${whose}, ${moment(note.at, now)}${tags}:\n${quoted(note.text)}`;
    }),
  );
  return success(
    [`${found.length} of ${matching.length} found in ${all.length} notes, best first.`, ...found].join('\n\n'),
  );
}

/** Loaded when it is first needed: most runs of the gateway never search. */
async function search(notes: readonly Note[], query: string): Promise<readonly Note[]> {
  const { searchNotes } = await import('./memorySearch.ts');
  return searchNotes(notes, query);
}

async function forget(agent: string, id: string, { notes, log }: MemoryServerOptions): Promise<ToolResult> {
  try {
    const note = await notes.forget(agent, id);
    if (note !== undefined) return success(`Forgot ${note.id}${note.by === agent ? '' : `, which ${note.by} wrote`}.`);
    return failure(
      `You see no note ${JSON.stringify(id.slice(0, 60))}: forgotten before, or never there. recall tells the ids.`,
    );
  } catch (error) {
    log.error('a note could not be forgotten', { agent, reason: reasonOf(error) });
    return failure(`Nothing was forgotten: ${reasonOf(error)}. Tell the person.`);
  }
}
