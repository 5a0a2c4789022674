import { deepStrictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type Agent, currentLaunch } from '../../../src/core/fleet/agent.ts';
import { restoreProgress } from '../../../src/core/fleet/restore.ts';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import type { HandsFact } from '../../../src/protocol/fleetEvent.ts';
import { call, GatewayRig } from '../../harness/gatewayRig.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { waitFor } from '../../harness/waitFor.ts';

const names = ['ada', 'bo', 'cy', 'di', 'ed'] as const;
const sessionOf = (name: (typeof names)[number]): string =>
  `00000000-0000-4000-8000-${String(names.indexOf(name)).padStart(12, '0')}`;
const exit = { how: 'host gone', reading: 'other', detail: 'the tmux server ended' } as const;

/** The real holder and gateway; a stand-in for a window tells what hands would. */
describe('restore, while what runs it is killed', function () {
  this.timeout(120_000);
  let rig: GatewayRig;
  before(async () => {
    rig = await GatewayRig.bundled();
  });
  after(async () => {
    await rig.dispose();
  });

  /** Agents that ran, and whose tmux server ended. */
  async function lose(endpoint: Endpoint, window: WindowStandIn): Promise<void> {
    const settings = { claudePath: 'claude', environment: {}, healing: 'off', handsWithoutWindow: 'off' } as const;
    await window.ask({ kind: 'configure', settings });
    const facts: HandsFact[] = [];
    for (const name of names) {
      await window.ask({ kind: 'create', name, directory: rig.directory() });
      const launchId = await window.launch(name);
      const hook = { event: 'UserPromptSubmit', sessionId: sessionOf(name), transcriptExists: true };
      const body = { at: Date.now(), launchId, hook };
      const key = { authorization: `Bearer ${readFileSync(rig.paths.agent(name).key, 'utf8').trim()}` };
      deepStrictEqual((await call(endpoint, 'POST', `/agents/${name}/session`, body, key)).status, 204);
      facts.push({ at: Date.now(), kind: 'process ended', name, launchId, exit });
    }
    window.report(...facts);
    await waitFor('all to be stopped', () => names.every((name) => window.state.agents[name]?.life.kind === 'stopped'));
  }

  function underWay({ state }: WindowStandIn): readonly unknown[] {
    return names.map((name) => {
      const agent = state.agents[name];
      const launch = agent && currentLaunch(agent);
      return launch && [launch.id, launch.mode, launch.expectedSessionId];
    });
  }

  it('goes on from the state with the same launches, in the next gateway and for the next window', async () => {
    const endpoint = await rig.start();
    const first = await WindowStandIn.join(endpoint, 'window-1');
    await lose(endpoint, first);
    deepStrictEqual(await first.ask({ kind: 'restore all' }), undefined);
    await waitFor('three to be started', () => first.tasks.filter(({ kind }) => kind === 'launch').length === 3);
    const before = underWay(first);
    deepStrictEqual(
      before.map((launch) => Array.isArray(launch) && launch.slice(1)),
      [...names.slice(0, 3).map((name) => ['resume', sessionOf(name)]), false, false],
    );
    first.drop();
    const again = await rig.restartGateway(endpoint);
    const second = await WindowStandIn.join(again, 'window-2');
    await waitFor('its tasks', () => second.tasks.filter(({ kind }) => kind === 'launch').length === 3);
    deepStrictEqual(underWay(second), before);
    // One that needs a person makes room for the next.
    const launchId = currentId(second.state.agents['bo']);
    second.report({
      at: Date.now(),
      kind: 'launch failed',
      name: 'bo',
      launchId,
      code: 'launch-refused',
      sentence: 'no',
    });
    await waitFor('the fourth', () => second.tasks.some(({ kind, name }) => kind === 'launch' && name === 'di'));
    deepStrictEqual(await second.ask({ kind: 'cancel restore' }), undefined);
    await waitFor('the end of what is not up', () => second.tasks.filter(({ kind }) => kind === 'end').length === 3);
    second.drop();
    const last = await WindowStandIn.join(await rig.restartGateway(again), 'window-3');
    await waitFor('its tasks', () => last.tasks.length === 3);
    const { restoration } = last.state;
    deepStrictEqual(
      [last.tasks.map(({ kind, name }) => `${kind} ${name}`), restoration?.ended?.left],
      [
        ['end ada', 'end cy', 'end di'],
        ['ada', 'cy', 'di', 'ed'],
      ],
    );
    deepStrictEqual(restoration && restoreProgress(last.state, restoration).waiting, ['ed']);
    last.drop();
  });
});

function currentId(agent: Agent | undefined): string {
  return (agent && currentLaunch(agent)?.id) ?? '';
}
