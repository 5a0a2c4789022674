const quote = 0x22;
const backslash = 0x5c;

/** Where a part of a text stands: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the value of `id` stands in a JSON-RPC message, so that it is exchanged and all else stays as it came: numbers
 * that JavaScript cannot hold, the order, names that are there twice. `text` must be valid JSON. Undefined: no object, or
 * one without an id.
 */
export function idSpan(text: string): Span | undefined {
  let at = afterSpace(text, 0);
  if (text[at] !== '{') return undefined;
  let found: Span | undefined;
  for (at = afterSpace(text, at + 1); text[at] === '"'; at = afterSpace(text, at + 1)) {
    const nameEnd = stringEnd(text, at);
    const name = text.slice(at, nameEnd);
    const start = afterSpace(text, afterSpace(text, nameEnd) + 1);
    const end = valueEnd(text, start);
    // As JSON.parse has it: the last one counts.
    if (name === '"id"' || (name.includes('\\') && JSON.parse(name) === 'id')) found = { start, end };
    at = afterSpace(text, end);
  }
  return found;
}

/** The message with another id, given as JSON. Without an id it stays as it is. */
export function withId(text: string, id: string): string {
  const span = idSpan(text);
  return span === undefined ? text : text.slice(0, span.start) + id + text.slice(span.end);
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= 0x20) at++;
  return at;
}

function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    if (at < 0) return text.length;
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
}

function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return at; // the end of the message, behind a number or a word
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (code === 0x2c || code <= 0x20)) return at;
  }
  return text.length;
}
