import { messageOf } from '../../base/errors.ts';
import { age } from './selfTexts.ts';

/** The longest answer that shows items, in characters: Claude cuts or puts aside what is much longer. */
const shownCharacters = 40_000;

/** As many of the texts, from the first one on, as fit into one answer; the first one always. */
export function fitting(texts: readonly string[]): readonly string[] {
  let left = shownCharacters;
  const beyond = texts.findIndex((text, index) => {
    left -= text.length;
    return left < 0 && index > 0;
  });
  return beyond < 0 ? texts : texts.slice(0, beyond);
}

/** A text of an agent, each line marked, so that nothing in it can pass for words of Bowline. */
export function quoted(text: string): string {
  return text.replaceAll(/\r\n?|[\n\u2028\u2029\v\f\u0085]/g, '\n').replaceAll(/^/gm, '> ');
}

/** Why something failed, to be gone on with in the same sentence. */
export function reasonOf(error: unknown): string {
  return messageOf(error).replace(/\.$/, '');
}

/** How long ago, and when. */
export function moment(at: number, now: number): string {
  return `${age(now - at)} ago (${new Date(at).toISOString()})`;
}
