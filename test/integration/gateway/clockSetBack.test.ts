import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HookFact } from '../../../src/core/claude/facts.ts';
import { spoolReport } from '../../../src/node/hookSpool.ts';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import { call, GatewayRig } from '../../harness/gatewayRig.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { kill } from '../../harness/holderRig.ts';
import { fleetOnDisk } from '../../harness/journaledFleet.ts';

const hour = 3_600_000;

describe('a clock that is set back between two runs of the gateway', function () {
  this.timeout(120_000);
  let rig: GatewayRig;
  before(async () => {
    rig = await GatewayRig.bundled();
  });
  after(async () => {
    await rig.dispose();
  });

  const hook = (event: string, sessionId: string, more: Partial<HookFact> = {}): HookFact => {
    return { event, sessionId, transcriptExists: true, ...more } as HookFact;
  };

  it('loses nothing, keeps the order, and takes what happens from then on as later', async () => {
    const program = join(rig.programs.directory, 'gateway.js');
    const text = readFileSync(program, 'utf8');
    writeFileSync(program, `{ const real = Date.now; Date.now = () => real() + ${hour}; }\n${text}`);
    const ahead = await rig.start();
    const first = await WindowStandIn.join(ahead, 'one');
    await first.ask({ kind: 'create', name: 'ada', directory: rig.directory() });
    const launchId = await first.launch('ada');
    const key = readFileSync(rig.paths.agent('ada').key, 'utf8').trim();
    const tell = async (endpoint: Endpoint, fact: HookFact, at: number): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` };
      return (await call(endpoint, 'POST', '/agents/ada/session', { at, launchId, hook: fact }, headers)).status;
    };
    const told = [
      await tell(ahead, hook('SessionStart', 'before', { source: 'startup' }), Date.now() + hour),
      await tell(ahead, hook('UserPromptSubmit', 'before'), Date.now() + hour),
    ];
    const { sequence } = first;
    first.close();
    writeFileSync(program, text);
    kill(ahead.gateway.pid, 'SIGKILL');
    spoolReport(rig.paths, 'ada', { at: Date.now() + hour, launchId, hook: hook('Stop', 'before') });

    const endpoint = await rig.up({ not: ahead });
    const window = await WindowStandIn.join(endpoint, 'one');
    const ada = window.state.agents['ada'];
    const future = timesAfter(window.state, Date.now());
    told.push(await tell(endpoint, hook('SessionStart', 'after', { source: 'clear' }), Date.now()));
    const { agents } = await fleetOnDisk(rig.paths);
    window.close();
    assert.deepStrictEqual(
      {
        ...{ told, future, later: window.sequence > sequence },
        kept: [ada?.life.kind, ada?.session?.id, ada?.session?.prompted, ada?.session?.turnsCompleted],
        after: [agents['ada']?.session?.id, agents['ada']?.lineage.map(({ id }) => id)],
      },
      {
        ...{ told: [204, 204, 204], future: [], later: true },
        kept: ['running', 'before', true, 1],
        after: ['after', ['before']],
      },
    );
  });
});

/** Where in a value there is a time after `now`, all numbers that are no times being far below. */
function timesAfter(value: unknown, now: number, path = ''): readonly string[] {
  if (typeof value === 'number') return value > now ? [`${path}: ${value - now} ms ahead`] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => timesAfter(item, now, `${path}/${key}`));
}
