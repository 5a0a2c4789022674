import path from 'node:path';
import { delay } from '../../src/base/async.ts';
import { FleetRig } from '../harness/fleetRig.ts';
import { waitFor } from '../harness/waitFor.ts';
import { type Figure, median } from './figure.ts';
import { HandClaudes } from './handClaudes.ts';

const version = '2.1.332';
const fleetSize = 10;
const rounds = 5;
const closedMs = 60_000;
/** How many claudes are started at a time before anything is measured. */
const atOnce = 3;
const patience = { timeoutMs: 120_000, everyMs: 5 };
const plain = 'plain';

/**
 * From the return of a port that was closed for a minute until all agents have their tools again, beside as many claudes
 * whose MCP server was away as long and which are then restarted with `--continue`, all at once. No conversation of
 * Bowline's may be touched. One more claude, which nobody restarts, is asked for its tools at the end.
 */
export const heal: Figure = {
  name: 'heal',
  measure: async () => {
    const numbers = Array.from({ length: fleetSize }, (_, index) => index + 1);
    const agents = numbers.map((number) => `agent-${number}`);
    const hands = numbers.map((number) => `hand-${number}`);
    const rig = await FleetRig.open({ version, trusted: [...agents, ...hands, plain] });
    let claudes: HandClaudes | undefined;
    try {
      claudes = await HandClaudes.beside(rig, version);
      await startAll(rig, agents, claudes, [...hands, plain]);
      const before = conversations(rig, agents);
      const times: number[] = [];
      const references: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const port = await rig.closePort();
        await claudes.server.close();
        await delay(closedMs);
        times.push(await untilHealed(rig, agents, port));
        references.push(await untilRestarted(claudes, hands));
      }
      const touched = conversations(rig, agents).filter((one, index) => one !== before[index]).length;
      const answer = await askForTools(rig, claudes);
      return [
        {
          name: `heal: ${fleetSize} agents after 60 s`,
          value: median(times),
          unit: 'ms',
          reference: median(references),
          goal: 1 / 3,
          failed: touched > 0,
          remark:
            `worst ${Math.round(Math.max(...times))} ms; ${touched} conversations touched; ` +
            `a claude that nobody restarted, asked for a tool: ${answer}`,
        },
      ];
    } finally {
      await claudes?.dispose();
      await rig.dispose();
    }
  },
};

async function startAll(
  rig: FleetRig,
  agents: readonly string[],
  claudes: HandClaudes,
  hands: readonly string[],
): Promise<void> {
  const starts = [
    ...agents.map((name) => async (): Promise<void> => {
      await rig.create(name, name);
      await rig.untilBound(name);
      await rig.untilInput(name);
      await rig.turn(name, 'hello');
    }),
    ...hands.map((name) => async (): Promise<void> => {
      await claudes.start(name, path.join(rig.root, name));
      await claudes.untilListed(name);
      await claudes.terminals.untilInput(name);
      await claudes.terminals.prompt(name, 'hello');
      await claudes.terminals.untilInput(name);
    }),
  ];
  while (starts.length > 0) await Promise.all(starts.splice(0, atOnce).map((start) => start()));
}

/** Launch and session of each agent: whoever restarts one, or begins a conversation anew, changes it. */
function conversations(rig: FleetRig, agents: readonly string[]): readonly string[] {
  return agents.map((name) => {
    const { launchCount, session } = rig.agent(name);
    return `${launchCount} ${session?.id ?? ''}`;
  });
}

async function untilHealed(
  rig: FleetRig,
  agents: readonly string[],
  port: Awaited<ReturnType<FleetRig['closePort']>>,
): Promise<number> {
  await port.open();
  const returned = performance.now();
  await rig.startGateway();
  await waitFor('all agents to be bound', () => agents.every((name) => rig.row(name).worst === 'bound'), patience);
  return performance.now() - returned;
}

async function untilRestarted(claudes: HandClaudes, hands: readonly string[]): Promise<number> {
  claudes.server.forget();
  await claudes.server.open();
  const returned = performance.now();
  await Promise.all(hands.map((name) => claudes.restartWithContinue(name)));
  return Math.max(...(await Promise.all(hands.map((name) => claudes.untilListed(name))))) - returned;
}

/** What claude gets when it calls a tool of its own server. */
async function askForTools(rig: FleetRig, claudes: HandClaudes): Promise<string> {
  const asked = rig.model.requests.length;
  await claudes.terminals.prompt(plain, 'CALL mcp__small__hello {}');
  const results = await waitFor(
    'the result of the tool',
    () => rig.model.requests.slice(asked).find(({ toolResults }) => toolResults.length > 0)?.toolResults,
    patience,
  );
  return results.join(' ').slice(0, 80);
}
