import { deepStrictEqual } from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { longestPrompt } from '../../../src/core/claude/promptText.ts';
import type { PaneInfo } from '../../../src/core/tmux/formats.ts';
import { enterGuarded, lookAtPane, pasteGuarded } from '../../../src/node/tmux/guardedKeys.ts';
import { newSession } from '../../../src/node/tmux/paneOperations.ts';
import type { TmuxClient } from '../../../src/node/tmux/tmuxClient.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { FleetHome, realPty } from './fleetHome.ts';

/** A stand-in for claude: takes bracketed pastes and keeps every byte that it gets. */
const keeper = 'stty raw -echo; printf "\\033[?2004h\\033[5;9Hready"; cat > "$0"';

for (const transport of ['pty', 'pipes'] as const) {
  describe(`guarded keys through ${transport}`, function () {
    this.timeout(60_000);
    let home: FleetHome;
    let tmux: TmuxClient;
    let pane: PaneInfo;
    let file: string;

    beforeEach(async () => {
      home = await FleetHome.create();
      tmux = home.client(transport === 'pty' ? { loadPty: realPty } : {});
      await tmux.connect();
      const directory = await home.directory('work');
      file = join(directory, 'keys');
      const argv = ['/bin/sh', '-c', keeper, file];
      const { PATH = '' } = process.env;
      pane = await newSession(tmux, { name: 'ada', directory, argv, environment: { PATH }, launchId: 'ada.1' });
      await waitFor('the stand-in', async () => (await lookAtPane(tmux, pane.paneId)).cursor === '13/4');
      await waitFor('its file', () => readFile(file).then(() => true));
    });
    afterEach(() => home.dispose());

    const moveCursor = async (): Promise<void> => {
      const [tty = ''] = await tmux.command(['display-message', '-p', '-t', pane.paneId, '#{pane_tty}']);
      await writeFile(tty, '\u001b[8;2H');
      await waitFor('the cursor', async () => (await lookAtPane(tmux, pane.paneId)).cursor === '1/7');
    };

    const bracketed = (text: string): string => `\u001b[200~${text}\u001b[201~`;

    it('pastes any text unchanged and once, in brackets, leaves none of it in tmux, and marks the pane with it', async () => {
      const hostile = '#{pid} %Y-%m $(touch x) `y` "q\' \\n \\ ~ $HOME ; -x #[b] 你好 🎉\n\n\tlast ; ';
      const text = `${hostile}${'long '.repeat(longestPrompt / 5)}`;
      const look = await lookAtPane(tmux, pane.paneId);
      const outcomes = [
        await pasteGuarded(tmux, pane.paneId, look, { text, mark: 'p1 pasted' }),
        // Other hands that looked at the same moment.
        await pasteGuarded(tmux, pane.paneId, look, { text, mark: 'p1 pasted' }),
      ];
      await waitFor('the text', async () => (await readFile(file, 'utf8')).endsWith('\u001b[201~'));
      deepStrictEqual(
        [outcomes, (await readFile(file, 'utf8')) === bracketed(text), await tmux.command(['list-buffers'])],
        [['done', 'changed'], true, []],
      );
      deepStrictEqual((await lookAtPane(tmux, pane.paneId)).mark, 'p1 pasted');
    });

    it('sends nothing when the screen has changed since the look', async () => {
      const look = await lookAtPane(tmux, pane.paneId);
      await moveCursor();
      const outcomes = [
        await pasteGuarded(tmux, pane.paneId, look, { text: 'never', mark: 'p1 pasted' }),
        await enterGuarded(tmux, pane.paneId, look, { mark: 'p1 entered' }),
      ];
      const again = await lookAtPane(tmux, pane.paneId);
      outcomes.push(await enterGuarded(tmux, pane.paneId, again, { mark: 'p2 entered' }));
      await waitFor('a key', async () => (await readFile(file, 'utf8')) !== '');
      deepStrictEqual(
        [outcomes, again.mark, await readFile(file, 'utf8'), (await lookAtPane(tmux, pane.paneId)).mark],
        [['changed', 'changed', 'done'], '', '\r', 'p2 entered'],
      );
    });

    it('comes out of the copy mode in which a person has scrolled back', async () => {
      await tmux.command(['copy-mode', '-t', pane.paneId]);
      const look = await lookAtPane(tmux, pane.paneId);
      const outcome = await pasteGuarded(tmux, pane.paneId, look, { text: 'hello' });
      await waitFor('the text', async () => (await readFile(file, 'utf8')).endsWith('\u001b[201~'));
      deepStrictEqual([outcome, await readFile(file, 'utf8')], ['done', bracketed('hello')]);
    });
  });
}
