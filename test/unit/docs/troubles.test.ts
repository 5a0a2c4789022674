import { deepStrictEqual, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const repository = path.resolve(__dirname, '../../..');

/** The product's code, with texts that are put together from several lines as one. */
function sources(): string {
  const files = readdirSync(path.join(repository, 'src'), { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(path.join(repository, 'src', file), 'utf8'));
  return texts
    .join('\n')
    .replace(/(['`])\s*\+\s*['`]/g, '')
    .replaceAll("\\'", "'");
}

/** The messages of the tables: what stands as code in the first column below the heading. */
function messages(): readonly string[] {
  const readme = readFileSync(path.join(repository, 'README.md'), 'utf8');
  const section = /\n## Troubles\n(.*?)\n## /s.exec(readme)?.[1] ?? '';
  const cells = section.split('\n').flatMap((line) => /^\| ([^|]*) \|/.exec(line)?.[1] ?? []);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, message]) => message ?? ''));
}

describe('the table of troubles in the README', () => {
  it('has every message word for word as the product says it', () => {
    const code = sources();
    const all = messages();
    // Names, numbers and reasons stand as …, ..., or one capital letter.
    const fragments = (message: string): readonly string[] => {
      return message
        .split(/…|\.\.\.|\b[A-Z]\b/)
        .map((part) => part.trim())
        .filter((part) => part.length > 2);
    };
    const unknown = all.filter((message) => !fragments(message).every((fragment) => code.includes(fragment)));
    ok(all.length > 20, `only ${all.length} messages were found`);
    deepStrictEqual(unknown, []);
  });
});
