import os from 'node:os';
import { text as readText } from 'node:stream/consumers';
import { openPromise } from 'yauzl';

/** A file in a .vsix. */
export interface PackedFile {
  /** Path in the archive, with `/`. */
  readonly name: string;
  /** Uncompressed, in bytes. */
  readonly size: number;
  /** Permission bits, `0o755` for a program. */
  readonly mode: number;
  /** Content of a text file; absent for a binary one. */
  readonly text?: string;
}

/** A .vsix as {@link checkPackage} judges it. */
export interface PackedExtension {
  /** Of the whole archive, in bytes. */
  readonly size: number;
  readonly files: readonly PackedFile[];
}

/** One line of the check. */
export interface PackageCheck {
  readonly name: string;
  readonly ok: boolean;
  /** What was found: the figure, or what is wrong. */
  readonly found: string;
}

/** Upper limit of the whole, in bytes. */
const packageLimit = 5_000_000;

/** What is loaded by one process, and its upper limit in bytes, minified. */
const scriptLimits: readonly (readonly [names: readonly string[], limit: number])[] = [
  [['extension/dist/extension.js', 'extension/dist/window.js'], 400_000],
  [['extension/dist/webview.js'], 150_000],
];

const binary = /\.(png|ttf|node|dll|exe)$|\/spawn-helper$/;

const nodePty = 'extension/node_modules/node-pty';

/** Programs that node-pty starts: without their run bit no terminal opens on macOS. */
const programs = ['darwin-arm64', 'darwin-x64'].map((target) => `${nodePty}/prebuilds/${target}/spawn-helper`);

const below = (directory: string, names: readonly string[]): string[] => names.map((name) => `${directory}/${name}`);

/** Everything that the package holds, and nothing else. */
export const expectedFiles: readonly string[] = [
  ...['[Content_Types].xml', 'extension.vsixmanifest'],
  ...below('extension', ['LICENSE.txt', 'changelog.md', 'package.json', 'readme.md']),
  ...below('extension/dist', ['codicon.css', 'codicon.ttf']),
  ...below('extension/dist', [
    'extension.js',
    'gateway.js',
    'holder.js',
    'hook.js',
    'reports.js',
    'webview.js',
    'window.js',
  ]),
  'extension/docs/admin-api.md',
  ...below('extension/media', ['bowline.svg', 'icon.png']),
  ...below('extension/media', ['walkthrough-agent.svg', 'walkthrough-doctor.svg']),
  ...below('extension/media', ['walkthrough-health.svg', 'walkthrough-status.svg']),
  ...below(nodePty, ['LICENSE', 'package.json']),
  ...below(`${nodePty}/lib`, ['conpty_console_list_agent.js', 'eventEmitter2.js', 'index.js', 'interfaces.js']),
  ...below(`${nodePty}/lib`, ['shared/conout.js', 'terminal.js', 'types.js', 'unixTerminal.js', 'utils.js']),
  ...below(`${nodePty}/lib`, ['windowsConoutConnection.js', 'windowsPtyAgent.js', 'windowsTerminal.js']),
  `${nodePty}/lib/worker/conoutSocketWorker.js`,
  ...['linux-arm64', 'linux-x64', 'darwin-arm64', 'darwin-x64'].map((to) => `${nodePty}/prebuilds/${to}/pty.node`),
  ...programs,
  ...['win32-arm64', 'win32-x64'].flatMap((target) =>
    below(`${nodePty}/prebuilds/${target}`, [
      ...['conpty.node', 'conpty_console_list.node', 'conpty/OpenConsole.exe', 'conpty/conpty.dll'],
    ]),
  ),
];

/** Reads a .vsix, which is a zip file. */
export async function readPackage(file: string): Promise<PackedExtension> {
  const archive = await openPromise(file);
  const files: PackedFile[] = [];
  for await (const entry of archive.eachEntry()) {
    const name = entry.fileName;
    files.push({
      name,
      size: entry.uncompressedSize,
      mode: (entry.externalFileAttributes >>> 16) & 0o777,
      ...(!binary.test(name) && { text: await readText(await archive.openReadStreamPromise(entry)) }),
    });
  }
  return { size: archive.fileSize, files };
}

/** Judges a package; `repository` is the path that must not be found in it. */
export function checkPackage(
  { size, files }: PackedExtension,
  { repository }: { readonly repository: string },
): readonly PackageCheck[] {
  const names = files.map(({ name }) => name);
  const missing = expectedFiles.filter((name) => !names.includes(name));
  const unexpected = names.filter((name) => !expectedFiles.includes(name));
  return [
    list('no file is missing', missing),
    list('no file is too many', unexpected),
    list(
      "node-pty's helpers can run",
      files.filter(({ name, mode }) => programs.includes(name) && (mode & 0o111) !== 0o111).map(({ name }) => name),
    ),
    list(
      'no source maps',
      files
        .filter(({ name, text }) => name.endsWith('.map') || (isOwnScript(name) && text?.includes('//# sourceMapping')))
        .map(({ name }) => name),
    ),
    list(
      'no tests',
      names.filter((name) => /(^|\/)test\/|\.test\.|\/src\//.test(name)),
    ),
    list(
      'no paths of this machine',
      files.flatMap(({ name, text = '' }) => machinePaths(text, repository).map((found) => `${found} in ${name}`)),
    ),
    limitCheck('package', size, packageLimit),
    ...scriptLimits.map(([parts, limit]) => {
      const sizes = parts.map((name) => files.find((file) => file.name === name)?.size ?? NaN);
      return limitCheck(parts.join(' and '), sum(sizes), limit);
    }),
  ];
}

function isOwnScript(name: string): boolean {
  return name.startsWith('extension/dist/');
}

/** Paths that mean something on the machine that built the package only; every Homebrew on Linux is in one place. */
function machinePaths(text: string, repository: string): string[] {
  const own = [repository, os.homedir(), os.userInfo().homedir].filter((name) => name.length > 1);
  const home = /\/home\/(?!linuxbrew\/)[\w.-]+\/|\/Users\/[\w.-]+\/|[A-Z]:\\\\?Users\\/.exec(text);
  return [...new Set([...own.filter((name) => text.includes(`${name}/`)), ...(home === null ? [] : [home[0]])])];
}

function list(name: string, wrong: readonly string[]): PackageCheck {
  return { name, ok: wrong.length === 0, found: wrong.join(', ') };
}

/** `size` not a number: something is not there. */
function limitCheck(name: string, size: number, limit: number): PackageCheck {
  return {
    name: `${name} at most ${kilobytes(limit)}`,
    ok: size <= limit,
    found: Number.isNaN(size) ? 'is not there' : kilobytes(size),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1000)} kB`;
}
