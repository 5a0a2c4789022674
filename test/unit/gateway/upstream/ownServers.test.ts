import { deepStrictEqual } from 'node:assert/strict';
import { mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { type Agent, currentLaunch, enabledServers } from '../../../../src/core/fleet/agent.ts';
import type { OwnServer } from '../../../../src/core/mcp/ownServer.ts';
import type { UpstreamDefinition } from '../../../../src/gateway/upstream/definition.ts';
import { serverListSchema } from '../../../../src/protocol/ownServers.ts';
import { GatewayParts } from '../../../harness/gatewayParts.ts';
import { call } from '../../../harness/gatewayRig.ts';
import { waitFor } from '../../../harness/waitFor.ts';

const keptSchema = z.object({
  enableAllProjectMcpServers: z.boolean(),
  disabledMcpjsonServers: z.array(z.string()),
  deniedMcpServers: z.array(z.unknown()),
});
const launched = { tmuxSession: '$1', pane: '%1', pid: 4711 };

describe("an agent's own MCP servers", () => {
  let parts: GatewayParts;
  let project: string;

  beforeEach(async () => {
    parts = await GatewayParts.start();
    project = path.join(realpathSync(parts.paths.directory), 'project');
    mkdirSync(project);
    put('home/.claude.json', {});
  });

  afterEach(async () => {
    await parts.dispose();
  });

  function put(name: string, value: unknown): void {
    const file = path.join(parts.paths.directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(value));
  }

  const agent = (): Agent => {
    const known = parts.fleet.state.agents['ada'];
    if (known === undefined) throw new Error('no agent');
    return known;
  };
  const launchId = (): string => currentLaunch(agent())?.id ?? '';
  const brief = ({ ownServers = [] }: Agent): readonly string[] =>
    ownServers.map(({ name, scope, way, approval }: OwnServer) =>
      [name, scope, ...(approval === undefined ? [] : [approval.state]), way].join(', '),
    );
  const ask = async (method: string, route: string, body?: unknown): Promise<{ status: number; body: unknown }> =>
    call(parts, method, `/agents/ada${route}`, body);
  const create = async (servers: object = {}): Promise<void> => {
    parts.fleet.report({
      at: 2,
      kind: 'settings changed',
      settings: { claudePath: 'claude', environment: { KEY: 'k-1' }, healing: 'auto', ...servers },
    });
    await call(parts, 'POST', '/agents', { name: 'ada', directory: project });
  };
  /** Writes the files of the agent's launch, and tells that its process runs. */
  const launch = async (): Promise<{ mcp: unknown; settings: unknown }> => {
    const { life } = agent();
    if (life.kind !== 'launching') throw new Error(`${life.kind}, not launching`);
    await parts.prepared();
    await parts.launchFiles.prepare(agent(), life.launch);
    parts.fleet.report({ at: Date.now(), kind: 'launched', name: 'ada', launchId: life.launch.id, process: launched });
    const files = parts.paths.agent('ada');
    deepStrictEqual(statSync(files.mcpConfig).mode & 0o777, 0o600);
    const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
    return { mcp: read(files.mcpConfig), settings: read(files.settings) };
  };
  const hook = (event: 'UserPromptSubmit' | 'Stop'): void => {
    const told = { event, sessionId: 's-1', transcriptExists: false };
    parts.fleet.report({ at: Date.now(), kind: 'hook reported', name: 'ada', launchId: launchId(), hook: told });
  };
  const definition = (server: string): Promise<UpstreamDefinition | undefined> =>
    parts.own.of({ agent: 'ada', server });

  it('reach Claude each from one source: behind the gateway, or copied as they stand', async () => {
    const around = { type: 'http', url: 'https://around.example/${KEY}', headers: { 'X-Key': '${KEY}' } };
    put('home/.claude.json', {
      mcpServers: {
        lab: { type: 'http', url: 'https://user.example', timeout: 5_000 },
        'my lab': { command: 'spaced', args: ['${KEY}'] },
        'bowline-self': { command: 'evil' },
      },
      projects: { [project]: { mcpServers: { lab: { type: 'sse', url: 'https://local.example', timeout: 7_000 } } } },
    });
    put('project/.mcp.json', { mcpServers: { lab: { command: 'evil' }, evil: { command: 'evil' } } });
    await create({ mcpServers: { around, mine: { command: '${KEY}' } } });
    const { configuration } = agent();
    const next = { ...configuration, aroundBowline: ['around'] };
    parts.fleet.report({ at: Date.now(), kind: 'agent configured', name: 'ada', configuration: next });
    const { mcp, settings } = await launch();
    const headersSchema = z.object({ Authorization: z.string() });
    const reached = z
      .object({ mcpServers: z.record(z.string(), z.record(z.string(), z.unknown())) })
      .parse(mcp).mcpServers;
    const address = (name: string): string => `http://127.0.0.1:${parts.port}/mcp/${name}`;
    const shown = Object.fromEntries(
      Object.entries(reached).map(([name, { headers, ...rest }]) => [
        name,
        headersSchema.safeParse(headers).success
          ? { ...rest, headers: 'identity' }
          : { ...rest, ...(headers !== undefined && { headers }) },
      ]),
    );
    deepStrictEqual(
      {
        shown,
        kept: keptSchema.parse(settings),
        enabled: enabledServers(agent()),
        listed: brief(agent()),
      },
      {
        shown: {
          'bowline-self': { type: 'http', url: address('bowline-self'), headers: 'identity' },
          around,
          mine: { type: 'http', url: address('mine'), headers: 'identity' },
          lab: { type: 'http', url: address('lab'), timeout: 7_000, headers: 'identity' },
          'my lab': { command: 'spaced', args: ['${KEY}'] },
        },
        kept: {
          enableAllProjectMcpServers: false,
          disabledMcpjsonServers: ['lab', 'evil'],
          deniedMcpServers: [
            { serverName: 'evil' },
            { serverCommand: ['k-1'] },
            { serverUrl: 'https://local.example' },
          ],
        },
        enabled: ['bowline-self', 'mine', 'lab'],
        listed: [
          'around, bowline, direct',
          'mine, bowline, through Bowline',
          'lab, local, not approved, through Bowline',
          'evil, project, not approved, not given',
          'my lab, user, direct',
          'bowline-self, user, not given',
        ],
      },
    );
  });

  it("of Claude's own are told without a relaunch, unless the agent is started without them", async () => {
    const lab = { type: 'http', url: 'https://lab.example' };
    put('home/.claude.json', { mcpServers: { lab } });
    await create();
    await launch();
    put('home/.claude.json', { mcpServers: { lab }, claudeAiMcpEverConnected: ['claude.ai Mail'] });
    hook('Stop');
    await waitFor('the connector', () => brief(agent()).includes('claude.ai Mail, claude.ai, direct'));
    const waits = agent().relaunch?.changed;
    const configuration = { ...agent().configuration, extraArguments: ['--strict-mcp-config'] };
    parts.fleet.report({ at: Date.now(), kind: 'agent configured', name: 'ada', configuration });
    await waitFor('no connector', () => brief(agent()).length === 1);
    deepStrictEqual([waits, brief(agent())], [undefined, ['lab, user, through Bowline']]);
  });

  it('run of a project once a person has approved exactly that definition, and no more once it is withdrawn', async () => {
    put('project/.mcp.json', { mcpServers: { lab: { command: 'lab', env: { A: '${KEY}' } } } });
    await create();
    await launch();
    const before = await definition('lab');
    const listed = serverListSchema.parse((await ask('GET', '/servers')).body).servers[0];
    const digest = listed?.server.approval?.digest ?? '';
    const refusals = [
      (await ask('POST', '/approve-server', { server: 'other', digest })).status,
      (await ask('POST', '/approve-server', { server: 'lab', digest: 'x' })).status,
    ];
    const approved = await ask('POST', '/approve-server', { server: 'lab', digest });
    await waitFor('the approved server', () => brief(agent())[0] === 'lab, project, by Bowline, through Bowline');
    const after = await definition('lab');
    const waits = agent().relaunch;
    put('project/.mcp.json', { mcpServers: { lab: { command: 'evil' } } });
    hook('UserPromptSubmit');
    await waitFor('the changed definition', () => brief(agent())[0] === 'lab, project, not approved, not given');
    const changed = await definition('lab');
    put('project/.mcp.json', { mcpServers: { lab: { env: { A: '${KEY}' }, command: 'lab' } } });
    hook('Stop');
    await waitFor('the definition of before', () => brief(agent())[0] === 'lab, project, by Bowline, through Bowline');
    await ask('POST', '/withdraw-server', { server: 'lab' });
    await waitFor('the withdrawal', () => brief(agent())[0] === 'lab, project, not approved, not given');
    put('project/.claude/settings.local.json', { disabledMcpjsonServers: ['lab'] });
    const disabled = await ask('POST', '/approve-server', { server: 'lab', digest });
    deepStrictEqual(
      {
        before,
        project: listed?.project,
        refusals,
        approved: approved.status,
        after: after?.kind === 'stdio' && [
          after.command,
          after.directory,
          after.environment['A'],
          after.environment['BOWLINE_AGENT'],
        ],
        waits: [waits?.when, waits?.changed],
        changed,
        withdrawn: await definition('lab'),
        disabled: disabled.status,
        audit: parts.fleet.state.audit.flatMap((one) =>
          one.action === 'deed' && one.what.includes('MCP server lab') ? [one.what] : [],
        ),
      },
      {
        before: undefined,
        project: {
          file: path.join(project, '.mcp.json'),
          definition: JSON.stringify({ command: 'lab', env: { A: '${KEY}' } }, undefined, 2),
        },
        refusals: [400, 409],
        approved: 204,
        after: ['lab', project, 'k-1', 'ada'],
        waits: ['idle', ['MCP servers']],
        changed: undefined,
        withdrawn: undefined,
        disabled: 400,
        audit: ['MCP server lab approved', 'approval of MCP server lab withdrawn'],
      },
    );
  });

  it('are swapped behind their names without a relaunch; a name more or less needs one', async () => {
    const url = (port: number): object => ({ type: 'http', url: `http://127.0.0.1:${port}` });
    put('home/.claude.json', { mcpServers: { lab: url(1) } });
    await create();
    await launch();
    const changes: string[] = [];
    parts.own.onDidChange(({ agent: name, server }) => changes.push(`${name} ${server}`));
    const first = await definition('lab');
    put('home/.claude.json', { mcpServers: { lab: url(22) } });
    hook('Stop');
    await waitFor('the change', () => changes.length > 0);
    const second = await definition('lab');
    const waits = [agent().relaunch?.changed];
    put('home/.claude.json', { mcpServers: { lab: url(22), more: url(3) } });
    hook('Stop');
    await waitFor('the relaunch', () => agent().relaunch !== undefined);
    waits.push(agent().relaunch?.changed);
    const enabled = enabledServers(agent());
    put('home/.claude.json', { mcpServers: { lab: url(22) } });
    hook('Stop');
    await waitFor('no relaunch', () => agent().relaunch === undefined);
    deepStrictEqual(
      {
        urls: [first, second].map((one) => (one?.kind === 'http' ? one.url : undefined)),
        waits,
        enabled,
        changes,
      },
      {
        urls: ['http://127.0.0.1:1', 'http://127.0.0.1:22'],
        waits: [undefined, ['MCP servers']],
        enabled: ['bowline-self', 'lab'],
        changes: ['ada lab', 'ada more', 'ada more'],
      },
    );
  });

  it('are taken up when their file is written, also while the agent is idle, and not for what else Claude writes there', async () => {
    const url = (port: number): object => ({ type: 'http', url: `http://127.0.0.1:${port}` });
    const urlNow = async (): Promise<string | undefined> => {
      const now = await definition('lab');
      return now?.kind === 'http' ? now.url : undefined;
    };
    put('home/.claude.json', { mcpServers: { lab: url(1) } });
    await create();
    await launch();
    const changes: string[] = [];
    parts.own.onDidChange(({ server }) => changes.push(server));
    await urlNow();
    put('home/.claude.json', { mcpServers: { lab: url(22) } });
    await waitFor('the change', async () => (await urlNow()) === 'http://127.0.0.1:22');
    const reads: string[] = [];
    const read = parts.files.read.bind(parts.files);
    parts.files.read = (...asked) => {
      reads.push(asked[0]);
      return read(...asked);
    };
    put('home/.claude.json', { mcpServers: { lab: url(22) }, history: ['a prompt'] });
    put('project/.mcp.json', { mcpServers: { more: url(3) } });
    await waitFor('the other file', () => brief(agent()).includes('more, project, not approved, not given'));
    const looks = reads.length;
    put('project/.claude/settings.local.json', { enabledMcpjsonServers: ['more'] });
    await waitFor('the relaunch', () => agent().relaunch !== undefined);
    deepStrictEqual([changes, looks, agent().relaunch?.changed], [['lab', 'more'], 1, ['MCP servers']]);
  });

  it('are those of one moment: what changes while files are read is for the next reading, one after another', async () => {
    const servers = (command: string): Record<string, unknown> => ({ lab: { command, args: ['${KEY}'] } });
    put('home/.claude.json', { mcpServers: servers('one') });
    await create({ mcpServers: { mine: { command: 'old', args: ['${KEY}'] } } });
    await launch();
    const inWords = async (server: string): Promise<string> => {
      const now = await definition(server);
      return now?.kind === 'stdio' ? [now.command, ...now.args].join(' ') : 'none';
    };
    await inWords('lab');
    const read = parts.files.read.bind(parts.files);
    let running = 0;
    let most = 0;
    parts.files.read = async (...asked) => {
      most = Math.max(most, ++running);
      const result = await read(...asked);
      running--;
      return result;
    };
    const seen = new Set<string>();
    parts.own.onDidChange(({ server }) => {
      void inWords(server).then((words) => seen.add(words));
    });
    // A person's command while files are read, and a file that is edited twice at once.
    put('home/.claude.json', { mcpServers: servers('two') });
    hook('UserPromptSubmit');
    const mcpServers = { mine: { command: 'new', args: ['${KEY}'] } };
    const settings = { claudePath: 'claude', healing: 'auto', environment: { KEY: 'k-2' }, mcpServers } as const;
    parts.fleet.report({ at: Date.now(), kind: 'settings changed', settings });
    put('home/.claude.json', { mcpServers: servers('three') });
    hook('Stop');
    await waitFor('the last of all', () => seen.has('three k-2'));
    const mixed = [...seen].filter((words) => !/^(one|two|three|old) k-1$|^(two|three|new) k-2$/.test(words));
    deepStrictEqual([most, mixed, await inWords('lab'), await inWords('mine')], [1, [], 'three k-2', 'new k-2']);
  });

  it('are left to Claude where the server wants a login that only Claude can make, until their definition is another', async () => {
    const server = (url: string): object => ({ mcpServers: { lab: { type: 'http', url } } });
    put('home/.claude.json', server('https://lab.example'));
    await create();
    await launch();
    await definition('lab');
    parts.own.wantsLogin({ agent: 'ada', server: 'lab' });
    parts.own.wantsLogin({ agent: 'ada', server: 'nothing' });
    await waitFor('the server to be left to Claude', () => brief(agent())[0] === 'lab, user, direct');
    const waits = agent().relaunch?.changed;
    put('home/.claude.json', server('https://other.example'));
    hook('Stop');
    await waitFor('the other definition', () => brief(agent())[0] === 'lab, user, through Bowline');
    deepStrictEqual([waits, agent().relaunch], [['MCP servers'], undefined]);
  });

  it('are gone with the agent', async () => {
    put('home/.claude.json', { mcpServers: { lab: { command: 'lab' } } });
    await create();
    await launch();
    const known = await definition('lab');
    const at = Date.now();
    parts.fleet.report({ at, kind: 'stop requested', name: 'ada', reason: 'released', then: 'remove' });
    const exit = { how: 'gone', reading: 'other', detail: 'stopped' } as const;
    parts.fleet.report({ at, kind: 'process ended', name: 'ada', launchId: launchId(), exit });
    deepStrictEqual(
      [known?.kind, await definition('lab'), await parts.own.list('ada')],
      ['stdio', undefined, undefined],
    );
    rmSync(project, { recursive: true });
  });
});
