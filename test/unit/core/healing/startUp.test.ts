import { deepStrictEqual } from 'node:assert/strict';
import { bindingHealth } from '../../../../src/core/binding/health.ts';
import { bindingTimes } from '../../../../src/core/binding/times.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const server = 'bowline-self';
const names = ['ada', 'bo', 'cy', 'di', 'ed'];
const deaf = 'cy';

/** Agents that are bound and idle, each with a conversation that took a prompt. */
function fleet(): FleetStory {
  const story = new FleetStory();
  for (const name of names) {
    const sessionId = `session-${name}`;
    story.create(name).request(name).launched(name).wait(100);
    story.hook({ event: 'SessionStart', source: 'startup', sessionId }, name).connect(name);
    story.probe('answered', name);
    story.hook({ event: 'UserPromptSubmit', sessionId }, name).wait(100).hook({ event: 'Stop', sessionId }, name);
  }
  return story;
}

/** The clients of all but one are there again, and answer. */
function allButOneReturn(story: FleetStory): void {
  const returned = names.filter((name) => name !== deaf);
  for (const name of returned) {
    const endpoint = { name, server, launchId: `${name}.1`, session: 'digest' };
    story.tell({ ...endpoint, kind: 'mcp stream opened' });
    story.probe('answered', name);
  }
}

/** Everything that was begun for each agent, and what it has come to. */
function begun(story: FleetStory): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    names.map((name) => {
      const agent = story.agent(name);
      const health = bindingHealth(agent, server, story.state.epoch, story.now).state;
      const attempts = (agent.incidents[server]?.attempts ?? []).map(({ rung }) => rung);
      return [name, [`launch ${agent.launchCount}`, health, ...attempts]];
    }),
  );
}

function keystrokes(story: FleetStory): readonly string[] {
  const { effects } = story.settle();
  return effects.flatMap((effect) => (effect.kind === 'probe' ? [] : [`${effect.kind} ${effect.name}`]));
}

const oneRung = Object.fromEntries(
  names.map((name) => [name, name === deaf ? ['launch 1', 'unbound', 'reconnect'] : ['launch 1', 'bound']]),
);

describe('agents that run from before', () => {
  const absences = [
    ['kept open', 60_000],
    ['was closed', 18_000],
  ] as const;
  for (const [port, awayMs] of absences) {
    it(`are each verified when the gateway starts (port ${port}), and only the deaf one gets one rung`, () => {
      const story = fleet().restartGateway(port, awayMs);
      const early = keystrokes(story);
      story.wait(1_000);
      allButOneReturn(story);
      story.wait(bindingTimes.givesUpAfter);
      allButOneReturn(story);
      const typed = keystrokes(story);
      const adopted = story.state.timeline.filter(({ text }) => text.startsWith('adopted'));
      deepStrictEqual(
        [early, typed, begun(story), adopted.map(({ agent }) => agent)],
        [[], [`type ${deaf}`], oneRung, names.filter((name) => name !== deaf)],
      );
    });
  }

  it('are left alone when windows come and go: only the deaf one gets one rung, once somebody has the hands', () => {
    const story = fleet().tell({ kind: 'hands changed' }).dropStream(deaf, `${deaf}.1`);
    story.wait(bindingTimes.givesUpAfter);
    const nobody = keystrokes(story);
    story.tell({ kind: 'hands changed', holder: 'window-1' });
    const first = keystrokes(story);
    story.tell({ kind: 'hands changed' }).settle();
    story.tell({ kind: 'hands changed', holder: 'window-2' });
    deepStrictEqual(
      [nobody, first, keystrokes(story), begun(story)],
      [[], [`type ${deaf}`], [`type ${deaf}`], oneRung],
    );
  });

  it('keep the grace time of a launch that was being verified when the gateway ended', () => {
    const story = new FleetStory().create().request().launched().wait(5_000);
    story.restartGateway('kept open', 5_000).wait(1_000);
    const pending = bindingHealth(story.agent(), server, story.state.epoch, story.now);
    story.hook({ event: 'SessionStart', source: 'startup' }).connect();
    story.probe();
    story.settle();
    deepStrictEqual(
      [pending, keystrokes(story), story.agent().incidents],
      [{ state: 'pending', until: 1_060_000 }, [], {}],
    );
  });
});
