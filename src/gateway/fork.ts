import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BowlineError, messageOf } from '../base/errors.ts';
import { readTranscript } from '../core/claude/transcript.ts';
import { forkPoint } from '../core/claude/turns.ts';
import type { Agent } from '../core/fleet/agent.ts';
import { writeFileAtomic } from '../node/files.ts';

/** A copy of a conversation that ends before its bad turn. */
export interface Fork {
  readonly sessionId: string;
  /** The conversation that was copied; its transcript is as it was. */
  readonly of: string;
  readonly transcriptPath: string;
  /** So many prompts of the original are not in it. */
  readonly leftOut: number;
}

/**
 * Copies the agent's conversation up to before its bad turn. Claude resumes the copy by its file's name and writes on
 * there, whatever session its lines name (measured, claude 2.1.160 and 2.1.332). Rejects with `bad-request` where there
 * is nothing to copy.
 */
export async function forkBeforeBadTurn({ name, session }: Agent): Promise<Fork> {
  if (session?.transcriptPath === undefined) {
    throw new BowlineError('bad-request', `${name} has no conversation that could be forked. Use Resume.`);
  }
  const text = await readFile(session.transcriptPath, 'utf8').catch((error: unknown) => {
    const sentence = `The transcript of ${name} cannot be read (${messageOf(error)}). Use Force Fresh Restart.`;
    throw new BowlineError('bad-request', sentence, { cause: error });
  });
  const point = forkPoint(readTranscript(text).facts);
  if (point === undefined) {
    throw new BowlineError(
      'bad-request',
      `The conversation of ${name} has no turn before a bad one, so that nothing of it can be kept. Use Force Fresh Restart.`,
    );
  }
  const sessionId = randomUUID();
  const transcriptPath = join(dirname(session.transcriptPath), `${sessionId}.jsonl`);
  const kept = text.split('\n').slice(0, point.lines);
  await writeFileAtomic(transcriptPath, kept.map((line) => `${line}\n`).join(''));
  return { sessionId, of: session.id, transcriptPath, leftOut: point.leftOut };
}
