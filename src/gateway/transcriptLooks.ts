import { stat } from 'node:fs/promises';
import { type Disposable, DisposableStore } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { messageOf } from '../base/errors.ts';
import { readTranscript, type TranscriptFact } from '../core/claude/transcript.ts';
import { poisonedTurns } from '../core/claude/turns.ts';
import type { HooksEffect } from '../core/fleet/effects.ts';
import { isErrorWithCode, readPart } from '../node/files.ts';
import { promptDigest } from '../node/promptDigest.ts';
import type { FleetService } from './fleetService.ts';
import type { AgentKeys, Clock } from './ports.ts';

/** What {@link followTranscripts} works with. */
export interface TranscriptLookOptions {
  readonly fleet: Pick<FleetService, 'onEffects' | 'onEvent' | 'report' | 'state'>;
  readonly clock: Clock;
  readonly keys: Pick<AgentKeys, 'keyOf'>;
  readonly log: Log;
}

/** From the end of a transcript: the last turns stand there. */
const tailBytes = 1024 * 1024;

/**
 * Looks for transcripts that should be there, for a typed prompt whose receipt no hook told, for prompts that hooks which
 * went silent did not tell, and reads the end of one that is resumed: it may have been poisoned while nobody watched.
 */
export function followTranscripts({ fleet, clock, keys, log }: TranscriptLookOptions): Disposable {
  const store = new DisposableStore();
  const report = (name: string, sessionId: string, look: () => Promise<Seen>): void => {
    look()
      .then((seen) => {
        if (seen !== undefined) fleet.report({ at: clock(), kind: 'transcript seen', name, sessionId, ...seen });
      })
      .catch((error: unknown) => {
        log.warn('a transcript cannot be looked at', { agent: name, reason: messageOf(error) });
      });
  };
  const checkHooks = ({ name, launchId, path, toldUntil }: HooksEffect): void => {
    void readEnd(path)
      .catch((error: unknown) => {
        log.warn('a transcript cannot be looked at', { agent: name, reason: messageOf(error) });
        return [];
      })
      .then((facts) => {
        const silentSince = facts.find(({ kind, at = 0 }) => kind === 'prompt' && at > toldUntil)?.at;
        const found = silentSince === undefined ? {} : { silentSince };
        fleet.report({ at: clock(), kind: 'hooks checked', name, launchId, ...found });
      });
  };
  const lookForPrompt = async (name: string, promptId: string, path: string): Promise<Seen> => {
    const prompt = fleet.state.agents[name]?.prompts?.find(({ id }) => id === promptId);
    if (prompt === undefined || !('since' in prompt.state)) return undefined;
    const { digest, state } = prompt;
    const key = await keys.keyOf(name);
    const isIt = ({ kind, at = 0, text }: TranscriptFact): boolean =>
      kind === 'prompt' && at >= state.since && text !== undefined && promptDigest(text, key) === digest;
    return (await readEnd(path)).some(isIt) ? { file: 'there', promptId } : undefined;
  };
  store.add(
    fleet.onEffects((effects) => {
      for (const effect of effects) {
        if (effect.kind === 'hooks') checkHooks(effect);
        if (effect.kind !== 'transcript') continue;
        const { name, sessionId, path, promptId } = effect;
        report(name, sessionId, () => (promptId === undefined ? lookFor(path) : lookForPrompt(name, promptId, path)));
      }
    }),
  );
  store.add(
    fleet.onEvent(({ event }) => {
      // It was given up: the transcript may have been written after the first look.
      const session = event.kind === 'prompt ended' ? fleet.state.agents[event.name]?.session : undefined;
      if (event.kind === 'prompt ended' && event.outcome === 'unknown' && session?.transcriptPath !== undefined) {
        const { name, promptId } = event;
        const { transcriptPath: path } = session;
        report(name, session.id, () => lookForPrompt(name, promptId, path));
      }
      if (event.kind !== 'hook reported' || event.hook.event !== 'SessionStart') return;
      const { source, sessionId, transcriptPath, transcriptExists } = event.hook;
      if (source !== 'resume' || !transcriptExists || transcriptPath === undefined) return;
      report(event.name, sessionId, () => lookInto(transcriptPath));
    }),
  );
  return store;
}

type Seen =
  | {
      readonly file: 'there' | 'missing';
      readonly errors?: ReturnType<typeof poisonedTurns>;
      readonly promptId?: string;
    }
  | undefined;

async function lookFor(path: string): Promise<Seen> {
  try {
    await stat(path);
    return { file: 'there' };
  } catch (error) {
    // What cannot be looked at may be there.
    return { file: isErrorWithCode(error, 'ENOENT') || isErrorWithCode(error, 'ENOTDIR') ? 'missing' : 'there' };
  }
}

/** Undefined: its last turns are sound. */
async function lookInto(path: string): Promise<Seen> {
  const errors = poisonedTurns(await readEnd(path));
  return errors.length === 0 ? undefined : { file: 'there', errors };
}

async function readEnd(path: string): Promise<readonly TranscriptFact[]> {
  const { size } = await stat(path);
  const start = Math.max(0, size - tailBytes);
  // A torn first line is skipped alone.
  return readTranscript(await readPart(path, start, size - start)).facts;
}
