import * as z from 'zod/mini';
import { type HandsFact, handsFactSchema } from '../protocol/fleetEvent.ts';
import { firstIssue, inEnglish } from '../protocol/issues.ts';
import { type WindowMessage, windowMessageSchema } from '../protocol/stream.ts';

/** What a window sent. `dropped`: parts that were left out, each with its place and reason. */
export type WindowReading = { readonly dropped: readonly string[] } & (
  | { readonly kind: 'ok'; readonly message: WindowMessage }
  /** A request that is not understood: it can be answered. */
  | { readonly kind: 'answerable'; readonly id: number; readonly reason: string }
  | { readonly kind: 'damaged'; readonly reason: string }
);

const requestSchema = z.object({ kind: z.literal('request'), id: z.int() });
const reportSchema = z.object({ kind: z.literal('hands report'), facts: z.array(z.unknown()) });

/** Reads one message; undefined stands for one that is no text. */
export function readWindowMessage(text: string | undefined): WindowReading {
  let value: unknown;
  try {
    value = text === undefined ? undefined : JSON.parse(text);
  } catch {
    return { kind: 'damaged', reason: 'a message is not JSON', dropped: [] };
  }
  if (value === undefined) return { kind: 'damaged', reason: 'a message is not text', dropped: [] };
  const parsed = windowMessageSchema.safeParse(value, inEnglish);
  if (parsed.success) return { kind: 'ok', message: parsed.data, dropped: [] };
  const report = reportSchema.safeParse(value);
  if (report.success) return readFacts(report.data.facts);
  const reason = `not understood: ${firstIssue(parsed.error, 'message')}`;
  const request = requestSchema.safeParse(value);
  return request.success
    ? { kind: 'answerable', id: request.data.id, reason, dropped: [] }
    : { kind: 'damaged', reason, dropped: [] };
}

/** One bad fact is dropped alone: the hands would tell it again and again, and the good ones with it. */
function readFacts(items: readonly unknown[]): WindowReading {
  const facts: HandsFact[] = [];
  const dropped: string[] = [];
  for (const [index, item] of items.entries()) {
    const fact = handsFactSchema.safeParse(item, inEnglish);
    if (fact.success) facts.push(fact.data);
    else dropped.push(`fact ${index}: ${firstIssue(fact.error, 'message')}`);
  }
  return { kind: 'ok', message: { kind: 'hands report', facts }, dropped };
}
