import * as z from 'zod/mini';
import { parsed } from '../httpEvents.ts';
import { memberSpan, memberValue, replaced, withoutMembers } from '../jsonMembers.ts';

/** What older revisions do not know of a result: its type, and how long it may be kept. */
const newMembers = ['resultType', 'ttlMs', 'cacheScope'];

/** `HeaderMismatch` of revision 2026-07-28: nothing of the request was processed. */
const headerMismatch = -32020;

const inputRequiredSchema = z.object({
  inputRequests: z._default(
    z.record(z.string(), z.object({ method: z.string(), params: z.exactOptional(z.unknown()) })),
    {},
  ),
  requestState: z.exactOptional(z.string()),
});

/** What the upstream wants to be asked of the client before it goes on, and what is to be given back with it. */
export type InputRequired = z.infer<typeof inputRequiredSchema>;

export type AnswerReading =
  /** The answer for the agent, in its own revision. */
  | { readonly kind: 'final'; readonly text: string }
  | { readonly kind: 'input required'; readonly input: InputRequired }
  | { readonly kind: 'header mismatch'; readonly text: string }
  /** It means nothing that is known. `problem`: a predicate of the upstream. */
  | { readonly kind: 'invalid'; readonly problem: string };

/** Reads the response to a request: valid JSON, of which all that older revisions know stays as it came. */
export function readAnswer(method: string, text: string): AnswerReading {
  const result = memberSpan(text, 'result');
  if (result === undefined) {
    const isMismatch = text.includes(String(headerMismatch)) && codeOf(memberValue(text, 'error')) === headerMismatch;
    return { kind: isMismatch ? 'header mismatch' : 'final', text };
  }
  const { start } = result;
  const type = memberValue(text, 'resultType', start) ?? 'complete';
  if (type === 'input_required') {
    const input = inputRequiredSchema.safeParse(parsed(text.slice(start, result.end))).data;
    return input === undefined
      ? { kind: 'invalid', problem: 'asks for input in a form that is not known' }
      : { kind: 'input required', input };
  }
  if (type !== 'complete') {
    const shown = JSON.stringify(type).slice(0, 100);
    return { kind: 'invalid', problem: `answered with a result of type ${shown}, which is not known` };
  }
  const known = withoutMembers(text, newMembers, start);
  return { kind: 'final', text: method === 'tools/call' ? withObjectOnly(known, start) : known };
}

/** Older revisions take nothing but an object for `structuredContent`, and have the same as text beside it. */
function withObjectOnly(text: string, result: number): string {
  const content = memberSpan(text, 'structuredContent', result);
  return content === undefined || text[content.start] === '{'
    ? text
    : withoutMembers(text, ['structuredContent'], result);
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** The answer with another result in it. */
export function withResult(text: string, result: Readonly<Record<string, unknown>>): string {
  const span = memberSpan(text, 'result');
  return span === undefined ? text : replaced(text, span, JSON.stringify(result));
}
