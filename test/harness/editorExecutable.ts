import path from 'node:path';
import { findChromium, repository } from '../host/setup.mjs';

/** For `runTests`: VSCODE_EXECUTABLE if set, else the browser-served VS Code where a browser is, else one that is downloaded. */
export function chooseExecutable(): { vscodeExecutablePath?: string } {
  const chosen = process.env['VSCODE_EXECUTABLE'];
  if (chosen !== undefined) return { vscodeExecutablePath: chosen };
  if (findChromium() === undefined) return {};
  return { vscodeExecutablePath: path.join(repository, 'test/host/code-shim.mjs') };
}
