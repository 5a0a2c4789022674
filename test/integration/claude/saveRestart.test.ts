import { deepStrictEqual, match } from 'node:assert/strict';
import { claudeVersions } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';

const request = /about to be restarted without this conversation/;

for (const version of claudeVersions) {
  describe(`a restart after the save of claude ${version}`, function () {
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

    const ended = (id: string): Promise<void> =>
      rig.until('ada', `after ${id}`, (_row, { saveRestart }) => {
        return saveRestart?.promptId === id && saveRestart.ended !== undefined;
      });

    it('restarts nothing when the agent answers and does not save', async () => {
      await rig.request({ kind: 'save and restart', name: 'ada', id: 's1', mode: 'fresh' });
      await ended('s1');
      const { saveRestart, launchCount, savedContext } = rig.agent('ada');
      match(saveRestart?.ended?.detail ?? '', /ada was not restarted: it ended its turn without saving/);
      deepStrictEqual([launchCount, savedContext], [1, undefined]);
    });

    it('restarts once the agent has saved and its turn has ended', async () => {
      rig.model.obey(request, 'CALL mcp__bowline-self__save_my_context {"context":"all that matters"}');
      const former = rig.agent('ada').session?.id;
      await rig.request({ kind: 'save and restart', name: 'ada', id: 's2', mode: 'fresh' });
      await ended('s2');
      await rig.untilBound('ada', 2);
      const { saveRestart, savedContext, session, launches, prompts } = rig.agent('ada');
      deepStrictEqual(
        [
          saveRestart?.ended?.outcome,
          savedContext?.sessionId === former,
          session?.id === former,
          launches.map(({ reason }) => reason),
          prompts?.map(({ state }) => state.kind),
        ],
        ['restarted', true, false, ['replaced'], ['received', 'received']],
      );
    });
  });
}
