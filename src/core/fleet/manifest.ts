import { guardTimes } from '../guard/verdict.ts';
import type { Agent, PromptRecord } from './agent.ts';
import type { EndReason } from './life.ts';

/** A context as it was saved: when, and what. */
export interface SavedText {
  readonly at: number;
  readonly summary?: string;
  readonly context: string;
}

/** A restart that is longer ago tells the new conversation nothing. */
const manifestAtMost = 2 * 3600_000;
/**
 * Claude hands so many characters of a hook to the model as they are; of a longer text it shows the first 2 KB (measured,
 * claude 2.1.160 and 2.1.332: 9,000 arrive, 60,000 do not).
 */
const charactersAtMost = 9_000;

/**
 * What the new conversation of a fresh launch is told of the one before: whether the restart was planned, what was going
 * on, and the context that was saved. Everything comes from the durable state, so that a crash has it, too. Undefined:
 * there was no conversation before, or nothing of it is left to tell.
 */
export function handoverText(agent: Agent, saved: SavedText | undefined, now: number): string | undefined {
  const facts = manifest(agent, now);
  if (saved === undefined && facts.length === 0) return undefined;
  const text = [
    `You are the agent "${agent.name}" of Bowline and go on in a new conversation: the one before is not visible to you.`,
    ...facts,
    ...(saved === undefined
      ? ['No context was saved before it ended.']
      : [
          `Context saved ${agoOf(now - saved.at)} (${new Date(saved.at).toISOString()})` +
            `${now - saved.at > guardTimes.contextStaleAfter ? ', stale: check it before you rely on it' : ''}:`,
          ...(saved.summary === undefined ? [] : [`Summary: ${saved.summary}`]),
          saved.context,
        ]),
  ].join('\n');
  if (text.length <= charactersAtMost) return text;
  const rest = '\n[cut here: call load_my_context for all of it]';
  return `${text.slice(0, charactersAtMost - rest.length)}${rest}`;
}

/** Lines about the restart itself; none where it is too long ago, or nothing was asked of the conversation before. */
function manifest(agent: Agent, now: number): readonly string[] {
  const { life, session, launches, activity, prompts = [] } = agent;
  const former = session ?? agent.lineage.at(-1);
  if (former?.prompted !== true) return [];
  const last = launches.at(-1);
  const isReplaced = life.kind === 'launching' && life.ending !== undefined;
  const endedAt = isReplaced ? now : last?.endedAt;
  if (endedAt === undefined || now - endedAt > manifestAtMost) return [];
  const reason: EndReason = isReplaced ? 'replaced' : (last?.reason ?? 'released');
  const how = isPlanned(reason)
    ? 'The restart was planned.'
    : `The restart was not planned: the process before ended by itself ${agoOf(now - endedAt)} (${reason}). What was in progress may be half done: look before you repeat it.`;
  return [
    how,
    ...(activity.lastWorkAt === undefined ? [] : [`Last activity: ${agoOf(now - activity.lastWorkAt)}.`]),
    ...promptLines(prompts),
  ];
}

function isPlanned(reason: EndReason): boolean {
  return reason === 'replaced' || reason === 'released' || reason === 'idle' || reason === 'shutdown';
}

function promptLines(prompts: readonly PromptRecord[]): readonly string[] {
  const count = (...kinds: readonly string[]): number =>
    prompts.filter(({ state }) => kinds.includes(state.kind)).length;
  const waiting = count('queued');
  const unclear = count('typing', 'typed', 'unknown');
  return [
    ...(waiting === 0 ? [] : [`Prompts that wait and will come to you by themselves: ${waiting}.`]),
    ...(unclear === 0 ? [] : [`Prompts that may not have been worked on: ${unclear}.`]),
  ];
}

/** A span of time in words, in the largest fitting unit. */
function agoOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}
