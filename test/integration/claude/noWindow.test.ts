import { deepStrictEqual } from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { readEndpointFile } from '../../../src/node/endpointFile.ts';
import { agentSchema } from '../../../src/protocol/fleetState.ts';
import { FleetRig, rigWindow } from '../../harness/fleetRig.ts';
import { call } from '../../harness/gatewayRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const answerSchema = z.object({ agent: agentSchema, view: z.object({ worst: z.string() }) });

describe('no window at all (claude 2.1.332)', function () {
  this.timeout(180_000);
  let rig: FleetRig;
  const inherited = { XDG_BOWLINE_TEST: 'allowed', VSCODE_BOWLINE_TEST: 'not allowed' };

  before(async () => {
    Object.assign(process.env, inherited);
    rig = await FleetRig.open({ version: '2.1.332', trusted: ['ada'] });
    await rig.create('ada', 'ada');
    await rig.untilBound('ada');
    rig.closeWindow();
  });

  after(async () => {
    for (const name of Object.keys(inherited)) Reflect.deleteProperty(process.env, name);
    await rig.dispose();
  });

  async function ask(method: string, path: string): Promise<unknown> {
    const reading = await readEndpointFile(rig.paths);
    if (reading.kind !== 'ok') throw new Error('the gateway has not published itself');
    return (await call(reading.endpoint, method, path)).body;
  }
  async function untilBound(launchCount: number): Promise<void> {
    const fits = async (): Promise<boolean> => {
      const { agent, view } = answerSchema.parse(await ask('GET', '/agents/ada'));
      return view.worst === 'bound' && agent.launchCount === launchCount && agent.life.kind === 'running';
    };
    await waitFor(`ada bound in launch ${launchCount}`, fits, { timeoutMs: 60_000, everyMs: 100 });
  }

  it('restarts what a script asks for, with the variables that may reach an agent', async () => {
    await ask('POST', '/agents/ada/restart');
    await untilBound(2);
    const pid = await rig.tmux('display-message', '-p', '-t', '=ada:', '#{pane_pid}');
    const variables = (await readFile(`/proc/${pid.trim()}/environ`, 'utf8')).split('\0');
    deepStrictEqual(
      variables.filter((one) => one.includes('_BOWLINE_TEST=') || /^(BOWLINE_HOME=|MALLOC_)/.test(one)),
      ['XDG_BOWLINE_TEST=allowed'],
    );
  });

  it('gives the hands to the next window and leaves tmux to it', async () => {
    await rig.openWindow();
    await waitFor('the window to have the hands', () => rig.handsHolder === rigWindow);
    await rig.request({ kind: 'restart', name: 'ada', mode: 'resume', guard: 'enforce' });
    await rig.untilBound('ada', 3);
    const clients = async (): Promise<string> => (await rig.tmux('list-clients', '-F', 'a client')).trim();
    await waitFor('one client of tmux', async () => (await clients()) === 'a client');
  });
});
