// `npm start`: sets up what is missing, builds, and opens a real VS Code with Bowline and two agents on the real claude.
//   npm start                          the pinned claude and a scripted model: no account, no internet
//   npm start -- --claude 2.1.160      the older pinned version
//   npm start -- --real                your own claude, login and model
//   npm start -- --check DIR           without a screen: plays the main stories, writes screenshots to DIR, exits 0 or 1
import path from 'node:path';
import { parseArgs } from 'node:util';
import { setUp, repository, SetupError } from './setup.mjs';

function readArguments() {
  const { values } = parseArgs({
    options: { real: { type: 'boolean' }, check: { type: 'string' }, claude: { type: 'string', default: '2.1.332' } },
  });
  if (values.real && values.check) throw new Error('--real and --check cannot be used together');
  return values;
}

async function main() {
  const { real, check, claude: version } = readArguments();
  setUp({ browser: check === undefined ? 'unless desktop' : 'always' });
  // Only now are there packages to import.
  const { build } = await import('../../esbuild.mjs');
  if (!(await build({ root: repository }))) return 1;
  const { require: load } = await import('tsx/cjs/api');
  const { claudeVersions } = load('../harness/claude.ts', import.meta.url);
  if (!claudeVersions.includes(version)) throw new Error(`--claude is one of ${claudeVersions.join(', ')}`);
  if (check !== undefined) {
    const { runCheck } = load('./check.ts', import.meta.url);
    return runCheck({ directory: path.resolve(process.env.INIT_CWD ?? '.', check), claudeVersion: version });
  }
  const { runDemo } = load('./demo.ts', import.meta.url);
  await runDemo(real ? { kind: 'own' } : { kind: 'scripted', version });
  return 0;
}

try {
  process.exit(await main()); // a check that still waits for something must not keep a finished demo alive
} catch (error) {
  console.error(error instanceof SetupError ? `setup: ${error.message}` : error);
  process.exit(1);
}
