import { deepStrictEqual } from 'node:assert/strict';
import { type AgentRow, type Connection, select } from '../../../src/core/fleet/select.ts';
import {
  agentLook,
  agentTooltip,
  endpointLook,
  endpointTooltip,
  type RowLook,
} from '../../../src/extension/agentRows.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

const connected: Connection = { kind: 'connected' };

function row(story: FleetStory): AgentRow {
  const [agent] = select(story.state, connected, story.now).agents;
  if (agent === undefined) throw new Error('no agent');
  return agent;
}

function agentRow(story: FleetStory, connection = connected): RowLook {
  const view = select(story.state, connection, story.now);
  const [agent] = view.agents;
  if (agent === undefined) throw new Error('no agent');
  return agentLook(agent, { state: story.state, view });
}

function looks(story: FleetStory, connection = connected): unknown[] {
  const look = agentRow(story, connection);
  return [look.description, look.icon.id, look.icon.color?.split('.').at(-1), look.contextValue];
}

/** Claude asks whether it may use a tool. */
function asking(): FleetStory {
  const busy = FleetStory.bound().hook({ event: 'UserPromptSubmit' });
  return busy.hook({ event: 'Notification', waitingFor: 'permission' });
}

describe('rows of the Agents view', () => {
  it('show life, activity and the worst binding', () => {
    const { now } = FleetStory.bound();
    const away: Connection = { kind: 'away', since: now, reason: 'gone' };
    const refused: Connection = { ...away, refusedSince: now - 14_000 };
    const gaveUp = FleetStory.bound().dropStream().wait(14_000);
    const stopped = new FleetStory().create();
    const sleeping = FleetStory.bound().tell({ kind: 'stop requested', name: 'ada', reason: 'idle', then: 'keep' });
    const exit = { how: 'gone', reading: 'other', detail: 'stopped' } as const;
    sleeping.tell({ kind: 'process ended', name: 'ada', launchId: 'ada.1', exit });
    const missing = new FleetStory().create().request();
    missing.tell({
      kind: 'launch failed',
      name: 'ada',
      launchId: 'ada.1',
      code: 'claude-missing',
      sentence: 'There is no claude at /nowhere.',
    });
    deepStrictEqual(
      [
        looks(FleetStory.bound()),
        looks(FleetStory.bound().hook({ event: 'UserPromptSubmit' })),
        looks(asking()),
        looks(asking(), away),
        looks(new FleetStory().create().request()),
        looks(gaveUp),
        looks(FleetStory.bound(), away),
        looks(FleetStory.bound(), refused),
        looks(stopped),
        looks(sleeping),
        looks(missing),
      ],
      [
        ['ready, idle, bound · ada', 'link', 'iconPassed', 'agent-running'],
        ['ready, busy, bound · ada', 'zap', 'iconPassed', 'agent-running'],
        ['waiting for permission, ready, bound · ada', 'bell-dot', 'warningForeground', 'agent-running'],
        ['waiting for permission, ready, gateway down · ada', 'bell-dot', 'warningForeground', 'agent-running'],
        ['launching, pending · ada', 'loading~spin', undefined, 'agent-running'],
        ['healing, idle, unbound, lost its tools · ada', 'debug-disconnect', 'errorForeground', 'agent-running'],
        ['ready, idle, gateway down · ada', 'debug-disconnect', 'warningForeground', 'agent-running'],
        ['ready, idle, gateway down, lost its tools · ada', 'debug-disconnect', 'errorForeground', 'agent-running'],
        ['stopped · ada', 'circle-slash', 'disabledForeground', 'agent-stopped'],
        ['sleeping · ada', 'debug-pause', 'disabledForeground', 'agent-sleeping'],
        ['dead · ada', 'error', 'errorForeground', 'agent-stopped'],
      ],
    );
  });

  it('tell a screen reader, and the tooltip, the cause and the next step', () => {
    const story = FleetStory.bound().dropStream().wait(14_000);
    const agent = row(story);
    const [endpoint] = agent.endpoints;
    if (endpoint === undefined) throw new Error('no endpoint');
    const look = endpointLook(agent, endpoint);
    deepStrictEqual(
      [
        look.accessibleLabel,
        endpointTooltip(endpoint).map(([title]) => title),
        agentRow(story).accessibleLabel,
        agentTooltip(agent).find(([title]) => title === 'Session'),
      ],
      [
        `bowline-self of ada, unbound, ${endpoint.cause}, ${endpoint.nextStep}`,
        ['MCP server', 'State', 'Cause', 'Next step', 'Client'],
        `ada, healing, idle, unbound, lost its tools, ${endpoint.cause} ${endpoint.nextStep}`,
        ['Session', 'session-1'],
      ],
    );
  });

  it('have the time of the last probe in the tooltip, and look the same after each', () => {
    const agent = row(FleetStory.bound());
    const later = { ...agent, endpoints: agent.endpoints.map((endpoint) => ({ ...endpoint, roundTripMs: 7 })) };
    const looks = ({ endpoints, ...rest }: AgentRow): unknown[] =>
      endpoints.map((endpoint) => endpointLook({ endpoints, ...rest }, endpoint));
    deepStrictEqual(looks(agent), looks(later));
    deepStrictEqual(
      [agent, later].map((each) => agentTooltip(each).find(([title]) => title === 'MCP bowline-self')),
      [
        ['MCP bowline-self', 'bound, answered in 3 ms'],
        ['MCP bowline-self', 'bound, answered in 7 ms'],
      ],
    );
  });
});
