// `npm test [-- STEP...]`: sets up what is missing, runs every step (or the named ones and what they need), goes on
// after failures, checks that nothing was left behind, and prints `N passed, N failed` as the last line.
// Imports nothing but Node's own modules and files that do the same, because packages may not be installed yet.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endProcesses, findProcesses } from './harness/processes.mjs';
import { repository, setUp, SetupError } from './host/setup.mjs';

const node = process.execPath;
const tool = (name) => path.join(repository, 'node_modules', name);
const mocha = (...args) => [node, tool('mocha/bin/mocha.js'), ...args];

/** `tests` steps count what they ran; any other step is one that passed or failed. Limits, in minutes, end what hangs. */
const steps = [
  { name: 'build', command: [node, 'esbuild.mjs'], limit: 5 },
  { name: 'types', command: [node, tool('typescript/bin/tsc'), '--noEmit', '-p', '.'], limit: 10 },
  { name: 'lint', command: [node, tool('eslint/bin/eslint.js'), '--max-warnings', '0', '.'], limit: 10 },
  {
    name: 'format',
    command: [node, tool('prettier/bin/prettier.cjs'), '--check', '--log-level', 'warn', '.'],
    limit: 5,
  },
  { name: 'unused', command: [node, tool('knip/bin/knip.js')], limit: 5 },
  { name: 'unit', command: mocha('test/unit/**/*.test.ts'), tests: true, limit: 10 },
  {
    name: 'integration',
    command: mocha('--timeout', '120000', 'test/integration/**/*.test.ts'),
    tests: true,
    needs: ['build'],
    limit: 30,
  },
  // A minute of kills; the seed that it prints has them again.
  { name: 'chaos', command: [node, '--import', 'tsx', 'test/chaos/run.ts', '60'], limit: 6 },
  {
    name: 'extension',
    command: [node, '--import', 'tsx', 'test/extension/run.ts'],
    tests: true,
    needs: ['build'],
    limit: 10,
  },
  {
    name: 'e2e',
    command: mocha('test/e2e/**/*.test.ts'),
    tests: true,
    limit: 10,
  },
  {
    name: 'stories',
    command: [node, '--import', 'tsx', 'test/stories/run.ts'],
    tests: true,
    needs: ['build'],
    limit: 30,
  },
];

/** What the tools themselves keep in a temporary directory. */
const toolCaches = /^(tsx-\d+|node-compile-cache|v8-compile-cache-\d+|claude-\d+|cc-socks)$/;

/** Steps in their order: all, or the named ones and what they need. */
function chooseSteps(names) {
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) {
    throw new SetupError(`no step ${unknown.join(', ')}; there are ${steps.map(({ name }) => name).join(', ')}`);
  }
  if (names.length === 0) return steps;
  const needed = steps.filter(({ name }) => names.includes(name)).flatMap(({ name, needs = [] }) => [name, ...needs]);
  return steps.filter(({ name }) => needed.includes(name));
}

/** Runs a step with its output shown; resolves with what passed and failed. */
async function runStep({ name, command, tests, limit }, { environment, directory }) {
  console.log(`\n=== ${name}`);
  const counts = path.join(directory, `${name}.json`);
  const started = Date.now();
  const ended = await runCommand(command, {
    environment: {
      ...environment,
      BOWLINE_TEST_COUNTS: counts,
      BOWLINE_TEST_REPORTER: path.join(repository, 'test/harness/countingReporter.cjs'),
    },
    limit,
  });
  const seconds = (Date.now() - started) / 1000;
  if (!tests) return { name, seconds, passed: ended === 'ok' ? 1 : 0, failed: ended === 'ok' ? 0 : 1, notes: [] };
  return { name, seconds, ...judgeTests(ended, counts) };
}

/** Tests that were skipped or never ran are failures, too. */
function judgeTests(ended, file) {
  if (!existsSync(file)) return { passed: 0, failed: 1, notes: [`no test was counted (${ended})`] };
  const { passed, failed, pending, failures } = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  const notes = [];
  if (pending > 0) notes.push(`${pending} skipped`);
  const isHiddenFailure = failed + pending === 0 && (ended !== 'ok' || passed === 0);
  if (isHiddenFailure) notes.push(passed === 0 ? 'no test ran' : ended);
  return { passed, failed: failed + pending + (isHiddenFailure ? 1 : 0), notes, failures };
}

/** Resolves with `ok` or with how the command failed. After its limit (minutes) its process group is ended. */
function runCommand([program, ...args], { environment, limit }) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: repository, env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
    let tooLate = false;
    const timer = setTimeout(() => {
      tooLate = true;
      console.log(`not finished after ${limit} minutes`);
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), 10_000).unref();
    }, limit * 60_000);
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      if (tooLate) resolve(`not finished after ${limit} minutes`);
      else resolve(code === 0 ? 'ok' : `ended with ${signal ?? `code ${code}`}`);
    });
  });
}

function findLeftovers({ marks, directory }) {
  return {
    processes: [...new Map(marks.flatMap(findProcesses).map((found) => [found.pid, found])).values()],
    files: readdirSync(directory).filter((name) => !toolCaches.test(name)),
  };
}

/** Lists what the steps left behind and ends it. Every leftover counts as a failure. */
async function checkLeftovers({ marks, directory }) {
  console.log('\n=== leftovers');
  const started = Date.now();
  let { processes, files } = findLeftovers({ marks, directory });
  while (processes.length > 0 && Date.now() - started < 2000) {
    await delay(100); // what was told to end may need a moment
    ({ processes, files } = findLeftovers({ marks, directory }));
  }
  for (const { pid, command } of processes) console.log(`left running: ${pid} ${command}`);
  for (const name of files) console.log(`left in the temporary directory: ${name}`);
  for (const mark of marks) await endProcesses(mark);
  const failed = processes.length + files.length;
  const seconds = (Date.now() - started) / 1000;
  return { name: 'leftovers', seconds, passed: failed === 0 ? 1 : 0, failed, notes: [] };
}

/** What failed once more, at the end of a long output. */
function printFailures(results) {
  const failures = results.flatMap(({ name, failures = [] }) => failures.map((failure) => `${name}: ${failure}`));
  if (failures.length > 0) console.log('\n=== failures');
  for (const failure of failures) console.log(failure.slice(0, 2_000));
}

function printSummary(results) {
  console.log('\n=== summary');
  for (const { name, seconds, passed, failed, notes } of results) {
    const note = notes.length > 0 ? ` (${notes.join(', ')})` : '';
    console.log(`${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s  ${passed} passed, ${failed} failed${note}`);
  }
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed');
}

async function main() {
  const chosen = chooseSteps(process.argv.slice(2));
  setUp({ browser: 'always' });
  // Short, because a Unix socket's path ends at about 100 bytes, and private, so that whatever is left in it is ours.
  const directory = mkdtempSync(path.join(os.tmpdir().length > 20 ? '/tmp' : os.tmpdir(), 'bl-'));
  const run = randomUUID();
  const environment = { ...process.env, TMPDIR: directory, BOWLINE_TEST_RUN: run };
  const marks = [run, directory];
  const cleanUp = async () => {
    for (const mark of marks) await endProcesses(mark);
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => void cleanUp().finally(() => process.exit(130)));
  }
  const results = [];
  try {
    for (const step of chosen) results.push(await runStep(step, { environment, directory }));
    results.push(await checkLeftovers({ marks, directory }));
  } finally {
    await cleanUp();
  }
  printFailures(results);
  if (printSummary(results) > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`setup: ${error.message}`);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
