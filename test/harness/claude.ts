import { existsSync } from 'node:fs';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The two versions that Bowline is tested with, one before and one after the permanent blackout came (2.1.280). */
export const claudeVersions = ['2.1.160', '2.1.332'] as const;
export type ClaudeVersion = (typeof claudeVersions)[number];

/** An API key of the real form that no server knows; the scripted model takes any. */
export const scriptedApiKey = 'sk-ant-scripted-00000000000000000000';

/** Absolute path of a pinned `claude`, a native binary. Throws if its package is not installed. */
export function claudeBinary(version: ClaudeVersion): string {
  const binary = path.resolve(__dirname, `../../node_modules/claude-${version}/bin/claude.exe`);
  if (!existsSync(binary)) throw new Error(`claude ${version} is not installed: run "npm ci"`);
  return binary;
}

/** `claude` keeps sockets and caches in its temporary directory and leaves them there (measured, both versions). */
const temporary = 'tmp';

/** A home directory for {@link prepareClaudeHome}. */
export interface ClaudeHome {
  readonly home: string;
  /** Working directories that need no trust dialog. They must exist. */
  readonly directories: readonly string[];
  readonly apiKey: string;
}

/**
 * Writes `<home>/.claude.json` so that `claude` starts without a dialog: onboarding done, the key approved, the
 * directories trusted under their real paths (measured, claude 2.1.160 and 2.1.332).
 */
export async function prepareClaudeHome({ home, directories, apiKey }: ClaudeHome): Promise<void> {
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const projects = await Promise.all(directories.map(async (directory) => [await realpath(directory), trusted]));
  const configuration = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [apiKey.slice(-20)], rejected: [] },
    projects: Object.fromEntries(projects) as unknown,
  };
  await mkdir(path.join(home, temporary), { recursive: true });
  await writeFile(path.join(home, '.claude.json'), JSON.stringify(configuration, null, 2), { mode: 0o600 });
}

/** What {@link claudeEnvironment} needs. */
export interface ClaudeSurroundings {
  readonly home: string;
  /** `http://host:port` of a Messages API. */
  readonly modelUrl: string;
  readonly apiKey: string;
}

/**
 * The variables that make `claude` run offline against `modelUrl`. To be laid over an environment that has no `TMUX`, no
 * `CLAUDECODE` and no `CLAUDE_*`.
 */
export function claudeEnvironment({ home, modelUrl, apiKey }: ClaudeSurroundings): Record<string, string> {
  return {
    HOME: home,
    TMPDIR: path.join(home, temporary),
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: apiKey,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_INSTALLATION_CHECKS: '1',
  };
}
