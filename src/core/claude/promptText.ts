/** A prompt as it is sent, or one sentence that tells why it cannot be sent and what would do. */
export type PromptReading =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly sentence: string };

/** In characters: beyond that a file that the agent reads serves better. */
export const longestPrompt = 100_000;

// The tabulator and the end of a line are text; an escape could end the paste and become keys.
const controlCharacters = /(?![\t\n])[\p{Cc}\p{Surrogate}]/u;

/**
 * Reads a prompt that a person or a script gave. `/` and `!` at its start make commands of Claude and of the shell of it,
 * for which no hook tells a receipt (measured, claude 2.1.160 and 2.1.332).
 */
export function readPromptText(given: string): PromptReading {
  const text = given
    .replaceAll(/\r\n?/g, '\n')
    .replace(/^\s*\n/, '')
    .trimEnd();
  if (text === '') return { ok: false, sentence: 'The prompt is empty. Write what the agent shall do.' };
  if (text.length > longestPrompt) {
    return {
      ok: false,
      sentence: `The prompt has ${text.length} characters, at most ${longestPrompt} can be sent. Put it into a file and ask the agent to read that.`,
    };
  }
  if (controlCharacters.test(text)) {
    return { ok: false, sentence: 'The prompt holds control characters, which would act as keys. Remove them.' };
  }
  const [first] = text.trimStart();
  if (first === '/' || first === '!') {
    return {
      ok: false,
      sentence: `A prompt that begins with "${first}" is a command of Claude, and its receipt cannot be proven. Put a word before it, or attach and type it yourself.`,
    };
  }
  return { ok: true, text };
}

/**
 * What is pasted for a prompt. The space at its end keeps Enter a submit: right after `@name` it would take a suggestion,
 * right after a backslash it would begin a new line (measured, claude 2.1.160 and 2.1.332).
 */
export function pastedText(text: string): string {
  return `${text} `;
}

/**
 * Whether the input line shows this text and nothing else. Lines are broken where the screen ends, and a paste of more
 * than three lines or 800 characters shows as `[Pasted text #1 +3 lines]` (measured, claude 2.1.160 and 2.1.332).
 */
export function showsPrompt(shown: string, text: string): boolean {
  const placeholder = /^\[Pasted text #\d+(?: \+(\d+) lines)?\]$/.exec(shown.trim());
  if (placeholder !== null) return Number(placeholder[1] ?? 0) === text.split('\n').length - 1;
  return shown !== '' && withoutSpace(shown) === withoutSpace(text);
}

/**
 * The same for what was sent and for what the hook tells: 2.1.332 puts tags around a long paste, tabulators become spaces,
 * and space at the ends goes (measured).
 */
export function canonicalPrompt(text: string): string {
  return text
    .replaceAll(/<\/?pasted_content id="[^"]*">/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
