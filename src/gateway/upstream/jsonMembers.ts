// Parts of a JSON text are found and exchanged where they stand, so that all else stays as it came: numbers that JavaScript
// cannot hold, the order, names that are there twice. Every `text` must be valid JSON.

const quote = 0x22;
const backslash = 0x5c;

/** Where a part of a text stands: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A member of an object; `start` and `end` are of its value. */
interface Member extends Span {
  readonly name: string;
  /** Where its name begins. */
  readonly from: number;
}

/** The members of the object that begins at `at` or behind the space there; none of what is no object. */
function membersOf(text: string, at: number): readonly Member[] {
  const members: Member[] = [];
  let next = afterSpace(text, at);
  if (text[next] !== '{') return members;
  for (next = afterSpace(text, next + 1); text[next] === '"'; next = afterSpace(text, next + 1)) {
    const from = next;
    const nameEnd = stringEnd(text, from);
    const spelled = text.slice(from, nameEnd);
    const start = afterSpace(text, afterSpace(text, nameEnd) + 1);
    const end = valueEnd(text, start);
    members.push({
      name: spelled.includes('\\') ? String(JSON.parse(spelled)) : spelled.slice(1, -1),
      from,
      start,
      end,
    });
    next = afterSpace(text, end);
  }
  return members;
}

/** Where a member's value stands in the object at `at`: of several of one name the last, as JSON.parse has it. */
export function memberSpan(text: string, name: string, at = 0): Span | undefined {
  return membersOf(text, at).findLast((member) => member.name === name);
}

/** A member's value; undefined where there is none. */
export function memberValue(text: string, name: string, at = 0): unknown {
  const span = memberSpan(text, name, at);
  if (span === undefined) return undefined;
  const value: unknown = JSON.parse(text.slice(span.start, span.end));
  return value;
}

export function replaced(text: string, { start, end }: Span, value: string): string {
  return text.slice(0, start) + value + text.slice(end);
}

/** The text with members added behind those of the object at `at`: they count, whatever is there. `{"a":1}` plus `"b":2`. */
export function withMembers(text: string, members: string, at = 0): string {
  const start = afterSpace(text, at);
  const end = valueEnd(text, start) - 1;
  const isEmpty = afterSpace(text, start + 1) === end;
  return `${text.slice(0, end)}${isEmpty ? '' : ','}${members}${text.slice(end)}`;
}

/** The text without the members of these names in the object at `at`. */
export function withoutMembers(text: string, names: readonly string[], at = 0): string {
  const members = membersOf(text, at);
  const kept = members.filter(({ name }) => !names.includes(name));
  if (kept.length === members.length) return text;
  const start = afterSpace(text, at);
  const parts = kept.map(({ from, end }) => text.slice(from, end));
  return replaced(text, { start, end: valueEnd(text, start) }, `{${parts.join(',')}}`);
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
