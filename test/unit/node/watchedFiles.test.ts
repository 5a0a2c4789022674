import { deepStrictEqual } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { WatchedFiles } from '../../../src/node/watchedFiles.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('files that are watched', () => {
  let directory: string;
  let watched: WatchedFiles;
  let told: string[];

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'bowline-watched-')));
    watched = new WatchedFiles(silentLog);
    told = [];
  });

  afterEach(() => {
    watched.dispose();
    rmSync(directory, { recursive: true, force: true });
  });

  const at = (...names: string[]): string => path.join(directory, ...names);
  /** Watches as its users do: again after each change. */
  const watch = (...files: string[]): void => {
    watched.onDidChange((paths) => {
      told.push(...paths);
      watched.watch(files);
    });
    watched.watch(files);
  };
  /** Does it, and waits until something is told; nothing else may be. */
  const tells = async (what: () => void, file: string): Promise<void> => {
    told.length = 0;
    what();
    await waitFor(`a change of ${file}`, () => told.length > 0);
    deepStrictEqual([...new Set(told)], [file]);
  };

  it('are told when they are made, written, replaced as editors do, and removed', async () => {
    const file = at('.mcp.json');
    watch(file);
    await tells(() => {
      writeFileSync(at('other'), '');
      writeFileSync(file, '{}');
    }, file);
    await tells(() => {
      writeFileSync(file, '{"a":1}');
    }, file);
    await tells(() => {
      writeFileSync(at('.mcp.json.tmp'), '{}');
      renameSync(at('.mcp.json.tmp'), file);
    }, file);
    await tells(() => {
      renameSync(file, at('.mcp.json~'));
    }, file);
    await tells(() => {
      writeFileSync(file, '{}');
      rmSync(file);
      writeFileSync(file, '{"b":2}');
    }, file);
  });

  it('are told once their directory is made, and again when it was removed and made anew', async () => {
    const file = at('project', '.claude', 'settings.json');
    mkdirSync(at('project'));
    watch(file);
    for (let round = 0; round < 2; round++) {
      await tells(() => {
        mkdirSync(at('project', '.claude'));
      }, file);
      await tells(() => {
        writeFileSync(file, `{"round":${round}}`);
      }, file);
      await tells(() => {
        rmSync(at('project', '.claude'), { recursive: true });
      }, file);
    }
    await tells(() => {
      renameSync(at('project'), at('moved'));
    }, file);
  });

  it('that are nowhere to be found, or not to be watched any more, are told no more', async () => {
    const [first, second] = [at('first', '.mcp.json'), at('second', '.mcp.json')];
    mkdirSync(at('first'));
    mkdirSync(at('second'));
    watched.onDidChange((paths) => told.push(...paths));
    watched.watch([first, second, at('none', 'of', 'these', '.mcp.json')]);
    watched.watch([second]);
    writeFileSync(first, '{}');
    writeFileSync(second, '{}');
    await waitFor('the change', () => told.length > 0);
    deepStrictEqual([...new Set(told)], [second]);
  });
});
