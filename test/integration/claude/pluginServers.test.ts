import { deepStrictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { bundlePrograms } from '../../harness/bundle.ts';
import { claudeBinary, claudeEnvironment, claudeVersions, scriptedApiKey } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const upstreamProgram = path.resolve(__dirname, '../../harness/upstreams/sdkStdioMain.ts');
const claudeFileSchema = z.looseObject({ projects: z.record(z.string(), z.looseObject({})) });

for (const version of claudeVersions) {
  describe(`MCP servers of a plugin under claude ${version}`, function () {
    this.timeout(180_000);
    let rig: FleetRig;

    before(async () => {
      rig = await FleetRig.open({ version, trusted: ['work'] });
    });

    after(async () => {
      await rig.dispose();
    });

    const put = async (name: string, value: object): Promise<void> => {
      const file = path.join(rig.root, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, JSON.stringify(value));
    };

    it('are there as in a claude that was started by hand, and each name and each server is started once', async () => {
      await bundlePrograms({ entryPoints: { sdk: upstreamProgram }, directory: rig.root });
      const started = path.join(rig.root, 'started');
      await writeFile(started, '');
      const script = 'echo "$2" >> "$1"; exec "$3" "$4"';
      const server = (label: string): { command: string; args: readonly string[] } => ({
        command: 'sh',
        args: ['-c', script, 'sh', started, label, process.execPath, path.join(rig.root, 'sdk.js')],
      });
      const home = path.join(rig.root, 'home');
      await put('market/.claude-plugin/marketplace.json', {
        name: 'market',
        owner: { name: 'person' },
        plugins: [{ name: 'tools', source: './tools', description: 'servers' }],
      });
      await put('market/tools/.claude-plugin/plugin.json', { name: 'tools', version: '1.0.0', description: 'servers' });
      await put('market/tools/.mcp.json', { mcpServers: { lab: server('plugin lab'), twin: server('twin') } });
      const env = {
        PATH: process.env['PATH'] ?? '',
        ...claudeEnvironment({ home, modelUrl: rig.model.url, apiKey: scriptedApiKey }),
      };
      const plugin = (...words: readonly string[]): Promise<unknown> =>
        promisify(execFile)(claudeBinary(version), ['plugin', ...words], { env, cwd: home });
      await plugin('marketplace', 'add', path.join(rig.root, 'market'));
      await plugin('install', 'tools@market');

      const work = path.join(rig.root, 'work');
      const claude = z.parse(claudeFileSchema, JSON.parse(await readFile(path.join(home, '.claude.json'), 'utf8')));
      await put('home/.claude.json', {
        ...claude,
        projects: {
          ...claude.projects,
          [work]: { ...claude.projects[work], mcpServers: { lab: server('local lab') } },
        },
        mcpServers: {
          lab: server('user lab'),
          twin: server('twin'),
          missing: { ...server('missing'), env: { KEY: '${NOWHERE}' } },
        },
      });
      await put('work/.mcp.json', { mcpServers: { lab: server('project lab'), evil: server('evil') } });
      // The repository approves what it brings.
      await put('work/.claude/settings.json', { enableAllProjectMcpServers: true, enabledMcpjsonServers: ['evil'] });
      await put('work/.claude/settings.local.json', { permissions: { allow: ['mcp__plugin_tools_lab', 'mcp__lab'] } });

      await rig.create('ada', 'work');
      await rig.until('ada', 'bound to all', ({ endpoints, life }) => {
        return life === 'ready' && endpoints.length === 3 && endpoints.every(({ state }) => state === 'bound');
      });
      await waitFor("the plugin's server", async () => (await readFile(started, 'utf8')).includes('plugin lab'));
      await rig.turn('ada', 'CALL mcp__plugin_tools_lab__echo {"text":"by the plugin"}');
      await rig.turn('ada', 'CALL mcp__lab__echo {"text":"by its own name"}');
      const results = rig.model.requests.flatMap(({ toolResults }) => toolResults);
      deepStrictEqual(
        {
          started: (await readFile(started, 'utf8')).trim().split('\n').sort(),
          answers: ['by the plugin', 'by its own name'].map((text) => results.some((result) => result.includes(text))),
          listed: (rig.agent('ada').ownServers ?? []).map(({ name, scope, way }) => `${name}, ${scope}, ${way}`).sort(),
          shown: rig.row('ada').others?.find(({ name }) => name === 'plugin:tools:lab')?.reason,
        },
        {
          started: ['local lab', 'plugin lab', 'twin'],
          answers: [true, true],
          listed: [
            'evil, project, not given',
            'lab, local, through Bowline',
            'missing, user, not given',
            'plugin:tools:lab, plugin, direct',
            'plugin:tools:twin, plugin, not given',
            'twin, user, through Bowline',
          ],
          shown: 'It belongs to a plugin, and Claude runs it with that.',
        },
      );
    });
  });
}
