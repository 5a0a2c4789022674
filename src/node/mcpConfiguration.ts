import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import type { ClaudeDecisions } from '../core/mcp/resolveServers.ts';
import type { EntrySource } from '../core/mcp/serverEntry.ts';
import { readEntries, serverRecordSchema } from '../protocol/mcpEntries.ts';
import { claudeDirectory, claudeFile } from './claudeDirectory.ts';
import { ClaudePlugins } from './claudePlugins.ts';
import { readTextFile } from './files.ts';
import { KeptFiles } from './keptFiles.ts';

/** What Claude's files say about the MCP servers of one directory. */
export interface McpConfiguration {
  /**
   * In the order in which they win: the local scope, the project's files (the nearest first), the user's scope, and what
   * Claude adds by itself: its plugins, and the connectors of claude.ai.
   */
  readonly sources: readonly EntrySource[];
  readonly decisions: ClaudeDecisions;
  /** What a person or Claude may write: the files of the directory and its repository, and the person's own. */
  readonly files: readonly string[];
}

/** A part that is not as it should be says nothing, and takes nothing else with it. */
const names = z.catch(z.array(z.string()), []);
const servers = z.catch(serverRecordSchema, {});
const mcpFileSchema = z.object({ mcpServers: z._default(serverRecordSchema, {}) });

const decisionsSchema = {
  enabledMcpjsonServers: names,
  disabledMcpjsonServers: names,
};
const projectSchema = z.object({ ...decisionsSchema, mcpServers: servers, disabledMcpServers: names });
const claudeFileSchema = z.object({
  mcpServers: servers,
  claudeAiMcpEverConnected: names,
  projects: z.catch(z.record(z.string(), z.catch(projectSchema, z.parse(projectSchema, {}))), {}),
});
const settingsFileSchema = z.object({
  ...decisionsSchema,
  enableAllProjectMcpServers: z.catch(z.optional(z.boolean()), undefined),
  enabledPlugins: z.catch(z.record(z.string(), z.unknown()), {}),
  allowedMcpServers: z.optional(z.unknown()),
  deniedMcpServers: z.optional(z.unknown()),
});

type SettingsFile = z.infer<typeof settingsFileSchema>;

/** Where the machine's owner prescribes for all. */
const managed = process.platform === 'darwin' ? '/Library/Application Support/ClaudeCode' : '/etc/claude-code';
const managedSettings = join(managed, 'managed-settings.json');

/** Where it is there, Claude refuses `--mcp-config`, whatever stands in it (measured, claude 2.1.160 and 2.1.332). */
export const managedServers = join(managed, 'managed-mcp.json');

/**
 * Reads what Claude would read for a process in a directory, without changing anything. Files are read again only when
 * they have changed; one that cannot be read any more counts as it was when it last could.
 */
export class McpConfigurationFiles {
  private readonly claudeFiles = new KeptFiles(claudeFileSchema);
  private readonly settingsFiles = new KeptFiles(settingsFileSchema);
  private readonly mcpFiles = new KeptFiles(mcpFileSchema);
  /** What {@link saysOther} last found, as text. */
  private readonly told = new Map<string, string>();
  private readonly plugins = new ClaudePlugins();

  /** `environment`: that of the process. Never rejects. */
  async read(directory: string, environment: Readonly<Record<string, string>>): Promise<McpConfiguration> {
    const home = claudeDirectory(environment);
    const userFile = claudeFile(environment);
    const repository = await repositoryOf(directory);
    // The newer version takes those of the repository's top folder, too.
    const folders = [...new Set([directory, repository?.top ?? directory])].map((folder) => join(folder, '.claude'));
    const localFiles = folders.map((folder) => join(folder, 'settings.local.json'));
    const sharedFiles = folders.map((folder) => join(folder, 'settings.json'));
    const homeFile = home === undefined ? undefined : join(home, 'settings.json');
    const projectFiles = upwards(directory).map((folder) => join(folder, '.mcp.json'));
    const read = async (path: string): Promise<SettingsFile | undefined> => (await this.settingsFiles.read(path)).value;
    const [claude, prescribed, local, shared, user, projectSources] = await Promise.all([
      userFile === undefined ? undefined : this.claudeFiles.read(userFile),
      read(managedSettings),
      Promise.all(localFiles.map(read)),
      Promise.all(sharedFiles.map(read)),
      homeFile === undefined ? undefined : read(homeFile),
      Promise.all(projectFiles.map((file) => this.projectSource(file))),
    ]);
    const project = claude?.value?.projects[repository?.main ?? directory];
    const weakestFirst = [user, ...shared, ...local, prescribed].filter((one) => one !== undefined);
    const plugins =
      home === undefined
        ? []
        : await this.plugins.read({
            home,
            projects: [directory, repository?.top, repository?.main].filter((one) => one !== undefined),
            enabled: weakestFirst.map(({ enabledPlugins }) => enabledPlugins),
          });
    return {
      sources: [
        readEntries('local', userFile ?? '', project?.mcpServers ?? {}),
        ...projectSources,
        readEntries('user', userFile ?? '', claude?.value?.mcpServers ?? {}),
        ...plugins,
        connectors(userFile ?? '', claude?.value?.claudeAiMcpEverConnected ?? []),
      ],
      decisions: decisionsOf({
        persons: [prescribed, ...local, user].filter((one) => one !== undefined),
        repositorys: shared.filter((one) => one !== undefined),
        project,
      }),
      // Above the repository are directories in which much goes on.
      files: [
        ...projectFiles.slice(0, upwards(directory).indexOf(repository?.top ?? directory) + 1),
        ...[...localFiles, ...sharedFiles, homeFile, userFile].filter((file) => file !== undefined),
      ],
    };
  }

