import { deepStrictEqual } from 'node:assert/strict';
import { dialsAgainWhenCalled, readVersion } from '../../../../src/core/claude/version.ts';

describe('versions of Claude Code', () => {
  it('are read from the output of --version and from clientInfo', () => {
    deepStrictEqual(
      ['2.1.332 (Claude Code)', '2.1.160', ' 3.0.0-beta.1\n', 'v2', '', 'claude 2.1.1'].map(readVersion),
      [[2, 1, 332], [2, 1, 160], [3, 0, 0], undefined, undefined, undefined],
    );
  });

  it('dial again when called up to 2.1.278, and never from 2.1.280 on (measured in 19 versions)', () => {
    const again = ['1.9.999', '2.0.300', '2.1.145', '2.1.160', '2.1.278'];
    const never = ['2.1.280', '2.1.332', '2.2.0', '3.0.0', 'unreadable'];
    deepStrictEqual(
      [...again, ...never].filter((version) => dialsAgainWhenCalled(version)),
      again,
    );
  });
});
