import { readdirSync } from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';

/** Runs every bundled test file beside this one; called by VS Code inside the extension host. */
export async function run(): Promise<void> {
  const reporter = process.env['BOWLINE_TEST_REPORTER'] ?? 'spec';
  const mocha = new Mocha({ ui: 'bdd', timeout: 30_000, reporter });
  for (const file of readdirSync(__dirname)) {
    if (file.endsWith('.test.js')) mocha.addFile(path.join(__dirname, file));
  }
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  if (failures > 0) throw new Error(`${failures} failed`);
}