  /** Whether one of {@link McpConfiguration.files} says something else than when this was asked last; at first it does. */
  async saysOther(path: string): Promise<boolean> {
    const name = basename(path);
    const kept = name === '.mcp.json' ? this.mcpFiles : name === '.claude.json' ? this.claudeFiles : this.settingsFiles;
    const text = JSON.stringify(await kept.read(path));
    const isOther = this.told.get(path) !== text;
    this.told.set(path, text);
    return isOther;
  }

  private async projectSource(path: string): Promise<EntrySource> {
    const { value, problem } = await this.mcpFiles.read(path);
    const source = readEntries('project', path, value?.mcpServers ?? {});
    return problem === undefined ? source : { ...source, bad: [...source.bad, { name: '.mcp.json', reason: problem }] };
  }
}

/**
 * Connectors of claude.ai, which Claude keeps by name once one was connected (measured, claude 2.1.160 and 2.1.332, with a
 * fake api.anthropic.com).
 */
function connectors(file: string, known: readonly string[]): EntrySource {
  const entries = known.map((name) => [name, { transport: { kind: 'other', why: '' }, raw: {} }] as const);
  return { scope: 'claude.ai', file, entries: Object.fromEntries(entries), bad: [] };
}

/** The directory and all above it. */
export function upwards(directory: string): readonly string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...upwards(parent)];
}

/**
 * Where Claude looks for settings of the repository, and by which folder it knows its local scope: that of the main work
 * tree (measured, claude 2.1.160 and 2.1.332). Undefined: the directory is in none.
 */
async function repositoryOf(directory: string): Promise<{ readonly top: string; readonly main: string } | undefined> {
  for (const top of upwards(directory)) {
    const git = join(top, '.git');
    const found = await stat(git).catch(() => undefined);
    if (found === undefined) continue;
    if (found.isDirectory()) return { top, main: top };
    const text = await readTextFile(git).catch(() => undefined);
    const main = /^gitdir: (.*)[/]\.git[/]worktrees[/][^/]+\s*$/.exec(text ?? '')?.[1];
    return { top, main: main === undefined ? top : resolve(top, main) };
  }
  return undefined;
}

/**
 * What is refused anywhere is refused. An approval counts where a person gives it, which is also where Claude keeps the
 * answer to its question; `.claude/settings.json` comes with the repository, and could approve what comes with it, too.
 */
function decisionsOf(files: {
  /** The first that says something wins. */
  readonly persons: readonly SettingsFile[];
  readonly repositorys: readonly SettingsFile[];
  readonly project: z.infer<typeof projectSchema> | undefined;
}): ClaudeDecisions {
  const { persons, repositorys, project } = files;
  const all = persons.find((one) => one.enableAllProjectMcpServers !== undefined)?.enableAllProjectMcpServers === true;
  const own = project === undefined ? persons : [...persons, project];
  return {
    approved: all ? 'all' : own.flatMap((one) => one.enabledMcpjsonServers),
    refused: [...own, ...repositorys].flatMap((one) => one.disabledMcpjsonServers),
    off: project?.disabledMcpServers ?? [],
    ruled: [...persons, ...repositorys].some(
      (one) => one.allowedMcpServers !== undefined || one.deniedMcpServers !== undefined,
    ),
  };
}
