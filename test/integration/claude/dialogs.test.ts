import { deepStrictEqual } from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Agent } from '../../../src/core/fleet/agent.ts';
import { bundlePrograms } from '../../harness/bundle.ts';
import { claudeVersions } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';

const upstreamProgram = path.resolve(__dirname, '../../harness/upstreams/sdkStdioMain.ts');

for (const version of claudeVersions) {
  describe(`dialogs of claude ${version} (case 25)`, function () {
    this.timeout(240_000);
    let rig: FleetRig;

    before(async () => {
      rig = await FleetRig.open({ version, trusted: ['approval'], untrusted: ['foreign'] });
    });

    after(async () => {
      await rig.dispose();
    });

    it('recognises the trust dialog, says so and answers nothing', async () => {
      await rig.create('ada', 'foreign');
      await rig.until('ada', 'blocked', (row) => row.life === 'blocked');
      const screen = await rig.screen('ada');
      await rig.request({ kind: 'verify', name: 'ada' });
      deepStrictEqual(
        [rig.row('ada').detail, await rig.screen('ada'), rig.agent('ada').session],
        ['waits at a dialog (trust): attach and answer it', screen, undefined],
      );
    });

    it('goes on by itself when the person has answered', async () => {
      const screen = await rig.screen('ada');
      const yesIsSecond = /❯ (?:\d\. )?No/.test(screen);
      if (yesIsSecond) await rig.tmux('send-keys', '-t', '=ada:', 'Up');
      await rig.tmux('send-keys', '-t', '=ada:', 'Enter');
      await rig.untilBound('ada');
    });

    it('asks nothing about a server of the project, which runs once a person has approved exactly that definition', async () => {
      const ran = path.join(rig.root, 'ran');
      await mkdir(ran);
      await bundlePrograms({ entryPoints: { sdk: upstreamProgram }, directory: rig.root });
      const script = `echo "$BOWLINE_AGENT" > "$1"; exec "$2" "$3"`;
      const server = (name: string): object => ({
        command: 'sh',
        args: ['-c', script, 'sh', path.join(ran, name), process.execPath, path.join(rig.root, 'sdk.js')],
      });
      const file = path.join(rig.root, 'approval/.mcp.json');
      await writeFile(file, JSON.stringify({ mcpServers: { lab: server('lab'), evil: server('evil') } }));
      // A rule of the person for the server by its own name.
      const rules = path.join(rig.root, 'approval/.claude');
      await mkdir(rules);
      await writeFile(
        path.join(rules, 'settings.local.json'),
        JSON.stringify({ permissions: { allow: ['mcp__lab'] } }),
      );
      await rig.create('bo', 'approval');
      await rig.untilBound('bo');
      const unasked = [await readdir(ran), brief(rig.agent('bo'))];
      const [lab] = rig.agent('bo').ownServers ?? [];
      const digest = lab?.approval?.digest ?? '';
      await rig.request({ kind: 'approve server', name: 'bo', server: 'lab', digest });
      await rig.until('bo', 'to be relaunched', (_row, { relaunch }) => relaunch !== undefined);
      await rig.request({ kind: 'restart', name: 'bo', mode: 'fresh', guard: 'bypass' });
      await rig.until('bo', 'bound to lab', ({ endpoints }) =>
        endpoints.some((endpoint) => endpoint.server === 'lab' && endpoint.state === 'bound'),
      );
      await rig.turn('bo', 'CALL mcp__lab__echo {"text":"by its own name"}');
      const results = rig.model.requests.flatMap(({ toolResults }) => toolResults);
      deepStrictEqual(
        [
          unasked,
          await readdir(ran),
          await readFile(path.join(ran, 'lab'), 'utf8'),
          brief(rig.agent('bo')),
          results.length,
          results[0]?.includes('by its own name'),
        ],
        [
          [[], ['lab: not approved, not given', 'evil: not approved, not given']],
          ['lab'],
          'bo\n',
          ['lab: by Bowline, through Bowline', 'evil: not approved, not given'],
          1,
          true,
        ],
      );
    });
  });
}

function brief({ ownServers = [] }: Agent): readonly string[] {
  return ownServers.map(({ name, approval, way }) => `${name}: ${approval?.state ?? 'no word'}, ${way}`);
}
