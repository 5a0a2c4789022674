import { deepStrictEqual } from 'node:assert/strict';
import { checkPackage, expectedFiles, type PackedExtension } from '../../harness/packageChecks.ts';

const helper = /\/spawn-helper$/;

const good: PackedExtension = {
  size: 2_000_000,
  files: expectedFiles.map((name) => ({ name, size: 1000, mode: helper.test(name) ? 0o755 : 0o644, text: '' })),
};

/** The package with another `part` of the files whose name ends in `ending`. */
function changed(ending: string, part: Partial<PackedExtension['files'][number]>): PackedExtension {
  return { ...good, files: good.files.map((file) => (file.name.endsWith(ending) ? { ...file, ...part } : file)) };
}

function added(...names: readonly string[]): PackedExtension {
  return { ...good, files: [...good.files, ...names.map((name) => ({ name, size: 1, mode: 0o644, text: '' }))] };
}

/** Names of the checks that a package does not pass. */
function misses(packed: PackedExtension): readonly string[] {
  return checkPackage(packed, { repository: '/build/clone' })
    .filter(({ ok }) => !ok)
    .map(({ name }) => name);
}

describe('checks of the package', () => {
  it('finds nothing wrong with the package as it must be', () => {
    deepStrictEqual(misses(good), []);
  });

  it('each find what they are for', () => {
    const without = (ending: string): PackedExtension => ({
      ...good,
      files: good.files.filter(({ name }) => !name.endsWith(ending)),
    });
    const tooMany = 'no file is too many';
    deepStrictEqual(
      {
        missing: misses(without('linux-arm64/pty.node')),
        noScript: misses(without('dist/webview.js')),
        tooMany: misses(added('extension/node_modules/ws/index.js')),
        runBit: misses(changed('darwin-arm64/spawn-helper', { mode: 0o644 })),
        map: misses(added('extension/dist/extension.js.map')),
        mapReference: misses(changed('dist/hook.js', { text: 'run();\n//# sourceMappingURL=hook.js.map' })),
        tests: misses(added('extension/test/run.mjs', 'extension/lib/a.test.js')),
        repository: misses(changed('dist/gateway.js', { text: 'require("/build/clone/src/x.ts")' })),
        home: misses(changed('readme.md', { text: 'see /home/somebody/notes.md' })),
        size: misses({ ...good, size: 5_000_001 }),
        extensionSize: misses(changed('dist/window.js', { size: 399_001 })),
        webviewSize: misses(changed('dist/webview.js', { size: 150_001 })),
      },
      {
        missing: ['no file is missing'],
        noScript: ['no file is missing', 'extension/dist/webview.js at most 150 kB'],
        tooMany: [tooMany],
        runBit: ["node-pty's helpers can run"],
        map: [tooMany, 'no source maps'],
        mapReference: ['no source maps'],
        tests: [tooMany, 'no tests'],
        repository: ['no paths of this machine'],
        home: ['no paths of this machine'],
        size: ['package at most 5000 kB'],
        extensionSize: ['extension/dist/extension.js and extension/dist/window.js at most 400 kB'],
        webviewSize: ['extension/dist/webview.js at most 150 kB'],
      },
    );
  });
});
