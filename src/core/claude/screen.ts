import { type Cell, readStyledLines } from './styledText.ts';

/**
 * What the screen of an agent shows, by its structure (measured, claude 2.1.160 and 2.1.332): the input line stands
 * between two rules; a dialog takes its place, under one rule, with a list that has one choice marked. It may forbid an
 * action, never justify one.
 */
export type ScreenReading =
  /** The input line of an idle agent, and what stands in it unsent ('' for nothing, `!ls` in shell mode). */
  | { readonly kind: 'input'; readonly text: string }
  /** A turn in progress, and what stands unsent in the input line below it. */
  | { readonly kind: 'busy'; readonly text: string }
  | DialogReading
  /** No input line and no dialog: still starting, another program, a screen of a new form. */
  | { readonly kind: 'unknown' };

export interface DialogReading {
  readonly kind: 'dialog';
  readonly dialog: 'trust' | 'mcp-approval' | 'permission' | 'login' | 'other';
  /** Its first line. */
  readonly title: string;
  /** Without numbers; empty for a dialog that is no list. */
  readonly choices: readonly string[];
  /** Index of the choice that Enter would take. */
  readonly highlighted?: number;
}

/** Reads a captured pane, top to bottom. Capture with escapes: without them a suggestion counts as unsent text. */
export function readScreen(lines: readonly string[]): ScreenReading {
  const cells = readStyledLines(lines);
  const texts = cells.map(textOfCells);
  const rules = texts.flatMap((text, index) => (isRule(text) ? [index] : []));
  const bottom = rules.at(-1);
  const top = rules.at(-2);
  if (top !== undefined && bottom !== undefined && isInputBox(texts.slice(top + 1, bottom))) {
    const text = unsentText(cells.slice(top + 1, bottom));
    const busy =
      spins(texts.slice(0, top)) || texts.slice(bottom + 1).some((line) => /\besc to interrupt\b/i.test(line));
    return { kind: busy ? 'busy' : 'input', text };
  }
  return readDialog(texts.slice(bottom === undefined ? 0 : bottom + 1)) ?? { kind: 'unknown' };
}

/** A line across the screen from its first column; a name may stand in it. The text of a conversation is indented. */
function isRule(text: string): boolean {
  return /^[─▔]{8,}(?:.*[─▔])?$/u.test(text);
}

/** `!` is shell mode. */
const prompt = /^[❯>!](?: |$)/u;

function isInputBox(texts: readonly string[]): boolean {
  const [first, ...rest] = texts;
  return first !== undefined && prompt.test(first) && rest.every((text) => text === '' || text.startsWith('  '));
}

function unsentText(lines: readonly (readonly Cell[])[]): string {
  const mode = lines[0]?.[0]?.character === '!' ? '!' : '';
  const typed = withoutSuggestion(lines.map((line) => line.slice(2)));
  return mode + typed.map(textOfCells).join('\n').trimEnd();
}

/** Drops faint text at the end and, where it begins at the cursor, the character under the cursor, which is not faint. */
function withoutSuggestion(lines: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
  const visible = lines.flat().filter(({ character }) => character.trim() !== '');
  let end = visible.length;
  while (visible[end - 1]?.dim === true) end -= 1;
  if (end < visible.length && visible[end - 1]?.reverse === true) end -= 1;
  const suggested = new Set(visible.slice(end));
  return lines.map((line) => line.filter((cell) => !suggested.has(cell)));
}

/** A spinner is the last thing at the left edge above the input line, but for what hangs on it, indented. */
function spins(textsAbove: readonly string[]): boolean {
  const last = textsAbove.findLast((text) => text !== '' && !text.startsWith('  '));
  return last !== undefined && /^[·✢✳✶✻✽*∗] \S.*…/u.test(last);
}

function readDialog(texts: readonly string[]): DialogReading | undefined {
  const marked = texts.findLastIndex((text) => choicePattern.test(text));
  const hint = texts.findLast((text) => text !== '') ?? '';
  const title = texts.find((text) => text !== '')?.trim() ?? '';
  if (marked === -1) {
    return isHint(hint) ? { kind: 'dialog', dialog: 'other', title, choices: [] } : undefined;
  }
  // A list without a hint below it, or in the middle of other text, may be part of an answer.
  if (!texts.slice(marked + 1).some(isHint)) return undefined;
  const { first, choices, highlighted } = readChoices(texts, marked);
  return { kind: 'dialog', dialog: kindOf(title, texts.slice(0, first), choices), title, choices, highlighted };
}

const choicePattern = /^ +❯ (?:\[.\] )?(?:\d+\. )?(\S.*)$/u;

/** The line that names the keys. */
function isHint(text: string): boolean {
  return /\b(?:enter|esc|space|tab|type) to \w/i.test(text);
}

function readChoices(
  texts: readonly string[],
  marked: number,
): { readonly first: number; readonly choices: readonly string[]; readonly highlighted: number } {
  const column = (texts[marked] ?? '').indexOf('❯') + 2;
  const numbered = /^ *❯ \d+\. /u.test(texts[marked] ?? '');
  const own = new RegExp(`^ {${column}}${numbered ? String.raw`\d+\. ` : String.raw`\S`}`, 'u');
  const part = new RegExp(`^ {${column}}`, 'u');
  let first = marked;
  while (first > 0 && part.test(texts[first - 1] ?? '')) first -= 1;
  let end = marked + 1;
  while (part.test(texts[end] ?? '')) end += 1;
  const choices: string[] = [];
  let highlighted = 0;
  for (let index = first; index < end; index += 1) {
    const text = texts[index] ?? '';
    if (index === marked) highlighted = choices.length;
    else if (!own.test(text)) continue;
    choices.push(text.replace(/^ *(?:❯ )?(?:\[.\] )?(?:\d+\. )?/u, ''));
  }
  return { first, choices, highlighted };
}

function kindOf(title: string, before: readonly string[], choices: readonly string[]): DialogReading['dialog'] {
  const question = before.findLast((text) => text !== '') ?? '';
  const exits = choices.some((choice) => /^no\b.*\bexit\b/i.test(choice));
  if (choices.length === 2 && exits && [...before, ...choices].some((text) => /\btrust/i.test(text))) return 'trust';
  if (/\bnew MCP servers?\b/i.test(title)) return 'mcp-approval';
  if (/^login\b|\bAPI key\b/i.test(title) || /\blogin method\b/i.test(question)) return 'login';
  const yesOrNo = choices.some((choice) => /^yes\b/i.test(choice)) && choices.some((choice) => /^no\b/i.test(choice));
  return yesOrNo && question.endsWith('?') ? 'permission' : 'other';
}

function textOfCells(cells: readonly Cell[]): string {
  return cells
    .map(({ character }) => (character === '\u00a0' ? ' ' : character))
    .join('')
    .trimEnd();
}
