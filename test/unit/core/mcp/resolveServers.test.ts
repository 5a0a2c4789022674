import { deepStrictEqual } from 'node:assert/strict';
import {
  type ClaudeDecisions,
  type ResolvedServer,
  type ResolveOptions,
  resolveServers,
} from '../../../../src/core/mcp/resolveServers.ts';
import { keptFromClaude } from '../../../../src/core/mcp/keptFromClaude.ts';
import type { EntrySource, ServerScope } from '../../../../src/core/mcp/serverEntry.ts';
import { readEntries } from '../../../../src/protocol/mcpEntries.ts';

const files: Readonly<Record<ServerScope, string>> = {
  bowline: 'the setting bowline.mcpServers',
  local: '/home/ada/.claude.json',
  project: '/work/.mcp.json',
  user: '/home/ada/.claude.json',
  plugin: '/home/ada/.claude/plugins/cache/market/p/1.0.0/.mcp.json',
  'claude.ai': '/home/ada/.claude.json',
};
const undecided: ClaudeDecisions = { approved: [], refused: [], off: [], ruled: false };
const approved: ClaudeDecisions = { ...undecided, approved: 'all' };

/** Sources in their order, each with the servers that it names. */
function sources(servers: Partial<Record<ServerScope, Readonly<Record<string, unknown>>>>): readonly EntrySource[] {
  const scopes: readonly ServerScope[] = ['bowline', 'local', 'project', 'user', 'plugin', 'claude.ai'];
  return scopes.map((scope) => readEntries(scope, files[scope], servers[scope] ?? {}));
}

function resolve(
  servers: Parameters<typeof sources>[0],
  change: Partial<ResolveOptions> = {},
): readonly ResolvedServer[] {
  return resolveServers({
    sources: sources(servers),
    decisions: approved,
    approvedHere: new Set(),
    around: [],
    gateway: 'on',
    wantLogin: new Set(),
    environment: { KEY: 'k-1' },
    digest: (text) => text,
    ...change,
  });
}

/** One line per server: how it reaches Claude, from where, and what of it the gateway starts. */
function lines(resolved: readonly ResolvedServer[]): readonly string[] {
  return resolved.map(({ server, target }) => {
    const { name, scope, shadows, way, reason, approval } = server;
    const to = target === undefined ? '' : ` to ${target.kind === 'stdio' ? target.command : target.url}`;
    const over = shadows.length === 0 ? '' : `, over ${shadows.join(' and ')}`;
    const word = approval === undefined ? '' : `, ${approval.state}`;
    return `${name} of ${scope}${over}${word}: ${way}${to}${reason === undefined ? '' : ` (${reason})`}`;
  });
}

const command = (text: string): object => ({ command: text });

