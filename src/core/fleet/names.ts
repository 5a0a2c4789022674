/** What an agent may be called: it is a tmux session name, a header value and part of a path (spec, Words). */
export const agentNamePattern = /^[a-z0-9][a-z0-9_-]{0,31}$/;

/** A valid name, or one sentence that tells what is wrong with the text and what would do. */
export type NameReading =
  { readonly ok: true; readonly name: string } | { readonly ok: false; readonly sentence: string };

/** Reads a name that a person or a script gave. Nothing is trimmed or folded: what is stored is what was said. */
export function readAgentName(text: string): NameReading {
  // The only text of the pattern that a plain object answers to without having it.
  if (text === 'constructor') return { ok: false, sentence: `"${text}" is a reserved word. Choose another name.` };
  if (agentNamePattern.test(text)) return { ok: true, name: text };
  const rule = 'Use 1 to 32 of a-z, 0-9, "-" and "_", beginning with a letter or digit, for example "ada".';
  if (text.trim() === '') return { ok: false, sentence: `An agent needs a name. ${rule}` };
  if (text.length > 32) {
    return { ok: false, sentence: `The name "${text.slice(0, 32)}..." has ${text.length} characters. ${rule}` };
  }
  return { ok: false, sentence: `"${printable(text)}" cannot be an agent's name. ${rule}` };
}

/** The text with control characters made visible, for messages. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
