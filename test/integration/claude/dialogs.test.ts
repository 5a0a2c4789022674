import { deepStrictEqual, match } from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { claudeVersions } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';

for (const version of claudeVersions) {
  describe(`dialogs of claude ${version} (case 25)`, function () {
    this.timeout(120_000);
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

    it('recognises the question for new MCP servers', async () => {
      const configuration = { mcpServers: { own: { command: 'true', args: [] } } };
      await writeFile(path.join(rig.root, 'approval/.mcp.json'), JSON.stringify(configuration));
      await rig.create('bo', 'approval');
      await rig.until('bo', 'blocked', (row) => row.life === 'blocked');
      match(rig.row('bo').detail, /mcp-approval/);
    });
  });
}
