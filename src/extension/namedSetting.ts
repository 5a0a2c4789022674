/** Every setting that a sentence of Bowline may name. */
const names = ['bowline.claudePath', 'bowline.tmuxPath', 'bowline.healWithoutWindow'] as const;

/** The setting that a sentence names; undefined: none. */
export function settingNamedIn(sentence: string): string | undefined {
  return names.find((name) => sentence.includes(name));
}
