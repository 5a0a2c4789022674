import MiniSearch from 'minisearch';
import type { Note } from '../notes.ts';

/** Notes that are indexed before other work gets its turn. */
const atOnce = 20;

/**
 * The notes that have words of the query, best first; of equal ones the newest. Tags count double; a word finds those that
 * begin with it, and those of nearly the same letters.
 */
export async function searchNotes(notes: readonly Note[], query: string): Promise<readonly Note[]> {
  const newestFirst = notes.toReversed();
  const index = new MiniSearch<{ id: number; text: string; tags: string }>({
    fields: ['text', 'tags'],
    tokenize: wordsOf,
    processTerm: plain,
  });
  const documents = newestFirst.map(({ text, tags }, id) => ({ id, text, tags: tags.join(' ') }));
  await index.addAllAsync(documents, { chunkSize: atOnce });
  const found = index.search(query, {
    boost: { tags: 2 },
    prefix: true,
    fuzzy: (term) => (term.length > 3 ? 0.2 : false),
  });
  return found.flatMap(({ id }) => (typeof id === 'number' ? (newestFirst[id] ?? []) : []));
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
/** Written without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function wordsOf(text: string): string[] {
  return text.split(/[\s\p{P}\p{S}\p{Z}\p{C}]+/u).flatMap((word) => {
    return unspaced.test(word) ? Array.from(segmenter.segment(word), ({ segment }) => segment) : word;
  });
}

/** Without accents, in lower case. */
function plain(term: string): string {
  return term.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
