import { deepStrictEqual } from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type McpConfiguration, McpConfigurationFiles } from '../../../src/node/mcpConfiguration.ts';

const server = (command: string): object => ({ command });

describe('McpConfigurationFiles', () => {
  let root: string;
  let files: McpConfigurationFiles;

  beforeEach(async () => {
    root = await realpath(await mkdtemp(path.join(os.tmpdir(), 'bowline-mcp-')));
    files = new McpConfigurationFiles();
    await put('home/.claude.json', {});
    await mkdir(path.join(root, 'work'));
  });

  afterEach(async () => {
    await rm(root, { recursive: true });
  });

  async function put(name: string, value: unknown): Promise<void> {
    const file = path.join(root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value));
  }

  const read = (directory = 'work', environment: Readonly<Record<string, string>> = {}): Promise<McpConfiguration> =>
    files.read(path.join(root, directory), { HOME: path.join(root, 'home'), ...environment });

  /** One line per scope and file that names a server. */
  const named = ({ sources }: McpConfiguration): readonly string[] =>
    sources.flatMap(({ scope, file, entries, bad }) => {
      const names = [...Object.keys(entries), ...bad.map(({ name, reason }) => `${name} (${reason})`)];
      return names.length === 0 ? [] : [`${scope} ${path.relative(root, file)}: ${names.join(', ')}`];
    });

  it('finds the scopes in the order in which they win, and the nearest file of the project first', async () => {
    await put('home/.claude.json', {
      mcpServers: { u: server('u') },
      projects: { [path.join(root, 'work/sub')]: { mcpServers: { l: server('l') } }, [path.join(root, 'work')]: {} },
    });
    await put('work/.mcp.json', { mcpServers: { far: server('far') } });
    await put('work/sub/.mcp.json', { mcpServers: { near: server('near') } });
    deepStrictEqual(named(await read('work/sub')), [
      'local home/.claude.json: l',
      'project work/sub/.mcp.json: near',
      'project work/.mcp.json: far',
      'user home/.claude.json: u',
    ]);
  });

  it('knows the local scope of a repository by its main work tree', async () => {
    const local = (name: string): object => ({ mcpServers: { [name]: server('x') } });
    await put('home/.claude.json', {
      projects: { [path.join(root, 'work')]: local('main'), [path.join(root, 'work/sub')]: local('sub') },
    });
    await mkdir(path.join(root, 'work/.git/worktrees/tree'), { recursive: true });
    await put('tree/.git', `gitdir: ${path.join(root, 'work/.git/worktrees/tree')}\n`);
    await mkdir(path.join(root, 'tree/sub'));
    deepStrictEqual(
      [named(await read('work/sub')), named(await read('tree/sub'))],
      [['local home/.claude.json: main'], ['local home/.claude.json: main']],
    );
  });

  it('reads where CLAUDE_CONFIG_DIR says', async () => {
    await put('own/.claude.json', { mcpServers: { mine: server('x') } });
    await put('own/settings.json', { enabledMcpjsonServers: ['a'] });
    const { sources, decisions } = await read('work', { CLAUDE_CONFIG_DIR: path.join(root, 'own') });
    deepStrictEqual([sources.flatMap(({ entries }) => Object.keys(entries)), decisions.approved], [['mine'], ['a']]);
  });

  const project = (value: object): object => ({ projects: { [path.join(root, 'work')]: value } });
  const all = { enableAllProjectMcpServers: true };
  const undecided = { approved: [], refused: [], off: [], ruled: false };
  const decisions: readonly (readonly [string, () => Readonly<Record<string, unknown>>, object])[] = [
    ['nothing', () => ({}), {}],
    ['all by the person', () => ({ 'home/.claude/settings.json': all }), { approved: 'all' }],
    ['all in the local file', () => ({ 'work/.claude/settings.local.json': all }), { approved: 'all' }],
    ['all by the repository', () => ({ 'work/.claude/settings.json': all }), {}],
    ['one by the repository', () => ({ 'work/.claude/settings.json': { enabledMcpjsonServers: ['a'] } }), {}],
    [
      'one in the local file',
      () => ({ 'work/.claude/settings.local.json': { enabledMcpjsonServers: ['a'] } }),
      { approved: ['a'] },
    ],
    [
      'one by the answer of old',
      () => ({ 'home/.claude.json': project({ enabledMcpjsonServers: ['a'] }) }),
      { approved: ['a'] },
    ],
    [
      'all by the person, not here',
      () => ({
        'home/.claude/settings.json': all,
        'work/.claude/settings.local.json': { enableAllProjectMcpServers: false },
      }),
      {},
    ],
    [
      'refused by the repository',
      () => ({ 'work/.claude/settings.json': { disabledMcpjsonServers: ['a'] } }),
      { refused: ['a'] },
    ],
    [
      'refused in the local file',
      () => ({ 'work/.claude/settings.local.json': { disabledMcpjsonServers: ['a'] } }),
      { refused: ['a'] },
    ],
    ['switched off by /mcp', () => ({ 'home/.claude.json': project({ disabledMcpServers: ['u'] }) }), { off: ['u'] }],
    ['ruled', () => ({ 'home/.claude/settings.json': { deniedMcpServers: [{ serverName: 'x' }] } }), { ruled: true }],
    [
      'parts that are wrong',
      () => ({
        'home/.claude/settings.json': { enableAllProjectMcpServers: 'yes', enabledMcpjsonServers: ['a'] },
        'home/.claude.json': project({ disabledMcpServers: 'u', disabledMcpjsonServers: ['b'], mcpServers: 5 }),
      }),
      { approved: ['a'], refused: ['b'] },
    ],
    [
      'a file that is no JSON',
      () => ({ 'home/.claude/settings.json': '{', 'work/.claude/settings.local.json': all }),
      { approved: 'all' },
    ],
  ];
  for (const [what, written, decided] of decisions) {
    it(`reads what Claude's files decide: ${what}`, async () => {
      for (const [name, value] of Object.entries(written())) await put(name, value);
      deepStrictEqual((await read()).decisions, { ...undecided, ...decided });
    });
  }

  it('reads the settings of the top folder of the repository, too', async () => {
    await mkdir(path.join(root, 'work/.git'));
    await mkdir(path.join(root, 'work/sub'));
    await put('work/.claude/settings.local.json', { enabledMcpjsonServers: ['a'], disabledMcpjsonServers: ['b'] });
    deepStrictEqual((await read('work/sub')).decisions, { ...undecided, approved: ['a'], refused: ['b'] });
  });

  describe('of plugins', () => {
    const market = (source: string): object => ({
      'home/.claude/plugins/known_marketplaces.json': {
        market: { source: { source, path: path.join(root, 'market') }, installLocation: path.join(root, 'market') },
      },
      'market/.claude-plugin/marketplace.json': {
        plugins: [5, { name: 'p', source: './p' }],
      },
      'market/p/.mcp.json': { mcpServers: { inPlace: server('x') } },
    });
    const installed = (installs: object): object => ({ version: 2, plugins: installs });
    const putAll = async (all: object): Promise<void> => {
      for (const [name, value] of Object.entries(all)) await put(name, value);
    };
    const ofPlugins = (configuration: McpConfiguration): readonly string[] =>
      named(configuration).filter((line) => line.startsWith('plugin'));

    beforeEach(async () => {
      await putAll({
        'home/.claude/settings.json': { enabledPlugins: { 'p@market': true, 'q@market': true, 'off@market': false } },
        'home/.claude/plugins/installed_plugins.json': installed({
          'p@market': [{ scope: 'user', installPath: path.join(root, 'cache/p') }],
          'q@market': [
            { scope: 'project', projectPath: path.join(root, 'work'), installPath: path.join(root, 'cache/q') },
          ],
          'off@market': [{ scope: 'user', installPath: path.join(root, 'cache/off') }],
          'unasked@market': [{ scope: 'user', installPath: path.join(root, 'cache/off') }],
          'bad@market': 5,
        }),
        'cache/off/.mcp.json': { mcpServers: { off: server('off') } },
        'cache/p/.claude-plugin/plugin.json': {
          name: 'p',
          mcpServers: ['./more.json', './.mcp.json', '../../home/.claude.json', 5],
        },
        'cache/p/.mcp.json': { $schema: 'x', flat: server('flat') },
        'cache/p/more.json': { mcpServers: { more: server('more'), none: 5 } },
        'cache/q/.claude-plugin/plugin.json': { name: 'Q', mcpServers: { inline: server('inline') } },
        'home/.claude.json': { mcpServers: {}, claudeAiMcpEverConnected: ['claude.ai Mail'] },
      });
    });

    it('finds those of plugins that are switched on here, wherever a plugin names them, and the connectors of claude.ai', async () => {
      await putAll(market('github'));
      await mkdir(path.join(root, 'elsewhere'));
      deepStrictEqual(
        [
          named(await read()),
          ofPlugins(await read('elsewhere')).length,
          (await read()).sources.find(({ scope }) => scope === 'plugin')?.variables,
        ],
        [
          [
            'plugin cache/p/.mcp.json: plugin:p:flat',
            'plugin cache/p/more.json: plugin:p:more, plugin:p:none ("plugin:p:none" does not define a server (entry: Invalid input: expected record, received number))',
            'plugin cache/q/.claude-plugin/plugin.json: plugin:Q:inline',
            'claude.ai home/.claude.json: claude.ai Mail',
          ],
          2,
          {
            CLAUDE_PLUGIN_ROOT: path.join(root, 'cache/p'),
            CLAUDE_PLUGIN_DATA: path.join(root, 'home/.claude/plugins/data/p-market'),
          },
        ],
      );
    });

    it('takes a plugin of a directory from there, and the nearer setting', async () => {
      await putAll(market('directory'));
      await put('work/.claude/settings.local.json', { enabledPlugins: { 'q@market': false } });
      deepStrictEqual(ofPlugins(await read()), ['plugin market/p/.mcp.json: plugin:p:inPlace']);
    });

    it('finds none where the record of them is damaged', async () => {
      await put('home/.claude/plugins/installed_plugins.json', '{');
      deepStrictEqual(ofPlugins(await read()), []);
    });
  });

  it('reads a file again when it has changed, and keeps what it knew of one that is damaged', async () => {
    const seen: (readonly string[])[] = [];
    const look = async (): Promise<void> => {
      seen.push(named(await read()));
    };
    await look();
    await put('work/.mcp.json', { mcpServers: { a: server('a') } });
    await look();
    await put('work/.mcp.json', '{"mcpServers": {"a": ');
    await look();
    await look();
    await rm(path.join(root, 'work/.mcp.json'));
    await look();
    await symlink(path.join(root, 'nowhere'), path.join(root, 'work/.mcp.json'));
    await look();
    await rm(path.join(root, 'work/.mcp.json'));
    await mkdir(path.join(root, 'work/.mcp.json'));
    await look();
    await rm(path.join(root, 'work/.mcp.json'), { recursive: true });
    await symlink('/dev/zero', path.join(root, 'work/.mcp.json'));
    await look();
    await put('work/.mcp.json.large', '');
    await truncate(path.join(root, 'work/.mcp.json.large'), 65 * 1024 * 1024);
    await rm(path.join(root, 'work/.mcp.json'));
    await rename(path.join(root, 'work/.mcp.json.large'), path.join(root, 'work/.mcp.json'));
    await look();
    deepStrictEqual(seen, [
      [],
      ['project work/.mcp.json: a'],
      ['project work/.mcp.json: a, .mcp.json (it cannot be read (not JSON))'],
      ['project work/.mcp.json: a, .mcp.json (it cannot be read (not JSON))'],
      [],
      [],
      ['project work/.mcp.json: .mcp.json (it cannot be read (it is no regular file))'],
      ['project work/.mcp.json: .mcp.json (it cannot be read (it is no regular file))'],
      ['project work/.mcp.json: .mcp.json (it cannot be read (it has more than 67108864 bytes))'],
    ]);
  });
});
