// `npm run bench [-- NAME...]`: takes every figure (or the named ones) on the minified bundles, prints one line each, and
// exits 1 if one with a reference is short. Wants a machine that does nothing else.
import type { Figure } from './figure.ts';
import { judge } from './figure.ts';
import { memory } from './memory.ts';
import { noticed } from './noticed.ts';
import { restart } from './restart.ts';
import { size } from './size.ts';

const figures: readonly Figure[] = [size, restart, noticed, memory];

async function main(): Promise<number> {
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !figures.some((figure) => figure.name === name));
  if (unknown.length > 0) {
    throw new Error(`no figure ${unknown.join(', ')}; there are ${figures.map(({ name }) => name).join(', ')}`);
  }
  let short = 0;
  for (const figure of figures.filter(({ name }) => names.length === 0 || names.includes(name))) {
    for (const { line, passes } of (await figure.measure()).map(judge)) {
      console.log(line);
      if (!passes) short += 1;
    }
  }
  return short === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
