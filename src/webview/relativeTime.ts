const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Largest first; a time is told in the first unit that fits into its age. */
const units = [
  { word: 'd', length: day },
  { word: 'h', length: hour },
  { word: 'min', length: minute },
  { word: 's', length: second },
] as const;

/** How long ago `at` was (both in milliseconds), like `3 s ago`. A time in the future, by clocks that differ, is `just now`. */
export function relativeTime(at: number, now: number): string {
  const age = now - at;
  const unit = units.find(({ length }) => age >= length);
  return unit === undefined ? 'just now' : `${Math.floor(age / unit.length)} ${unit.word} ago`;
}

/** Milliseconds until {@link relativeTime} says something else, at least 1. */
export function nextChangeIn(at: number, now: number): number {
  const age = now - at;
  const length = units.find((unit) => age >= unit.length)?.length ?? second;
  return (Math.floor(age / length) + 1) * length - age;
}

/** Local time of day, with the date in front where `at` was on another day than `now`. */
export function clockTime(at: number, now: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}
