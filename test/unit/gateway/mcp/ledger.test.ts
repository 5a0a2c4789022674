import assert from 'node:assert/strict';
import { bindingHealth } from '../../../../src/core/binding/health.ts';
import type { IdentityFault } from '../../../../src/gateway/mcp/identity.ts';
import { Ledger } from '../../../../src/gateway/mcp/ledger.ts';
import type { SessionRecord } from '../../../../src/gateway/mcp/sessionFile.ts';
import { agentRunning, epochStarted, MemoryFleet } from '../../../harness/mcpFleet.ts';

const session: SessionRecord = {
  id: 's1',
  agent: 'ada',
  launchId: 'ada.1',
  server: 'bowline-self',
  protocolVersion: '2025-11-25',
  client: { name: 'claude-code', version: '2.1.332' },
  createdAt: 1,
};
const fault: IdentityFault = {
  kind: 'fault',
  cause: 'name blank',
  status: 400,
  sentence: 'The header is empty.',
  nextStep: 'Fill it.',
  attributedTo: 'ada',
};

describe('ledger', () => {
  let fleet: MemoryFleet;
  let now: number;
  let ledger: Ledger;
  let from: number;

  beforeEach(() => {
    fleet = new MemoryFleet();
    now = 1_000_000;
    fleet.report(epochStarted('e1', now));
    for (const event of agentRunning('ada', now)) fleet.report(event);
    ledger = new Ledger(fleet, () => now);
    from = fleet.events.length;
  });

  it('tells proof at once, then every 5 s, and at once again for a new epoch or launch', () => {
    const told: number[] = [];
    const seen = (record: SessionRecord = session): void => {
      ledger.proof(record);
      told.push(fleet.ofKind('mcp proof seen').length);
    };
    seen();
    seen();
    now += 4_999;
    seen();
    now += 1;
    seen();
    fleet.report(epochStarted('e2', now));
    seen();
    seen();
    seen({ ...session, launchId: 'ada.2' });
    assert.deepStrictEqual(told, [1, 1, 1, 2, 3, 3, 4]);
  });

  it('counts what says more than proof as proof', async () => {
    await ledger.toolsListed(session);
    ledger.proof(session);
    assert.deepStrictEqual(fleet.kinds(from), ['mcp tools listed']);
  });

  it('tells the same fault once in 5 s, others at once', () => {
    ledger.fault(fault, 'bowline-self', 'served');
    ledger.fault(fault, 'bowline-self', 'served');
    ledger.fault({ ...fault, cause: 'key wrong' }, 'bowline-self', 'served');
    for (let index = 0; index < 50; index++) ledger.fault(fault, `made-up-${index}`, 'not served');
    now += 5_000;
    ledger.fault(fault, 'bowline-self', 'served');
    assert.deepStrictEqual(
      fleet.ofKind('identity fault').map(({ cause, name, server }) => [cause, name, server]),
      [
        ['name blank', 'ada', 'bowline-self'],
        ['key wrong', 'ada', 'bowline-self'],
        ['name blank', 'ada', undefined],
        ['name blank', 'ada', 'bowline-self'],
      ],
    );
  });

  it('unbinds at once by a fault, and the next right request ends it at once', async () => {
    const health = (): string => {
      const agent = fleet.state.agents['ada'];
      return agent === undefined ? 'none' : bindingHealth(agent, 'bowline-self', fleet.state.epoch, now).state;
    };
    ledger.initialized(session);
    await ledger.toolsListed(session);
    fleet.report({
      at: now,
      kind: 'mcp stream opened',
      name: 'ada',
      server: 'bowline-self',
      launchId: 'ada.1',
      session: 'x',
    });
    const states = [health()];
    now += 10;
    ledger.fault(fault, 'bowline-self', 'served');
    states.push(health());
    ledger.proof(session);
    states.push(health());
    now += 1;
    ledger.proof(session);
    states.push(health());
    assert.deepStrictEqual(states, ['suspect', 'unbound', 'unbound', 'suspect']);
  });

  it('tells good calls of an upstream every 5 s, and at once what is news', () => {
    ledger.initialized(session);
    const told: string[] = [];
    const hear = (reason: string | undefined, roundTripMs?: number): void => {
      const before = fleet.events.length;
      ledger.upstream(session, reason, roundTripMs);
      told.push(fleet.kinds(before).join());
    };
    hear(undefined, 20);
    hear(undefined, 20);
    now += 4_999;
    hear(undefined, 20);
    now += 1;
    hear(undefined, 20);
    hear('no answer');
    hear('no answer');
    hear(undefined, 30);
    hear(undefined);
    void ledger.detached(session, { why: 'asked', asker: 'window' });
    const due = [ledger.isUpdateDue(session)];
    hear(undefined, 40);
    due.push(ledger.isUpdateDue(session), ledger.isUpdateDue({ ...session, launchId: 'ada.0' }));
    const good = 'upstream answered';
    assert.deepStrictEqual(
      [told, due, fleet.state.agents['ada']?.bindings['bowline-self']?.goodCall],
      [[good, '', '', good, 'upstream failed', '', good, '', good], [true, false, false], { at: now, roundTripMs: 40 }],
    );
  });

  it('shows a fault of an agent that does not run for the fleet', () => {
    for (const event of agentRunning('bo', now).slice(0, 1)) fleet.report(event);
    ledger.fault({ ...fault, attributedTo: 'bo' }, 'bowline-self', 'served');
    assert.deepStrictEqual(
      fleet.state.notices.map(({ code, sentence }) => [code, sentence]),
      [['name blank', 'The header is empty.']],
    );
  });
});
