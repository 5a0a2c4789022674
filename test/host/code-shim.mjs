#!/usr/bin/env node
// Stands in for the desktop VS Code's executable where there is none: given to @vscode/test-electron as
// vscodeExecutablePath, it takes the same command line and runs the same tests in VS Code's server and Chromium.
import { require as load } from 'tsx/cjs/api';

const { runShim } = load('./shim.ts', import.meta.url);
process.exit(await runShim(process.argv.slice(2)));
