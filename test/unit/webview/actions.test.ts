import assert from 'node:assert/strict';
import type { AgentRow } from '../../../src/core/fleet/select.ts';
import { agentActions, blackoutActions, endpointActions } from '../../../src/webview/actions.ts';
import { agent, blackout, endpoint, unbound } from './fleetViews.ts';

const off = [endpoint({ state: 'off' })];

function descriptions(row: AgentRow): readonly string[] {
  const endpoints = row.endpoints.flatMap((one) => endpointActions(row, one, undefined, 'connected'));
  return [...agentActions(row, 'connected'), ...endpoints].map(({ description }) => description);
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
    const reconnect = 'Reconnect MCP: bowline-self of ada';
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
    const lost = unbound('client gave up');
    const inBlackout = blackout('client gave up', ['ada']);
    const refused = [...agentActions(row, 'away'), ...endpointActions(row, lost, inBlackout, 'away')]
      .filter(({ refusal }) => refusal !== undefined)
      .map(({ command }) => command);
    assert.deepStrictEqual(refused, ['verify', 'restart', 'heal', 'reconnect']);
  });

  it('of one endpoint have the server behind it connected anew, first where that one fails', () => {
    const labels = (['bound', 'degraded'] as const).map((state) =>
      endpointActions(agent('ada'), endpoint({ server: 'github', state, upstream: {} }), undefined, 'connected').map(
        ({ label, messages }) => [label, ...messages.map(({ command, server }) => `${command} ${server}`)],
      ),
    );
    const own = ['Reconnect MCP', 'reconnect github'];
    const behind = ['Reconnect Upstream', 'reconnectUpstream github'];
    assert.deepStrictEqual(labels, [
      [own, behind],
      [behind, own],
    ]);
  });

  it('of one endpoint begin with healing where that helps', () => {
    const labels = (['client gave up', 'key wrong'] as const).map((cause) =>
      endpointActions(agent('ada'), unbound(cause), blackout(cause, ['ada', 'bo']), 'connected').map(
        ({ label, messages }) => [label, ...messages],
      ),
    );
    const reconnect = [
      'Reconnect MCP',
      { kind: 'command', command: 'reconnect', agent: 'ada', server: 'bowline-self' },
    ];
    assert.deepStrictEqual(labels, [
      [['Heal Now', { kind: 'command', command: 'heal', agents: ['ada'] }], reconnect],
      [reconnect],
    ]);
  });
});

describe('actions of a blackout', () => {
  it('heal all its agents by one request, and restart each', () => {
    const actions = blackoutActions(blackout('gateway was away', ['ada', 'bo']), 'connected');
    assert.deepStrictEqual(
      actions.map(({ label, description, messages }) => [label, description, ...messages]),
      [
        ['Heal 2 Agents', 'Heal 2 Agents', { kind: 'command', command: 'heal', agents: ['ada', 'bo'] }],
        [
          'Restart 2 Agents',
          'Restart 2 Agents',
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
      ['Heal Now: Heal Now: ada', 'Restart: Restart ada'],
    ]);
  });
});
