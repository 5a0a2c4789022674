import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runExtensionTests } from './extensionTests.ts';

/**
 * Runs extension tests from the command line that @vscode/test-electron 2.5.2 gives to VS Code. Flags without a meaning
 * here are ignored. Resolves with an exit code, 2 for a command line without `--extensionTestsPath`.
 */
export async function runShim(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    options: {
      extensionDevelopmentPath: { type: 'string', multiple: true },
      extensionTestsPath: { type: 'string' },
      'user-data-dir': { type: 'string' },
      'extensions-dir': { type: 'string' },
    },
  });
  const tests = values.extensionTestsPath;
  const userDataDirectory = values['user-data-dir'];
  const extensionsDirectory = values['extensions-dir'];
  if (typeof tests !== 'string' || typeof userDataDirectory !== 'string' || typeof extensionsDirectory !== 'string') {
    console.error('code-shim: needs --extensionTestsPath, --user-data-dir and --extensions-dir');
    return 2;
  }
  const folder = positionals.filter((positional) => existsSync(positional)).at(-1);
  return runExtensionTests({
    extensions: (values.extensionDevelopmentPath ?? []).map((directory) => path.resolve(String(directory))),
    entry: path.resolve(tests),
    userDataDirectory: path.resolve(userDataDirectory),
    extensionsDirectory: path.resolve(extensionsDirectory),
    ...(folder === undefined ? {} : { folder: path.resolve(folder) }),
  });
}
