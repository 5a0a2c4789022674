import assert from 'node:assert/strict';
import type { AgentRow } from '../../../src/core/fleet/select.ts';
import { agentActions, blackoutActions, endpointAction } from '../../../src/webview/actions.ts';
import { agent, blackout, endpoint, unbound } from './fleetViews.ts';

const off = [endpoint({ state: 'off' })];

function descriptions(row: AgentRow): readonly string[] {
  const endpoints = row.endpoints.map((one) => endpointAction(row, one, 'connected'));
  return [...agentActions(row, 'connected'), ...endpoints].flatMap((action) => action?.description ?? []);
}

describe('actions of an agent', () => {
  it('fit its life', () => {
    const lives: Readonly<Record<string, AgentRow>> = {
      ready: agent('ada'),
      'lost tools': agent('ada', { endpoints: [unbound('client gave up')] }),
      launching: agent('ada', { life: 'launching', endpoints: [endpoint({ state: 'pending' })] }),
      stopping: agent('ada', { life: 'stopping' }),
      stopped: agent('ada', { life: 'stopped', endpoints: off }),
      sleeping: agent('ada', { life: 'sleeping', endpoints: off }),
      dead: agent('ada', { life: 'dead', endpoints: off }),
      'dead with a process': agent('ada', { life: 'dead', endpoints: [unbound('client gave up')] }),
      'blocked without process': agent('ada', { life: 'blocked', endpoints: off }),
      'blocked at a dialog': agent('ada', { life: 'blocked', endpoints: [endpoint({ state: 'pending' })] }),
    };
    const running = ['Verify binding of ada', 'Restart ada', 'Attach to ada'];
    const reconnect = 'Reconnect bowline-self of ada';
    assert.deepStrictEqual(Object.fromEntries(Object.entries(lives).map(([name, row]) => [name, descriptions(row)])), {
      ready: [...running, reconnect],
      'lost tools': [...running, reconnect],
      launching: ['Restart ada', 'Attach to ada'],
      stopping: ['Attach to ada', reconnect],
      stopped: ['Start ada'],
      sleeping: ['Wake ada', 'Attach to ada'],
      dead: ['Restart ada'],
      'dead with a process': [...running, reconnect],
      'blocked without process': ['Restart ada'],
      'blocked at a dialog': running,
    });
  });

  it('that need the gateway are refused while it is away', () => {
    const row = agent('ada');
    const refused = [...agentActions(row, 'away'), endpointAction(row, endpoint(), 'away')]
      .filter((action) => action?.refusal !== undefined)
      .map((action) => action?.command);
    assert.deepStrictEqual(refused, ['verify', 'restart', 'reconnect']);
  });
});

describe('actions of a blackout', () => {
  it('heal all its agents by one request, and restart each', () => {
    const actions = blackoutActions(blackout('gateway was away', ['ada', 'bo']), 'connected');
    assert.deepStrictEqual(
      actions.map(({ label, description, messages }) => [label, description, ...messages]),
      [
        ['Heal All (2)', 'Heal all 2 agents', { kind: 'command', command: 'heal', agents: ['ada', 'bo'] }],
        [
          'Restart (2)',
          'Restart all 2 agents',
          { kind: 'command', command: 'restart', agent: 'ada' },
          { kind: 'command', command: 'restart', agent: 'bo' },
        ],
      ],
    );
  });

  it('follow the cause: no healing where only a new configuration helps, attach where a dialog waits', () => {
    const labels = (['key wrong', 'trust dialog', 'never connected'] as const).map((cause) =>
      blackoutActions(blackout(cause, ['ada']), 'connected').map(
        ({ label, description }) => `${label}: ${description}`,
      ),
    );
    assert.deepStrictEqual(labels, [
      ['Restart: Restart ada'],
      ['Attach: Attach to ada'],
      ['Heal Now: Heal ada', 'Restart: Restart ada'],
    ]);
  });
});
