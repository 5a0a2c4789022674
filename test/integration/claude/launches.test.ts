import { deepStrictEqual, match, ok } from 'node:assert/strict';
import path from 'node:path';
import { readEndpointFile } from '../../../src/node/endpointFile.ts';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import { claudeBinary, claudeVersions } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { findProcesses } from '../../harness/processes.mjs';
import { waitFor } from '../../harness/waitFor.ts';
import { WrappedClaude } from '../../harness/wrappedClaude.ts';

for (const version of claudeVersions) {
  describe(`launches of claude ${version}`, function () {
    this.timeout(180_000);
    let rig: FleetRig;
    let wrapped: WrappedClaude;

    before(async () => {
      rig = await FleetRig.open({ version, trusted: ['shared'] });
      wrapped = await WrappedClaude.create(path.join(rig.root, 'wrapper'), claudeBinary(version));
      const { settings } = rig.state;
      await rig.request({ kind: 'configure', settings: { ...settings, claudePath: wrapped.program } });
      await rig.create('ada', 'shared');
      await rig.untilBound('ada');
    });

    after(async () => {
      await rig.dispose();
    });

    async function endpoint(): Promise<Endpoint> {
      const reading = await readEndpointFile(rig.paths);
      if (reading.kind !== 'ok') throw new Error(`endpoint file ${reading.kind}`);
      return reading.endpoint;
    }

    const processesOf = (name: string): readonly string[] => {
      const ofThisFleet = new Set(findProcesses(rig.root).map(({ pid }) => pid));
      return findProcesses(`BOWLINE_AGENT=${name}`).flatMap(({ pid, command }) =>
        ofThisFleet.has(pid) ? command : [],
      );
    };

    it('hand the saved context to the fresh conversation, which cannot see the one before', async () => {
      await rig.turn('ada', 'CALL mcp__bowline-self__save_my_context {"context":"the plan is SEVENTEEN"}');
      const former = rig.agent('ada').session?.id;
      await rig.request({ kind: 'restart', name: 'ada', mode: 'fresh', guard: 'enforce' });
      await rig.untilBound('ada', 2);
      await rig.turn('ada', 'hello');
      const notes = rig.model.requests.findLast(({ text }) => text.includes('hello'))?.notes ?? '';
      match(notes, /The restart was planned\.[^]*Context saved .*:\nthe plan is SEVENTEEN/);
      const { session, lineage, savedContext } = rig.agent('ada');
      deepStrictEqual(
        [session?.id === former, lineage.at(-1)?.id, lineage.at(-1)?.givenUp?.why, savedContext?.origin],
        [false, former, 'fresh restart', 'carried'],
      );
    });

    it('end a resume that brings another conversation, and nothing of it is kept', async () => {
      const own = rig.agent('ada').session?.id ?? '';
      const other = rig.agent('ada').lineage.at(-1)?.id ?? '';
      await wrapped.behave('ada', 'resume', { conversation: { session: other } });
      await rig.request({ kind: 'restart', name: 'ada', mode: 'resume', guard: 'enforce' });
      await rig.until('ada', 'blocked', ({ life }) => life === 'blocked');
      const { session, launches } = rig.agent('ada');
      match(rig.row('ada').detail, /^resume failed: Claude began conversation .* in place of /);
      deepStrictEqual([session?.id, launches.at(-1)?.reason, processesOf('ada')], [own, 'killed', []]);
    });

    it('resume the conversation that a person chooses, also one that was given up', async () => {
      const chosen = rig.agent('ada').lineage.at(-1)?.id ?? '';
      await wrapped.behave('ada', 'resume', {});
      await rig.request({ kind: 'resume other', name: 'ada', sessionId: chosen });
      await rig.untilBound('ada', 4);
      deepStrictEqual([rig.agent('ada').session?.id, rig.agent('ada').session?.givenUp], [chosen, undefined]);
    });

    it('leave no process when they are stopped half way, and the conversation comes back after that', async () => {
      const { session: { id } = {}, launchCount } = rig.agent('ada');
      await wrapped.behave('ada', 'resume', { delaySeconds: 60 });
      const starts = (await wrapped.starts()).length;
      await rig.request({ kind: 'restart', name: 'ada', mode: 'resume', guard: 'enforce' });
      await waitFor('the start', async () => (await wrapped.starts()).length > starts);
      // A stop that comes before the start is told ends the former launch as stopped, not as replaced.
      await waitFor('the report of the start', () => {
        const { life } = rig.agent('ada');
        return life.kind === 'running' && life.running.launch.id.startsWith(`ada.${launchCount + 1}.`);
      });
      ok(processesOf('ada').length > 0);
      await rig.request({ kind: 'stop', name: 'ada' });
      await rig.until('ada', 'stopped', ({ life }) => life === 'stopped');
      const left = processesOf('ada');
      await wrapped.behave('ada', 'resume', {});
      await rig.request({ kind: 'start', name: 'ada' });
      await rig.untilBound('ada', 6);
      deepStrictEqual(
        [
          left,
          rig.agent('ada').session?.id,
          rig
            .agent('ada')
            .launches.slice(-2)
            .map(({ reason }) => reason),
        ],
        [[], id, ['replaced', 'released']],
      );
    });

    it('stay fresh when the gateway is killed between the request and the launch', async () => {
      const former = rig.agent('ada').session?.id;
      await rig.request({ kind: 'configure', settings: { ...rig.state.settings, handsWithoutWindow: 'off' } });
      rig.closeWindow();
      const { port, token, gateway } = await endpoint();
      const { status } = await fetch(`http://127.0.0.1:${port}/agents/ada/restart`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ mode: 'fresh', bypassGuard: true }),
      });
      process.kill(gateway.pid, 'SIGKILL');
      await waitFor('the next gateway', async () => (await endpoint()).gateway.instance !== gateway.instance);
      await rig.openWindow();
      await rig.untilBound('ada', 7);
      const { session, lineage } = rig.agent('ada');
      deepStrictEqual([status, session?.id === former, lineage.at(-1)?.id], [204, false, former]);
    });
  });
}
