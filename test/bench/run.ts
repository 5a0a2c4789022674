// `npm run bench [-- NAME...]`: takes every figure (or the named ones) on the minified bundles, prints one line each, and
// exits 1 if one with a reference is short, 2 for an unknown name, 130 when it was interrupted. Wants a machine that does
// nothing else.
import { privateRun } from '../harness/privateRun.ts';
import { activation } from './activation.ts';
import { calls } from './calls.ts';
import type { Figure } from './figure.ts';
import { judge } from './figure.ts';
import { finding } from './finding.ts';
import { heal } from './heal.ts';
import { idle } from './idle.ts';
import { launch } from './launch.ts';
import { memory } from './memory.ts';
import { noticed } from './noticed.ts';
import { proxies } from './proxies.ts';
import { restore } from './restore.ts';
import { restart } from './restart.ts';
import { sessions } from './sessions.ts';
import { size } from './size.ts';
import { state } from './state.ts';
import { tree } from './tree.ts';
import { underLoad } from './underLoad.ts';
import { webview } from './webview.ts';

const figures: readonly Figure[] = [
  size,
  activation,
  tree,
  restart,
  state,
  noticed,
  idle,
  memory,
  launch,
  heal,
  restore,
  finding,
  calls,
  proxies,
  sessions,
  underLoad,
  webview,
];

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !figures.some((figure) => figure.name === name));
  if (unknown.length > 0) {
    const known = figures.map(({ name }) => name).join(', ');
    console.error(`There is no figure ${unknown.join(', ')}. Name some of ${known}, or none for all.`);
    return 2;
  }
  return privateRun('bench', () => measure(names));
}

async function measure(names: readonly string[]): Promise<number> {
  let short = 0;
  for (const figure of figures.filter(({ name }) => names.length === 0 || names.includes(name))) {
    for (const { line, passes } of (await figure.measure()).map(judge)) {
      console.log(line);
      if (!passes) short += 1;
    }
  }
  return short === 0 ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
