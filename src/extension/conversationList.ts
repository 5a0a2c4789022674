import { BowlineError } from '../base/errors.ts';
import { readEndpointFile } from '../node/endpointFile.ts';
import type { StatePaths } from '../node/statePaths.ts';
import { conversationListSchema, type ConversationRow } from '../protocol/conversations.ts';

/** Milliseconds: the gateway looks into every transcript of the directory for it. */
const answerLimit = 20_000;

/** The conversations that an agent could go on with, as the gateway's admin API lists them. Rejects: gateway-away. */
export async function conversationsOf(
  paths: StatePaths,
  name: string,
  signal: AbortSignal,
): Promise<readonly ConversationRow[]> {
  const away = (reason: string, cause?: unknown): BowlineError => {
    const sentence = `The conversations of ${name} cannot be listed (${reason}). Try again in a moment.`;
    return new BowlineError('gateway-away', sentence, { cause });
  };
  const reading = await readEndpointFile(paths);
  if (reading.kind !== 'ok') throw away('the gateway is away');
  const { port, token } = reading.endpoint;
  const request = {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerLimit)]),
  };
  try {
    const response = await fetch(`http://127.0.0.1:${port}/agents/${name}/conversations`, request);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return conversationListSchema.parse(await response.json()).conversations;
  } catch (error) {
    if (signal.aborted) throw new BowlineError('cancelled', 'Cancelled.');
    throw away('the gateway did not answer', error);
  }
}
