import assert from 'node:assert/strict';
import { reduceAll } from '../../../../src/core/fleet/reduce.ts';
import { type IdentityHeaders, readIdentity } from '../../../../src/gateway/mcp/identity.ts';
import { agentRunning, epochStarted, launched, memoryKeys, processEnded } from '../../../harness/mcpFleet.ts';

const fleet = reduceAll([
  epochStarted('e1', 0),
  ...agentRunning('ada', 1),
  ...agentRunning('bo', 1),
  ...agentRunning('cy', 1),
  processEnded('cy', 2, 'cy.1'),
]);

const right: IdentityHeaders = { name: 'ada', launch: 'ada.1', authorization: 'Bearer key-of-ada' };

/** `served as <agent>`, or status, cause and who is held responsible. */
function judge(
  headers: Partial<IdentityHeaders>,
  options: { readonly server?: string; readonly sessionOwner?: string; readonly agents?: typeof fleet.agents } = {},
): string {
  const reading = readIdentity({ ...right, ...headers }, options.server ?? 'bowline-self', {
    agents: options.agents ?? fleet.agents,
    ownerOf: (key) => memoryKeys.ownerOf(key),
    serves: (server) => server.startsWith('bowline-'),
    sessionOwner: options.sessionOwner,
  });
  if (reading.kind === 'known') return `served as ${reading.agent.name} ${reading.launchId}`;
  return `${reading.status} ${reading.cause}, ${reading.attributedTo ?? 'nobody'}`;
}

describe('identity', () => {
  it('serves only the right name with the right key from a live launch', () => {
    assert.deepStrictEqual(
      {
        right: judge({}),
        absent: judge({ name: undefined }),
        empty: judge({ name: '' }),
        spaces: judge({ name: '  ' }),
        literal: judge({ name: '${AGENT_NAME}' }),
        literalInside: judge({ name: 'ada-${X}' }),
        trailingSpace: judge({ name: 'ada ' }),
        twoNames: judge({ name: 'ada, bo' }),
        capital: judge({ name: 'Ada' }),
        unknown: judge({ name: 'zoe' }),
        inherited: judge({ name: 'constructor' }),
        noKey: judge({ authorization: undefined }),
        emptyKey: judge({ authorization: 'Bearer ' }),
        basic: judge({ authorization: 'Basic key-of-ada' }),
        literalKey: judge({ authorization: 'Bearer ${KEY}' }),
        wrongKey: judge({ authorization: 'Bearer nonsense' }),
        otherKey: judge({ authorization: 'Bearer key-of-bo' }),
        keyOfRemoved: judge({ authorization: 'Bearer key-of-zoe' }),
        noLaunch: judge({ launch: undefined }),
        emptyLaunch: judge({ launch: '' }),
        literalLaunch: judge({ launch: '${BOWLINE_LAUNCH}' }),
        unknownLaunch: judge({ launch: 'ada.0' }),
        otherLaunch: judge({ launch: 'bo.1' }),
        unknownServer: judge({}, { server: 'other' }),
        disabledServer: judge({}, { server: 'bowline-memory' }),
        serverNotGiven: judge({}, { server: 'bowline-messaging' }),
        stopped: judge({ name: 'cy', launch: 'cy.1', authorization: 'Bearer key-of-cy' }),
      },
      {
        right: 'served as ada ada.1',
        absent: '400 name missing, ada',
        empty: '400 name blank, ada',
        spaces: '400 name blank, ada',
        literal: '400 name literal variable, ada',
        literalInside: '400 name literal variable, ada',
        trailingSpace: '400 name malformed, ada',
        twoNames: '400 name malformed, ada',
        capital: '400 name malformed, ada',
        unknown: '403 name unknown, ada',
        inherited: '403 name unknown, ada',
        noKey: '403 key missing, ada',
        emptyKey: '403 key missing, ada',
        basic: '403 key missing, ada',
        literalKey: '403 key missing, ada',
        wrongKey: '403 key wrong, ada',
        otherKey: '403 key of another agent, bo',
        keyOfRemoved: '403 key of another agent, ada',
        noLaunch: '403 launch stale, ada',
        emptyLaunch: '403 launch stale, ada',
        literalLaunch: '403 launch stale, ada',
        unknownLaunch: '403 launch stale, ada',
        otherLaunch: '403 launch stale, ada',
        unknownServer: '403 server unknown, ada',
        disabledServer: '403 server unknown, ada',
        serverNotGiven: '403 server unknown, ada',
        stopped: '403 launch stale, cy',
      },
    );
  });

  it('holds responsible by key, then launch, then session, never by a claimed name', () => {
    const nothing = { authorization: undefined, launch: undefined };
    assert.deepStrictEqual(
      {
        keyFirst: judge({ name: '', authorization: 'Bearer key-of-bo' }, { sessionOwner: 'cy' }),
        launchNext: judge({ name: '', authorization: undefined }, { sessionOwner: 'cy' }),
        sessionNext: judge({ name: '', ...nothing }, { sessionOwner: 'cy' }),
        nameNever: judge({ ...nothing }),
        nameAndWrongKey: judge({ launch: undefined, authorization: 'Bearer nonsense' }),
        endedLaunch: judge({ name: 'cy', launch: 'cy.1', authorization: undefined }),
      },
      {
        keyFirst: '400 name blank, bo',
        launchNext: '400 name blank, ada',
        sessionNext: '400 name blank, cy',
        nameNever: '403 key missing, nobody',
        nameAndWrongKey: '403 key wrong, nobody',
        endedLaunch: '403 key missing, nobody',
      },
    );
  });

  it('serves the former process until its successor is up', () => {
    const replacing = reduceAll(launched('ada', 5, 'ada.2').slice(0, 1), fleet);
    const replaced = reduceAll(launched('ada', 5, 'ada.2'), fleet);
    assert.deepStrictEqual(
      [
        judge({}, { agents: replacing.agents }),
        judge({ launch: 'ada.2' }, { agents: replacing.agents }),
        judge({}, { agents: replaced.agents }),
        judge({ launch: 'ada.2' }, { agents: replaced.agents }),
      ],
      ['served as ada ada.1', 'served as ada ada.2', '403 launch stale, ada', 'served as ada ada.2'],
    );
  });

  it('names what came, cut and printable, and the next step', () => {
    const reading = readIdentity({ ...right, name: `\u202e${'x'.repeat(5_000)}` }, 'bowline-self', {
      agents: fleet.agents,
      ownerOf: () => undefined,
      serves: () => true,
      sessionOwner: undefined,
    });
    assert.deepStrictEqual(reading, {
      kind: 'fault',
      cause: 'name malformed',
      status: 400,
      sentence: `The X-Agent-Name header is "?${'x'.repeat(59)}...", which is not a valid name.`,
      nextStep: 'Correct the name in the MCP configuration that sends it.',
      attributedTo: 'ada',
    });
  });
});
