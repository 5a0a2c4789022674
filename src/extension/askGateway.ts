import * as z from 'zod/mini';
import { BowlineError, messageOf } from '../base/errors.ts';
import { readEndpointFile } from '../node/endpointFile.ts';
import type { StatePaths } from '../node/statePaths.ts';
import { allIssues, inEnglish } from '../protocol/issues.ts';

const patienceMs = 10_000;
const refusalSchema = z.object({ error: z.object({ sentence: z.string() }) });

/** Gets an answer of the admin API. Rejects with `gateway-away`, or `bad-request` with the gateway's own sentence. */
export async function askGateway<T>(paths: StatePaths, path: string, schema: z.ZodMiniType<T>): Promise<T> {
  const reading = await readEndpointFile(paths);
  if (reading.kind !== 'ok') throw away('its endpoint file cannot be used');
  const { port, token } = reading.endpoint;
  let body: unknown;
  let isRefused = false;
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(patienceMs),
    });
    isRefused = !response.ok;
    body = await response.json();
  } catch (error) {
    throw away(messageOf(error));
  }
  if (isRefused) {
    const refusal = refusalSchema.safeParse(body);
    throw new BowlineError('bad-request', refusal.success ? refusal.data.error.sentence : 'The gateway refused that.');
  }
  const parsed = schema.safeParse(body, inEnglish);
  if (parsed.success) return parsed.data;
  throw new BowlineError('bad-request', `The gateway's answer is not understood (${allIssues(parsed.error, 'body')}).`);
}

function away(reason: string): BowlineError {
  return new BowlineError('gateway-away', `The gateway does not answer (${reason}). Try again in a moment.`);
}