describe('which MCP servers an agent has', () => {
  it('takes each name from one scope: Bowline, local, project, user', () => {
    const all = { lab: command('of-it') };
    const four = {
      bowline: { lab: command('bowline') },
      local: { lab: command('local'), l: command('l') },
      project: { lab: command('project'), p: command('p') },
      user: { lab: command('user'), u: command('u') },
    };
    deepStrictEqual(
      [lines(resolve(four)), lines(resolve({ ...four, bowline: {} })), lines(resolve({ project: all, user: all }))],
      [
        [
          'lab of bowline, over local and project and user, by Claude: through Bowline to bowline',
          'l of local: through Bowline to l',
          'p of project, by Claude: through Bowline to p',
          'u of user: through Bowline to u',
        ],
        [
          'lab of local, over project and user, by Claude: through Bowline to local',
          'l of local: through Bowline to l',
          'p of project, by Claude: through Bowline to p',
          'u of user: through Bowline to u',
        ],
        ['lab of project, over user, by Claude: through Bowline to of-it'],
      ],
    );
  });

  const notApproved =
    'It comes with the project and is not approved. Approve it with "Bowline: MCP Servers", or in Claude.';
  const disabled = "It is disabled in Claude's settings (disabledMcpjsonServers).";

  it('gives a server of the project only where it is approved; disabled wins', () => {
    const servers = { project: { lab: command('lab') } };
    const mine = resolve(servers, { decisions: undecided })[0]?.server.approval?.digest ?? '';
    const here = new Set([mine]);
    deepStrictEqual(
      [
        lines(resolve(servers, { decisions: undecided })),
        lines(resolve(servers, { decisions: { ...undecided, approved: ['lab'] } })),
        lines(resolve(servers, { decisions: { ...undecided, approved: ['other'] } })),
        lines(resolve(servers, { decisions: { ...approved, refused: ['lab'] } })),
        lines(resolve(servers, { decisions: undecided, approvedHere: here })),
        lines(resolve(servers, { decisions: { ...undecided, refused: ['lab'] }, approvedHere: here })),
        // Another definition under the same name.
        lines(resolve({ project: { lab: command('evil') } }, { decisions: undecided, approvedHere: here })),
        lines(resolve(servers, { decisions: { ...approved, off: ['lab'] } })),
      ],
      [
        [`lab of project, not approved: not given (${notApproved})`],
        ['lab of project, by Claude: through Bowline to lab'],
        [`lab of project, not approved: not given (${notApproved})`],
        [`lab of project, disabled: not given (${disabled})`],
        ['lab of project, by Bowline: through Bowline to lab'],
        [`lab of project, disabled: not given (${disabled})`],
        [`lab of project, not approved: not given (${notApproved})`],
        ['lab of project, by Claude: not given (It is switched off in Claude, by /mcp or a setting.)'],
      ],
    );
  });

  it('lets no unapproved server of the project stand before one of the same name', () => {
    const servers = { project: { lab: command('project') }, user: { lab: command('user') } };
    deepStrictEqual(lines(resolve(servers, { decisions: undecided })), [
      'lab of user, over project, not approved: through Bowline to user',
    ]);
  });

  it('takes the nearest file of the project, and none that is further away in its place', () => {
    const near = readEntries('project', '/work/sub/.mcp.json', { lab: command('near') });
    const far = readEntries('project', '/work/.mcp.json', { lab: command('far') });
    const approvedFar = resolve({}, { sources: [far], decisions: undecided })[0]?.server.approval?.digest ?? '';
    deepStrictEqual(
      [
        lines(resolve({}, { sources: [near, far] })),
        lines(resolve({}, { sources: [near, far], decisions: undecided, approvedHere: new Set([approvedFar]) })),
      ],
      [
        ['lab of project, over project, by Claude: through Bowline to near'],
        [`lab of project, over project, not approved: not given (${notApproved})`],
      ],
    );
  });

  it('says why a server is left to Claude, and copies it as it stands', () => {
    const http = { type: 'http', url: 'https://lab.example/${KEY}', timeout: 5 };
    const servers = {
      user: {
        'my lab': command('x'),
        constructor: command('x'),
        socket: { type: 'ws', url: 'wss://lab.example' },
        login: { type: 'http', url: 'https://lab.example', oauth: { clientId: 'c' } },
        helper: { type: 'http', url: 'https://lab.example', headersHelper: '/bin/token' },
        mine: http,
      },
    };
    const login = resolve(servers, {
      wantLogin: new Set(['["mine",{"timeout":5,"type":"http","url":"https://lab.example/${KEY}"}]']),
    });
    deepStrictEqual(
      {
        all: lines(resolve(servers)),
        around: lines(resolve({ user: { mine: http } }, { around: ['mine'] })),
        off: lines(resolve({ user: { mine: http } }, { gateway: 'off' })),
        login: lines(login.slice(-1)),
        ruled: lines(resolve({ user: { mine: http } }, { decisions: { ...approved, ruled: true } })),
        copied: resolve({ user: { mine: http } }, { around: ['mine'] })[0]?.entry?.raw,
      },
      {
        all: [
          'my lab of user: direct (Its name cannot be part of an address. Use letters, digits, "-" and "_".)',
          'constructor of user: direct (Its name cannot be part of an address. Use letters, digits, "-" and "_".)',
          'socket of user: direct (Bowline does not serve its transport "ws".)',
          'login of user: direct (It wants a login (OAuth), which Claude does by itself.)',
          'helper of user: direct (A program makes its headers (headersHelper), which Claude runs by itself.)',
          'mine of user: through Bowline to https://lab.example/k-1',
        ],
        around: ['mine of user: direct (It is switched to go around Bowline for this agent.)'],
        off: ['mine of user: direct (The setting "bowline.mcpServersThroughGateway" is off.)'],
        login: ['mine of user: direct (It wants a login (OAuth), which Claude does by itself.)'],
        ruled: [
          "mine of user: direct (Claude's settings rule which MCP servers may be used (allowedMcpServers, deniedMcpServers), which Claude judges itself.)",
        ],
        copied: http,
      },
    );
  });

  it('drops a bad entry alone, and says why', () => {
    const servers = {
      user: {
        good: command('good'),
        number: { command: 5 },
        text: 'x',
        urlless: { type: 'http' },
        args: { command: 'x', args: [1] },
      },
      local: { shadowed: { command: '' } },
      bowline: { 'bowline-self': command('x'), 'bowline-mine': command('x') },
    };
    const own = 'Names that begin with "bowline-" are those of Bowline itself. Give the server another name.';
    deepStrictEqual(lines(resolve({ ...servers, user: { ...servers.user, shadowed: command('user') } })), [
      `bowline-self of bowline: not given (${own})`,
      `bowline-mine of bowline: not given (${own})`,
      'shadowed of user: through Bowline to user',
      'good of user: through Bowline to good',
      'number of user: not given (/home/ada/.claude.json: "number" does not define a server (command: Invalid input: expected string, received number).)',
      'text of user: not given (/home/ada/.claude.json: "text" does not define a server (entry: Invalid input: expected record, received string).)',
      'urlless of user: not given (/home/ada/.claude.json: "urlless" does not define a server (url is missing).)',
      'args of user: not given (/home/ada/.claude.json: "args" does not define a server (args.0: Invalid input: expected string, received number).)',
    ]);
  });

  it('fills variables in from the agent, and names the ones that are missing', () => {
    const stdio = { command: '${KEY}', args: ['--key=${KEY}', '${NONE:-d}'], env: { A: '${KEY}' } };
    const http = { type: 'sse', url: 'http://127.0.0.1:1/${KEY}', headers: { 'X-Key': '${KEY}' } };
    const targets = resolve({ user: { stdio, http } }).map(({ target }) => target);
    const missing = { command: '${NONE}', args: ['${GONE}', '${NONE}'] };
    deepStrictEqual(
      { targets, missing: lines(resolve({ user: { missing, no: { type: 'http', url: 'ftp://${KEY}' } } })) },
      {
        targets: [
          { kind: 'stdio', command: 'k-1', args: ['--key=k-1', 'd'], environment: { A: 'k-1' } },
          { kind: 'sse', url: 'http://127.0.0.1:1/k-1', headers: { 'X-Key': 'k-1' } },
        ],
        missing: [
          'missing of user: not given (NONE, GONE are not set in the agent\'s environment. Set them in the setting "bowline.environment", or give a default in the definition.)',
          'no of user: not given (Its address is none that begins with http:// or https://.)',
        ],
      },
    );
  });

  it('leaves to Claude what belongs to its plugins and to claude.ai, and takes a server once', () => {
    const root = { CLAUDE_PLUGIN_ROOT: '/plugin' };
    const plugin = {
      ...readEntries('plugin', files.plugin, {
        'plugin:p:lab': command('${CLAUDE_PLUGIN_ROOT}/lab'),
        'plugin:p:twin': { command: '${CLAUDE_PLUGIN_ROOT}/twin', args: ['x'], env: { A: 'other' } },
        'plugin:p:web': { type: 'http', url: 'https://lab.example', headers: { A: 'other' } },
        'plugin:p:off': command('off'),
        'plugin:p:bad': { type: 'http' },
      }),
      variables: root,
    };
    const [user] = sources({}).slice(3);
    const own = readEntries('user', user?.file ?? '', {
      twin: { command: '/plugin/twin', args: ['x'] },
      web: { type: 'http', url: 'https://lab.example' },
    });
    const connector = {
      scope: 'claude.ai',
      file: files['claude.ai'],
      entries: { 'claude.ai Mail': { transport: { kind: 'other', why: '' }, raw: {} } },
      bad: [],
    } as const;
    const resolved = resolve(
      {},
      { sources: [own, plugin, connector], decisions: { ...approved, off: ['plugin:p:off'] }, around: ['web'] },
    );
    deepStrictEqual(
      [lines(resolved), resolved.flatMap(({ server, entry }) => (entry === undefined ? [] : [server.name]))],
      [
        [
          'twin of user: through Bowline to /plugin/twin',
          'web of user: direct (It is switched to go around Bowline for this agent.)',
          'plugin:p:lab of plugin: direct (It belongs to a plugin, and Claude runs it with that.)',
          'plugin:p:twin of plugin: not given (It is the server "twin" once more, and Claude is given that one.)',
          'plugin:p:web of plugin: not given (It is the server "web" once more, and Claude is given that one.)',
          'plugin:p:off of plugin: not given (It is switched off in Claude, by /mcp or a setting.)',
          `plugin:p:bad of plugin: not given (${files.plugin}: "plugin:p:bad" does not define a server (url is missing).)`,
          'claude.ai Mail of claude.ai: direct (It is a connector of claude.ai, which Claude reaches by itself while you are logged in there.)',
        ],
        ['twin', 'web'],
      ],
    );
  });

  it('keeps Claude from what is not given, and from a second copy of what is through Bowline', () => {
    const http = (url: string): object => ({ type: 'http', url });
    const servers = {
      project: { lab: command('lab'), evil: command('evil'), 'bad one': { command: 5 } },
      user: {
        web: http('https://lab.example/${KEY}'),
        star: http('https://lab.example/*'),
        login: { ...http('https://login.example'), oauth: {} },
        same: http('https://login.example'),
        twin: { command: 'twin', args: ['${KEY}'] },
        missing: command('${NONE}'),
        'missing too': command('${NONE}'),
        off: command('off'),
        'bowline-mine': command('mine'),
        'bowline-self': command('mine'),
      },
    };
    const decisions = { ...undecided, approved: ['lab'], off: ['off'] };
    deepStrictEqual(keptFromClaude(resolve(servers, { decisions }), ['bowline-self']), {
      enableAllProjectMcpServers: false,
      disabledMcpjsonServers: ['lab', 'evil', 'bad one'],
      deniedMcpServers: [
        { serverName: 'evil' },
        { serverName: 'bad one' },
        { serverName: 'missing' },
        { serverName: 'bowline-mine' },
        { serverCommand: ['lab'] },
        { serverUrl: 'https://lab.example/k-1' },
        { serverCommand: ['twin', 'k-1'] },
      ],
    });
  });
});
