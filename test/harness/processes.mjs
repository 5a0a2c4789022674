// Finds and ends the processes that belong to a test run or a demo, however far they have detached themselves.
// Imports nothing but Node's own modules: test/run.mjs needs it before any package is installed.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Processes whose environment, arguments or working directory contain `mark` (a unique text such as the path of a
 * private directory), and all that descend from them, without this process and its ancestors. Elsewhere than on Linux
 * only arguments can be seen.
 *
 * @param {string} mark
 * @returns {{ pid: number, command: string }[]}
 */
export function findProcesses(mark) {
  const all = process.platform === 'linux' ? linuxProcesses() : listedProcesses();
  const own = new Set(ancestry(process.pid, all));
  const marked = new Set(
    [...all].filter(([pid, { text }]) => !own.has(pid) && text.includes(mark)).map(([pid]) => pid),
  );
  return [...all]
    .filter(([pid]) => !own.has(pid) && ancestry(pid, all).some((ancestor) => marked.has(ancestor)))
    .map(([pid, { command }]) => ({ pid, command }));
}

/** The process, its parent, and so on. */
function ancestry(pid, all) {
  const chain = [];
  for (let next = pid; next > 0 && !chain.includes(next); next = all.get(next)?.parent ?? 0) chain.push(next);
  return chain;
}

/**
 * Ends the processes that {@link findProcesses} finds: asks first, and kills after `patienceMs`. Looks again until none
 * is left, because a supervisor may have started another one meanwhile.
 *
 * @param {string} mark
 * @param {{ patienceMs?: number }} [options]
 */
export async function endProcesses(mark, { patienceMs = 3000 } = {}) {
  const started = Date.now();
  for (;;) {
    const found = findProcesses(mark);
    if (found.length === 0) return;
    const waited = Date.now() - started;
    if (waited > patienceMs + 10_000) {
      throw new Error(`could not end ${found.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`);
    }
    for (const { pid } of found) signal(pid, waited < patienceMs ? 'SIGTERM' : 'SIGKILL');
    await delay(100);
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // it has ended by itself
  }
}

/** By pid: the parent, the command line for people, and the text that a mark is looked for in. */
function linuxProcesses() {
  const found = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z') continue;
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      const directory = readlinkSync(`/proc/${name}/cwd`);
      found.set(Number(name), { parent: Number(parent), command, text: `${command}\0${environment}\0${directory}` });
    } catch (error) {
      // It has ended meanwhile, or belongs to somebody else.
      if (!['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(error.code)) throw error;
    }
  }
  return found;
}

function listedProcesses() {
  const lines = execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' }).split('\n');
  const rows = lines.map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line)).filter((row) => row !== null);
  return new Map(
    rows.map(([, pid, parent, command]) => [Number(pid), { parent: Number(parent), command, text: command }]),
  );
}
