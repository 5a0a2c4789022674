import { deepStrictEqual, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { errorStatuses } from '../../../src/gateway/adminApi.ts';
import { adminRoutes } from '../../../src/gateway/adminRoutes.ts';

const repository = path.resolve(__dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(repository, file), 'utf8');
const page = read('docs/admin-api.md');

/** The cells of the rows below the heading that begins with this word. */
function table(heading: string): readonly (readonly string[])[] {
  const text = new RegExp(`\\n\\| ${heading} +\\|.*?\\n\\| -.*?\\n((?:\\|.*\\n)+)`).exec(page)?.[1] ?? '';
  return text
    .trim()
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim()));
}

describe('the page on the admin API', () => {
  it('has every route and no other', () => {
    const told = table('method').map(([, method = '', where = '']) => `${method} ${where.replaceAll('`', '')}`);
    const others = ['GET /health', 'POST /agents/<name>/session'];
    const served = adminRoutes.map((route) => `${route.method} ${route.path}`);
    deepStrictEqual([...told].sort(), [...others, ...served].sort());
  });

  it('has every code under its status', () => {
    const told = Object.fromEntries(
      table('status').flatMap(([, status, codes = '']) =>
        [...codes.matchAll(/`([^`]+)`/g)].map(([, code = '']) => [code, Number(status)] as const),
      ),
    );
    const code = ['src/gateway/adminApi.ts', 'src/gateway/hookIntake.ts', 'src/gateway/http/checks.ts']
      .map(read)
      .join();
    const own = Object.keys(told).filter((one) => !Object.hasOwn(errorStatuses, one));
    deepStrictEqual(
      Object.fromEntries(Object.keys(errorStatuses).map((one) => [one, told[one]])),
      errorStatuses,
      'the codes of commands',
    );
    const said = own.filter((one) => told[one] !== 500 && !code.includes(`'${one}'`));
    deepStrictEqual(said, [], 'codes that nobody says');
  });

  it('is named where people look, and goes with the package', () => {
    ok(read('README.md').includes('(docs/admin-api.md)'));
    ok(read('.vscodeignore').includes('!docs/admin-api.md'));
  });
});
