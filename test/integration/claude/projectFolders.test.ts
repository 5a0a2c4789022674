import { deepStrictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { searchTranscripts } from '../../../src/node/transcriptFiles.ts';
import { projectFolderName } from '../../../src/core/claude/transcript.ts';
import {
  claudeBinary,
  claudeEnvironment,
  claudeVersions,
  prepareClaudeHome,
  scriptedApiKey,
} from '../../harness/claude.ts';
import { startScriptedModel } from '../../harness/scriptedModel.ts';

/** Names that fold alike, are not ASCII in one or two UTF-16 units, composed of several, or longer than a folder name may be. */
const names = ['a_b', 'a.b', '名前', 'e\u0301 😀', `${'x'.repeat(100)}/${'y'.repeat(120)}`];

describe('folders of transcripts', function () {
  this.timeout(180_000);

  for (const version of claudeVersions) {
    it(`are those that claude ${version} makes, by the real path, and each conversation is found by its directory`, async () => {
      const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'bowline-folders-')));
      const model = await startScriptedModel();
      try {
        const home = path.join(root, 'home');
        const directories = names.map((name) => path.join(root, name));
        for (const directory of [home, ...directories]) mkdirSync(directory, { recursive: true });
        const link = path.join(root, 'link');
        symlinkSync(path.join(root, 'a_b'), link);
        await prepareClaudeHome({ home, directories, apiKey: scriptedApiKey });
        const env = {
          PATH: process.env['PATH'] ?? '',
          ...claudeEnvironment({ home, modelUrl: model.url, apiKey: scriptedApiKey }),
        };
        const say = async (cwd: string, words: string): Promise<unknown> => {
          const run = promisify(execFile)(claudeBinary(version), ['-p', words], { cwd, env });
          run.child.stdin?.end();
          return run;
        };
        // The first start in a new home does more than the others.
        await say(directories[0] ?? root, 'words of 0');
        await Promise.all(directories.slice(1).map((directory, index) => say(directory, `words of ${index + 1}`)));
        await say(link, 'words by the link');
        const projects = path.join(home, '.claude', 'projects');
        const found = await Promise.all(
          directories.map(async (directory) => {
            const folders = [path.join(projects, projectFolderName(directory))];
            const search = await searchTranscripts(directory, { folders, paths: [] });
            return search.found.map(({ firstPrompt }) => firstPrompt).sort();
          }),
        );
        deepStrictEqual(
          { folders: readdirSync(projects).sort(), found },
          {
            folders: [...new Set(directories.map(projectFolderName))].sort(),
            found: [
              ['words by the link', 'words of 0'],
              ...directories.slice(1).map((_directory, index) => [`words of ${index + 1}`]),
            ],
          },
        );
      } finally {
        await model.dispose();
        rmSync(root, { recursive: true, force: true, maxRetries: 5 });
      }
    });
  }
});
