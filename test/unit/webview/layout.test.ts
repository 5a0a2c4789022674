import assert from 'node:assert/strict';
import { chooseLayout } from '../../../src/webview/layout.ts';

/** At the font size of VS Code, 13 px. */
function at(width: number, columns: number): string {
  const { density, details } = chooseLayout(width / 13, columns);
  return `${density} ${details}`;
}

describe('layout of the page', () => {
  it('says as much in a cell as the width allows, from one endpoint to eight and more', () => {
    const columns = [1, 3, 4, 8, 10, 20];
    const looks = [200, 320, 800, 1600].map((width) => columns.map((count) => at(width, count)));
    assert.deepStrictEqual(looks, [
      ['words below', 'icons below', 'strip below', 'strip below', 'loose below', 'loose below'],
      ['full below', 'icons below', 'icons below', 'icons below', 'strip below', 'loose below'],
      ['full beside', 'full beside', 'words beside', 'words below', 'icons beside', 'icons below'],
      ['full beside', 'full beside', 'full beside', 'full beside', 'full beside', 'icons beside'],
    ]);
  });

  it('puts details beside the matrix only where its cells stay readable', () => {
    assert.deepStrictEqual(
      [at(640, 1), at(660, 1), at(800, 6), at(920, 6)],
      ['full below', 'full beside', 'words below', 'words beside'],
    );
  });
});
