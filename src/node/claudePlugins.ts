import { isAbsolute, join } from 'node:path';
import * as z from 'zod/mini';
import type { EntrySource } from '../core/mcp/serverEntry.ts';
import { readEntries, serverRecordSchema } from '../protocol/mcpEntries.ts';
import { KeptFiles } from './keptFiles.ts';

/** A part that is not as it should be says nothing. */
const text = z.catch(z.optional(z.string()), undefined);
const texts = z.catch(z.record(z.string(), z.unknown()), {});

const installSchema = z.object({ installPath: z.string(), projectPath: text });
const installedSchema = z.object({ plugins: z.record(z.string(), z.catch(z.array(installSchema), [])) });
const marketplacesSchema = z.record(
  z.string(),
  z.catch(z.object({ installLocation: text, source: z.optional(z.object({ source: text })) }), {}),
);
const offerSchema = z.object({ name: text, source: z.optional(z.unknown()) });
const catalogSchema = z.object({
  plugins: z.catch(z.array(z.catch(offerSchema, {})), []),
});
const manifestSchema = z.object({ name: text, mcpServers: z.optional(z.unknown()) });
const fileSchema = z.record(z.string(), z.unknown());

/** What is asked about plugins. */
export interface PluginQuestion {
  /** Claude's directory. */
  readonly home: string;
  /** Absolute paths by which the agent's project may be known. */
  readonly projects: readonly string[];
  /** `enabledPlugins` of Claude's settings, the weakest file first. */
  readonly enabled: readonly Readonly<Record<string, unknown>>[];
}

/**
 * MCP servers of Claude's plugins, for a person to see: Claude finds and runs them by itself. Claude names them
 * `plugin:<plugin>:<server>`, which makes tools `mcp__plugin_<plugin>_<server>__<tool>`, and takes a plugin of a marketplace
 * that is a directory from there, not from its copy of it. A plugin names servers in its `.mcp.json`, with or without
 * `mcpServers` around them, and in `mcpServers` of its manifest: servers, a file of it, or a list of both (measured, claude
 * 2.1.160 and 2.1.332).
 */
export class ClaudePlugins {
  private readonly installed = new KeptFiles(installedSchema);
  private readonly marketplaces = new KeptFiles(marketplacesSchema);
  private readonly catalogs = new KeptFiles(catalogSchema);
  private readonly manifests = new KeptFiles(manifestSchema);
  private readonly files = new KeptFiles(fileSchema);

  /** One source for each file that names servers. Never rejects. */
  async read({ home, projects, enabled }: PluginQuestion): Promise<readonly EntrySource[]> {
    const switches = Object.fromEntries(enabled.flatMap((one) => Object.entries(one)));
    const directory = join(home, 'plugins');
    const known = (await this.installed.read(join(directory, 'installed_plugins.json'))).value?.plugins ?? {};
    const sources = Object.entries(known).map(async ([id, installs]) => {
      const install = installs.find(({ projectPath }) => projectPath === undefined || projects.includes(projectPath));
      const isOn = switches[id] !== undefined && switches[id] !== false;
      return install === undefined || !isOn ? [] : this.plugin(id, { directory, installPath: install.installPath });
    });
    return (await Promise.all(sources)).flat();
  }

  private async plugin(
    id: string,
    { directory, installPath }: { readonly directory: string; readonly installPath: string },
  ): Promise<readonly EntrySource[]> {
    const at = id.lastIndexOf('@');
    const [plugin, marketplace] = at === -1 ? [id, ''] : [id.slice(0, at), id.slice(at + 1)];
    const markets = (await this.marketplaces.read(join(directory, 'known_marketplaces.json'))).value ?? {};
    const market = Object.hasOwn(markets, marketplace) ? markets[marketplace] : undefined;
    const location = market?.installLocation;
    const isDirectory = location !== undefined && market?.source?.source === 'directory';
    const root = (isDirectory ? await this.inPlace(location, plugin) : undefined) ?? installPath;
    const manifestFile = join(root, '.claude-plugin', 'plugin.json');
    const manifest = (await this.manifests.read(manifestFile)).value;
    const variables = {
      CLAUDE_PLUGIN_ROOT: root,
      CLAUDE_PLUGIN_DATA: join(directory, 'data', id.replace(/[^A-Za-z0-9_-]/g, '-')),
    };
    const named = async (file: string, value: unknown): Promise<readonly EntrySource[]> => {
      const all = await Promise.all([value].flat().map((one) => this.servers(file, one, root)));
      return all.map((one): EntrySource => {
        const servers = Object.entries(one.servers).map(
          ([server, entry]) => [`plugin:${manifest?.name ?? plugin}:${server}`, entry] as const,
        );
        return { ...readEntries('plugin', one.file, Object.fromEntries(servers)), variables };
      });
    };
    const found = await Promise.all([
      named(join(root, '.mcp.json'), './.mcp.json'),
      named(manifestFile, manifest?.mcpServers),
    ]);
    const files = new Map(found.flat().map((source) => [source.file, source]));
    return [...files.values()].filter(({ entries, bad }) => Object.keys(entries).length + bad.length > 0);
  }

  /** Where a marketplace that is a directory has a plugin; undefined: not within it. */
  private async inPlace(location: string, plugin: string): Promise<string | undefined> {
    const catalog = (await this.catalogs.read(join(location, '.claude-plugin', 'marketplace.json'))).value;
    const source = catalog?.plugins.find(({ name }) => name === plugin)?.source;
    return typeof source === 'string' ? join(location, source) : undefined;
  }

  /** `value`: servers by name, or the path of a file with them; a path leads nowhere but into the plugin. */
  private async servers(
    file: string,
    value: unknown,
    root: string,
  ): Promise<{ readonly file: string; readonly servers: Readonly<Record<string, unknown>> }> {
    if (typeof value === 'string') {
      const path = join(root, value);
      const isOutside = isAbsolute(value) || !path.startsWith(join(root, '/'));
      if (isOutside || !path.endsWith('.json')) return { file, servers: {} };
      const content = (await this.files.read(path)).value ?? {};
      const wrapped = z.safeParse(serverRecordSchema, content['mcpServers']);
      if (wrapped.success) return { file: path, servers: wrapped.data };
      return { file: path, servers: Object.fromEntries(Object.entries(content).filter(([, one]) => isObject(one))) };
    }
    return { file, servers: z.parse(texts, value) };
  }
}

/** Beside servers that stand in a file by themselves there may be other fields, such as `$schema`. */
function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
