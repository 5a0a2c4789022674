import { deepStrictEqual, match } from 'node:assert/strict';
import { readScreen, type ScreenReading } from '../../../src/core/claude/screen.ts';
import type { Interrupt } from '../../../src/core/fleet/life.ts';
import { runningLaunch } from '../../../src/core/fleet/agent.ts';
import { claudeVersions } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const patience = 60_000;

for (const version of claudeVersions) {
  describe(`restart guard and interrupt with claude ${version}`, function () {
    this.timeout(180_000);
    let rig: FleetRig;

    before(async () => {
      rig = await FleetRig.open({ version, trusted: ['work'] });
      await rig.create('ada', 'work');
      await rig.untilBound('ada');
      await rig.turn('ada', 'hello');
    });

    after(async () => {
      await rig.dispose();
    });

    const reading = async (): Promise<ScreenReading> =>
      readScreen((await rig.tmux('capture-pane', '-e', '-p', '-t', '=ada:')).split('\n'));

    const untilText = async (text: string): Promise<void> => {
      await waitFor(
        `"${text}" in the input line`,
        async () => {
          const now = await reading();
          return now.kind === 'input' && now.text === text;
        },
        { timeoutMs: patience },
      );
    };

    const clear = async (): Promise<void> => {
      await rig.tmux('send-keys', '-t', '=ada:', 'C-u');
      await untilText('');
    };

    const interrupt = (): Interrupt | undefined => runningLaunch(rig.agent('ada'))?.interrupt;

    const ended = async (id: string): Promise<string> => {
      await rig.request({ kind: 'interrupt', name: 'ada', id });
      await rig.until('ada', `${id} ended`, () => interrupt()?.id === id && interrupt()?.ended !== undefined);
      return interrupt()?.ended?.outcome ?? '';
    };

    const pid = (): number | undefined => runningLaunch(rig.agent('ada'))?.process.pid;

    it('interrupts a slow turn, which is neither completed nor failed, and not what came after it', async () => {
      const before = rig.agent('ada').session?.turnsCompleted;
      await rig.prompt('ada', 'SLOW 600000 never mind');
      await rig.until('ada', 'busy', (_row, { activity }) => activity.kind === 'busy');
      const outcome = await ended('i1');
      await rig.until('ada', 'idle', (_row, { activity }) => activity.kind === 'idle');
      const { session } = rig.agent('ada');
      const late = await rig.request({ kind: 'interrupt', name: 'ada', id: 'i2' }).catch((error: unknown) => error);
      deepStrictEqual(
        [outcome, session?.turnsCompleted === before, session?.apiErrors, session?.quarantine],
        ['interrupted', true, undefined, undefined],
      );
      match(String(late), /ada has no turn in progress \(idle\); nothing was done/);
      // A turn without an answer gives its prompt back to the input line.
      await untilText('SLOW 600000 never mind');
      await clear();
    });

    it('presses nothing while a permission is asked for', async () => {
      await rig.prompt('ada', 'CALL Bash {"command":"touch made.txt","description":"x"}');
      await waitFor('the dialog', async () => (await reading()).kind === 'dialog', { timeoutMs: patience });
      const dialog = await reading();
      await rig.until('ada', 'asking', (_row, { activity }) => activity.kind === 'waiting for permission');
      const refusal = await rig.request({ kind: 'interrupt', name: 'ada', id: 'i3' }).catch((error: unknown) => error);
      match(String(refusal), /Escape would answer that; nothing was done/);
      deepStrictEqual(await reading(), dialog);
      await rig.tmux('send-keys', '-t', '=ada:', 'Escape');
      await rig.until('ada', 'idle', (_row, { activity }) => activity.kind === 'idle');
      await waitFor('the input line', async () => (await reading()).kind === 'input', { timeoutMs: patience });
      await clear();
    });

    it('restarts nothing over unsent input, and everything when the guard is bypassed', async () => {
      const process = pid();
      const restart = { kind: 'restart', name: 'ada', mode: 'resume' } as const;
      await rig.tmux('send-keys', '-t', '=ada:', '-l', 'half a thought');
      await untilText('half a thought');
      const refusal = await rig.request({ ...restart, guard: 'enforce' }).catch((error: unknown) => error);
      match(String(refusal), /ada was not restarted: unsent input\. Would be lost: What stands unsent/);
      deepStrictEqual([pid(), rig.agent('ada').launchCount, (await reading()).kind], [process, 1, 'input']);
      await untilText('half a thought');
      await rig.request({ ...restart, guard: 'bypass' });
      await rig.untilBound('ada', 2);
      deepStrictEqual(
        [pid() === process, rig.state.audit.flatMap((record) => ('verdict' in record ? record.verdict : []))],
        [false, ['unsent input']],
      );
    });
  });
}
