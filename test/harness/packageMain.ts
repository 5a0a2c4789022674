// `npm run package [-- --out FILE]`: makes bowline-<version>.vsix (in the repository's root unless said otherwise), then
// checks what is in it, a line each. Exits 1 on a miss.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createVSIX } from '@vscode/vsce';
import * as z from 'zod/mini';
import { repository } from '../host/setup.mjs';
import { checkPackage, readPackage } from './packageChecks.ts';

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { out: { type: 'string' } } });
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(path.join(repository, 'package.json'), 'utf8')));
  const file = path.resolve(values.out ?? path.join(repository, `bowline-${version}.vsix`));
  // The way that vsce rewrites relative links needs a public repository, which is also what it would warn about.
  await createVSIX({
    cwd: repository,
    packagePath: file,
    rewriteRelativeLinks: false,
    allowMissingRepository: true,
  });
  const checks = checkPackage(await readPackage(file), { repository });
  for (const { name, ok, found } of checks) {
    console.log(`${ok ? 'ok    ' : 'failed'}  ${name}${found === '' ? '' : `: ${found}`}`);
  }
  return checks.every(({ ok }) => ok) ? 0 : 1;
}

void main().then((code) => {
  process.exitCode = code;
});
