'use strict';
// `node loadMain.cjs EXTENSION.JS`: activates the extension with a `vscode` that agrees to everything, on a machine
// without a fleet, and prints for how many milliseconds at most whatever else is due had to wait.
const Module = require('node:module');

// A host has these before any extension is loaded.
for (const name of ['child_process', 'crypto', 'fs/promises', 'http', 'https', 'net', 'stream', 'tls', 'zlib']) {
  require(`node:${name}`);
}

/** Called, constructed or looked into, it is the same again. */
const anything = new Proxy(function () {}, {
  get(target, key) {
    if (key === 'prototype') return target.prototype;
    if (key === 'then') return undefined; // no promise
    return key === Symbol.toPrimitive ? () => '' : anything;
  },
  apply: () => anything,
  construct: () => anything,
  set: () => true,
});

// Bundles copy the module's own names.
const names = ['EventEmitter', 'MarkdownString', 'ProgressLocation', 'StatusBarAlignment', 'ThemeColor', 'ThemeIcon'];
names.push('TreeItem', 'TreeItemCollapsibleState', 'Uri', 'commands', 'env', 'version', 'window', 'workspace');
const vscode = Object.fromEntries(names.map((name) => [name, anything]));

const load = Module._load;
Module._load = (request, ...rest) => (request === 'vscode' ? vscode : load(request, ...rest));

let isOpen = false;
let longest = 0;
let before = performance.now();
const look = () => {
  const now = performance.now();
  longest = Math.max(longest, now - before);
  before = now;
  if (!isOpen) setImmediate(look);
  else process.stdout.write(`${longest}\n`, () => process.exit());
};
setImmediate(look);

const context = {
  subscriptions: [],
  globalState: anything,
  workspaceState: anything,
  extensionPath: '/nowhere',
  logUri: { fsPath: '/nowhere' },
  extension: { packageJSON: { version: '0.0.0', contributes: { configuration: { properties: {} } } } },
};
require(process.argv[2])
  .activate(context)
  .then(() => {
    isOpen = true;
  });
