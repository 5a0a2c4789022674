import { stat } from 'node:fs/promises';
import { type Disposable, DisposableStore } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { messageOf } from '../base/errors.ts';
import { readTranscript } from '../core/claude/transcript.ts';
import { poisonedTurns } from '../core/claude/turns.ts';
import { isErrorWithCode, readPart } from '../node/files.ts';
import type { FleetService } from './fleetService.ts';
import type { Clock } from './ports.ts';

/** What {@link followTranscripts} works with. */
export interface TranscriptLookOptions {
  readonly fleet: Pick<FleetService, 'onEffects' | 'onEvent' | 'report'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** From the end of a transcript: the last turns stand there. */
const tailBytes = 1024 * 1024;

/**
 * Looks for transcripts that should be there, and reads the end of one that is resumed: it may have been poisoned while
 * nobody watched.
 */
export function followTranscripts({ fleet, clock, log }: TranscriptLookOptions): Disposable {
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
  store.add(
    fleet.onEffects((effects) => {
      for (const effect of effects) {
        if (effect.kind === 'transcript') report(effect.name, effect.sessionId, () => lookFor(effect.path));
      }
    }),
  );
  store.add(
    fleet.onEvent(({ event }) => {
      if (event.kind !== 'hook reported' || event.hook.event !== 'SessionStart') return;
      const { source, sessionId, transcriptPath, transcriptExists } = event.hook;
      if (source !== 'resume' || !transcriptExists || transcriptPath === undefined) return;
      report(event.name, sessionId, () => lookInto(transcriptPath));
    }),
  );
  return store;
}

type Seen = { readonly file: 'there' | 'missing'; readonly errors?: ReturnType<typeof poisonedTurns> } | undefined;

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
  const { size } = await stat(path);
  const start = Math.max(0, size - tailBytes);
  // A torn first line is skipped alone.
  const errors = poisonedTurns(readTranscript(await readPart(path, start, size - start)).facts);
  return errors.length === 0 ? undefined : { file: 'there', errors };
}
