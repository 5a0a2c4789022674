/** What must not leave the machine, as far as it is known. */
export interface Secrets {
  /** Keys, tokens and ids that open something. Gone wherever they stand, also within a word. */
  readonly keys: readonly string[];
  /** Prompts, saved contexts and other texts of a person or an agent. */
  readonly texts: readonly string[];
  /** Values of variables and arguments. Those of fewer than 6 characters are too common a word to be looked for. */
  readonly values: readonly string[];
  /** The person's home directory, absolute. */
  readonly home: string;
}

/**
 * A text and a part of what is written have at least so many characters in common before that part counts as the text's;
 * a shorter text counts as a whole word.
 */
export const commonAtLeast = 16;
const blockLength = 8;
/** A block that stands in more places than this is not followed from each of them. */
const placesAtMost = 64;
const shortestText = 3;
const shortestValue = 6;

/** Recognised by their form, whosever they are. The first group, where there is one, stays. */
const forms: readonly { readonly pattern: RegExp; readonly mark: string }[] = [
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, mark: '<key>' },
  { pattern: /\b(Bearer|Basic)\s+[^\s"'\\]+/gi, mark: '$1 <key>' },
  { pattern: /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{8,}/g, mark: '<key>' },
  {
    pattern: /\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bxox[a-z]-[\w-]{8,}|\bAKIA[A-Z0-9]{12,}/g,
    mark: '<key>',
  },
  { pattern: /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, mark: '<key>' },
  {
    pattern:
      /((?:authorization|cookie|password|passwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|mcp-session-id)\\?["']?\s*[:=]\s*\\?["']?)(?!<|Bearer |Basic )[^\s"'\\,;}]+/gi,
    mark: '$1<key>',
  },
  // 32 random bytes in base64url: what a key or token of Bowline looks like.
  { pattern: /(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{43,}(?![\w-])/g, mark: '<key>' },
  { pattern: /(:\/\/)[^\s/@"']+@/g, mark: '$1<key>@' },
  { pattern: /[\w.+-]+@[\w-]+\.[\w.-]+\w/g, mark: '<address>' },
];

/** Makes a function that takes the secrets out of a text, and shortens paths below a home directory. */
export function redactor({ keys, texts, values, home }: Secrets): (text: string) => string {
  const wholes = [...new Set(keys.flatMap(spellings))].filter((key) => key.length >= shortestValue);
  wholes.sort((a, b) => b.length - a.length);
  const known = [
    ...texts.flatMap((text) => (text.trim().length >= shortestText ? spellings(text.trim()) : [])),
    ...values.flatMap((value) => (value.trim().length >= shortestValue ? spellings(value.trim()) : [])),
  ];
  const words = [...new Set(known.filter((text) => text.length < commonAtLeast))].sort((a, b) => b.length - a.length);
  const long = blocksOf([...new Set(known.filter((text) => text.length >= commonAtLeast))]);
  return (text) => {
    let clean = text;
    for (const key of wholes) clean = clean.replaceAll(key, '<key>');
    clean = withoutCommonParts(clean, long);
    for (const word of words) clean = withoutWord(clean, word);
    for (const { pattern, mark } of forms) clean = clean.replace(pattern, mark);
    return shortenPaths(clean, home);
  };
}

/** As it is, on one line, in a JSON text, in an address. */
function spellings(text: string): readonly string[] {
  const oneLine = text.replaceAll(/\s+/g, ' ');
  return [text, oneLine, JSON.stringify(text).slice(1, -1), encodeURIComponent(wellFormed(text))];
}

/** Half a pair cannot be encoded. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}

interface Blocks {
  readonly texts: readonly string[];
  /** Where each block of 8 characters, taken every 8, stands: index of the text and offset in it. */
  readonly places: ReadonlyMap<string, readonly (readonly [number, number])[]>;
}

/** A part that is long enough holds at least one of these blocks whole, wherever it begins. */
function blocksOf(texts: readonly string[]): Blocks {
  const places = new Map<string, (readonly [number, number])[]>();
  for (const [index, text] of texts.entries()) {
    for (let offset = 0; offset + blockLength <= text.length; offset += blockLength) {
      const block = text.slice(offset, offset + blockLength);
      const known = places.get(block);
      if (known === undefined) places.set(block, [[index, offset]]);
      else if (known.length <= placesAtMost) known.push([index, offset]);
    }
  }
  return { texts, places };
}

function withoutCommonParts(text: string, { texts, places }: Blocks): string {
  let result = '';
  let kept = 0;
  for (let start = 0; start + blockLength <= text.length; start += 1) {
    const found = places.get(text.slice(start, start + blockLength));
    if (found === undefined) continue;
    let [from, to] = [start, start];
    for (const [index, offset] of found) {
      const [left, right] = commonPart(text, start, texts[index] ?? '', offset);
      if (right - left >= commonAtLeast && right > to) [from, to] = [Math.min(from, left), right];
    }
    // It stands in so many places that not all of them were looked at.
    if (found.length > placesAtMost) [from, to] = [start - blockLength, Math.max(to, start + 2 * blockLength)];
    if (to === start) continue;
    result += `${text.slice(kept, Math.max(kept, from))}<text>`;
    kept = Math.min(to, text.length);
    start = kept - 1;
  }
  return result + text.slice(kept);
}

/** How far both are the same around a place where a block is. */
function commonPart(text: string, at: number, secret: string, offset: number): readonly [number, number] {
  let left = 0;
  while (left < at && left < offset && text[at - left - 1] === secret[offset - left - 1]) left += 1;
  let right = blockLength;
  while (at + right < text.length && offset + right < secret.length && text[at + right] === secret[offset + right]) {
    right += 1;
  }
  return [at - left, at + right];
}

/** Not within a longer word. */
function withoutWord(text: string, word: string): string {
  const escaped = word.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const before = /^\w/.test(word) ? String.raw`(?<!\w)` : '';
  const after = /\w$/.test(word) ? String.raw`(?!\w)` : '';
  return text.replaceAll(new RegExp(`${before}${escaped}${after}`, 'g'), '<text>');
}

/** Also as Claude folds a path into the name of a folder, and homes of other people. */
function shortenPaths(text: string, home: string): string {
  const isUseful = home.length > 1 && home.startsWith('/');
  const own = isUseful ? text.replaceAll(home, '~').replaceAll(home.replaceAll(/[^A-Za-z0-9]/g, '-'), '-~') : text;
  return own.replaceAll(/(\/(?:home|Users)\/)[^/\s"':;,]+/g, '$1<user>');
}
