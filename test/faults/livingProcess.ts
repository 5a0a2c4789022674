import { readFileSync } from 'node:fs';

/** Whether a process lives, looked at without giving way to anything else: a zombie does not. */
export function isLiving(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^\) [ZX]/.test(stat.slice(stat.lastIndexOf(')')));
  } catch {
    return false;
  }
}
