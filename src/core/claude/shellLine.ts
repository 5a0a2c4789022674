/** A line that makes /bin/sh run exactly these words. Hook commands of Claude go through a shell (measured). */
export function shellLine(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
