/** `ada`, `ada and bo`, `ada, bo and cy`; beyond `limit` the rest is counted: `ada, bo and 7 more`. */
export function listNames(names: readonly string[], limit: number): string {
  if (names.length > limit) return `${names.slice(0, limit).join(', ')} and ${names.length - limit} more`;
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}
