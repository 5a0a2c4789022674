import { readdir, readFile } from 'node:fs/promises';

/** Linux counts the time of ended children in ticks of this length (proc(5), USER_HZ). */
const tickMs = 10;

/**
 * Processor time in milliseconds that a process has used so far, with that of its ended children; Linux only. Its own is
 * read from its threads, to the nanosecond (proc(5), schedstat): what is measured here is less than a tick a second.
 */
export async function processorTime(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const own = await Promise.all(
    threads.map(async (thread) => {
      try {
        const [nanoseconds] = (await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')).split(' ');
        return Number(nanoseconds) / 1e6;
      } catch {
        return 0; // The thread has ended meanwhile.
      }
    }),
  );
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // Counted from behind the command, which may hold spaces: cutime and cstime are the fields 16 and 17 of all.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const children = (Number(fields[13]) + Number(fields[14])) * tickMs;
  return own.reduce((sum, one) => sum + one, children);
}
