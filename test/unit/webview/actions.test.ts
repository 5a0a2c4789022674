import assert from 'node:assert/strict';
import type { AgentRow } from '../../../src/core/fleet/select.ts';
import { type Action, agentActions, blackoutActions, endpointAction } from '../../../src/webview/actions.ts';
import { agent, blackout, endpoint, unbound } from './fleetViews.ts';

const off = [endpoint({ state: 'off' })];

function descriptions(row: AgentRow): readonly string[] {
  const endpoints = row.endpoints.map((one) => endpointAction(row, one, 'connected'));
  return [...agentActions(row, 'connected'), ...endpoints].flatMap((action) => action?.description ?? []);
}

/** One line for each message that a button sends. */
function sent({ messages }: Action): readonly string[] {
  return messages.map(({ command, agent: name, server }) => [command, name, server].filter(Boolean).join(' '));
}

describe('actions of an agent', () => {
  it('fit its life', () => {
    const lives: Readonly<Record<string, AgentRow>> = {
      ready: agent('ada'),
      'lost tools': agent('ada', { endpoints: [unbound('client gave up')] }),
      launching: agent('ada', { life: 'launching', endpoints: [endpoint({ state: 'pending' })] }),
      stopping: agent('ada', { life: 'stopping' }),
      stopped: agent('ada', { life: 'stopped', endpoints: off }),
      dead: agent('ada', { life: 'dead', endpoints: off }),
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
      dead: ['Restart ada'],
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
  it('act on exactly the endpoints and agents that are dark by its cause', () => {
    const rows = [
      agent('ada', { endpoints: [unbound('gateway was away'), endpoint({ server: 'other' })] }),
      agent('bo', { endpoints: [unbound('gateway was away'), { ...unbound('client gave up'), server: 'other' }] }),
      agent('cy'),
    ];
    const actions = blackoutActions(blackout('gateway was away', ['ada', 'bo']), rows, 'connected');
    assert.deepStrictEqual(
      actions.map((action) => [action.label, action.description, ...sent(action)]),
      [
        [
          'Reconnect MCP (2)',
          'Reconnect MCP of all 2 agents',
          'reconnect ada bowline-self',
          'reconnect bo bowline-self',
        ],
        ['Restart (2)', 'Restart all 2 agents', 'restart ada', 'restart bo'],
      ],
    );
  });

  it('follow the cause: no reconnect where only a new configuration helps, attach where a dialog waits', () => {
    const labels = (['key wrong', 'trust dialog', 'never connected'] as const).map((cause) =>
      blackoutActions(blackout(cause, ['ada']), [agent('ada', { endpoints: [unbound(cause)] })], 'connected').map(
        ({ label, description }) => `${label}: ${description}`,
      ),
    );
    assert.deepStrictEqual(labels, [
      ['Restart: Restart ada'],
      ['Attach: Attach to ada'],
      ['Reconnect MCP: Reconnect MCP of ada', 'Restart: Restart ada'],
    ]);
  });
});
