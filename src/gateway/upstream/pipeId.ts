import { memberSpan, replaced, type Span } from './jsonMembers.ts';

/** Where the value of `id` stands in a JSON-RPC message. Undefined: no object, or one without an id. */
export function idSpan(text: string): Span | undefined {
  return memberSpan(text, 'id');
}

/** The message with another id, given as JSON. Without an id it stays as it is. */
export function withId(text: string, id: string): string {
  const span = idSpan(text);
  return span === undefined ? text : replaced(text, span, id);
}
