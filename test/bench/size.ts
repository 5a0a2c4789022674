import { stat } from 'node:fs/promises';
import path from 'node:path';
import { repository } from '../host/setup.mjs';
import type { Figure } from './figure.ts';

/** The minified bundles that a window loads. */
export const size: Figure = {
  name: 'size',
  measure: async () => {
    const limits = { 'extension.js': 400, 'webview.js': 150 };
    return Promise.all(
      Object.entries(limits).map(async ([file, goal]) => {
        const { size: bytes } = await stat(path.join(repository, 'dist', file));
        return { name: `size: ${file} minified`, value: bytes / 1000, unit: 'kB', goal };
      }),
    );
  },
};
