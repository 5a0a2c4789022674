import assert from 'node:assert/strict';
import * as vscode from 'vscode';

describe('activation', () => {
  it('finds the extension and activates it', async () => {
    const extension = vscode.extensions.getExtension('bowline.bowline');
    await extension?.activate();
    assert.deepStrictEqual([extension?.id, extension?.isActive], ['bowline.bowline', true]);
  });
});
