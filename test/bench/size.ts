import { stat } from 'node:fs/promises';
import path from 'node:path';
import { repository } from '../host/setup.mjs';
import type { Figure } from './figure.ts';

const figures = [
  { what: 'extension host', files: ['extension.js', 'window.js'], goal: 400 },
  { what: 'webview', files: ['webview.js'], goal: 150 },
];

/** The minified bundles that a window loads; of the extension host both, though only the first is there at activation. */
export const size: Figure = {
  name: 'size',
  measure: () =>
    Promise.all(
      figures.map(async ({ what, files, goal }) => {
        const sizes = await Promise.all(files.map((file) => stat(path.join(repository, 'dist', file))));
        const value = sizes.reduce((total, { size: bytes }) => total + bytes, 0) / 1000;
        return { name: `size: ${what}, minified`, value, unit: 'kB', goal, remark: files.join(' + ') };
      }),
    ),
};
