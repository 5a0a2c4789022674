/** The three numbers of a version such as `2.1.332` or `2.1.332 (Claude Code)`; `undefined` if it is none. */
export function readVersion(text: string): readonly [number, number, number] | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(text.trim());
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** The first version whose idle client, once it gave up, never dials again by itself (measured in 19 versions). */
const firstThatGivesUp = [2, 1, 280] as const;

/**
 * Whether a client of this version dials again when one of its tools is called after it lost its server. A version that
 * cannot be read counts as new: its tools are then checked, not trusted.
 */
export function dialsAgainWhenCalled(version: string): boolean {
  const numbers = readVersion(version);
  return numbers !== undefined && isBelow(numbers, firstThatGivesUp);
}

/** Whether a version is older than another one. */
export function isBelow(version: readonly number[], limit: readonly number[]): boolean {
  for (const [index, most] of limit.entries()) {
    const number = version[index] ?? 0;
    if (number !== most) return number < most;
  }
  return false;
}
