import { deepStrictEqual, match } from 'node:assert/strict';
import { claudeVersions } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';

const request = /about to be restarted without this conversation/;

for (const version of claudeVersions) {
  describe(`three built-in servers, and a restart after the save, of claude ${version}`, function () {
    this.timeout(180_000);
    let rig: FleetRig;

    before(async () => {
      rig = await FleetRig.open({ version, trusted: ['work'] });
      await rig.request({ kind: 'configure', settings: { ...rig.state.settings, messaging: 'on', memory: 'on' } });
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

    it('has them all bound, and uses them without a question', async () => {
      const before = rig.model.requests.length;
      await rig.turn('ada', 'CALL mcp__bowline-messaging__send {"to":["ada"],"text":"the gate is open"}');
      await rig.turn('ada', 'CALL mcp__bowline-messaging__inbox {}');
      await rig.turn('ada', 'CALL mcp__bowline-memory__recall {"query":"gate"}');
      const results = rig.model.requests.slice(before).flatMap(({ toolResults }) => toolResults);
      const expected = [/Sent to ada/, /from ada, .*> the gate is open/s, /no notes yet/];
      deepStrictEqual(
        [
          rig.row('ada').endpoints.map(({ server, state }) => [server, state]),
          expected.filter((pattern) => !results.some((result) => pattern.test(result))),
        ],
        [['bowline-self', 'bowline-messaging', 'bowline-memory'].map((server) => [server, 'bound']), []],
      );
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

    it('loses one that is switched off by a relaunch with its conversation, when it is idle', async () => {
      await rig.turn('ada', 'hello again');
      const former = rig.agent('ada').session?.id;
      await rig.request({ kind: 'configure agent', name: 'ada', change: { servers: { 'bowline-memory': 'off' } } });
      await rig.untilBound('ada', 3);
      deepStrictEqual(
        [rig.row('ada').endpoints.map(({ server, state }) => [server, state]), rig.agent('ada').session?.id === former],
        [['bowline-self', 'bowline-messaging'].map((server) => [server, 'bound']), true],
      );
    });
  });
}
