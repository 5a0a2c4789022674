import { deepStrictEqual } from 'node:assert/strict';
import { type Blackout, type Connection, type FleetView, select } from '../../../../src/core/fleet/select.ts';
import type { HealingPolicy } from '../../../../src/core/fleet/configuration.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const connected: Connection = { kind: 'connected' };

function status(view: FleetView): string {
  return `${view.status.severity}: ${view.status.text}`;
}

const fault = { cause: 'key wrong', name: 'ada', server: 'bowline-self', detail: 'wrong key' } as const;

function told({ outage, agents, needPerson }: Blackout): string {
  return `${outage.replace(/ \d+$/, '')}: ${agents.join(', ')} need ${needPerson.join(', ')}`;
}

/** Two bound agents. */
function fleet(version = '2.1.332'): FleetStory {
  const story = FleetStory.bound(version).create('bo').request('bo').launched('bo');
  story.hook({ event: 'SessionStart', sessionId: 'session-2' }, 'bo').connect('bo', version);
  story.probe('answered', 'bo');
  story.settle();
  story.tell({ kind: 'hands changed', holder: 'window-1' });
  return story;
}

describe('what a person sees', () => {
  it('is calm while all is bound', () => {
    const story = fleet();
    const view = select(story.state, connected, story.now);
    deepStrictEqual(
      [status(view), view.agents.map(({ name, life, worst }) => [name, life, worst]), view.blackouts],
      [
        'calm: 2 bound',
        [
          ['ada', 'ready', 'bound'],
          ['bo', 'ready', 'bound'],
        ],
        [],
      ],
    );
  });

  it('shows a degraded endpoint of an agent that is ready, and plans nothing for it', () => {
    const story = fleet();
    const before = story.plan();
    const subject = { name: 'ada', server: 'bowline-self', launchId: 'ada.1' };
    story.tell({ ...subject, kind: 'upstream failed', detail: 'it refuses connections' });
    const { status: shown, agents, blackouts } = select(story.state, connected, story.now);
    const [ada] = agents;
    deepStrictEqual(
      [`${shown.severity}: ${shown.text}`, ada?.life, ada?.worst, ada?.endpoints[0]?.cause, blackouts, story.plan()],
      [
        'neutral: 1 bound, 1 degraded',
        'ready',
        'degraded',
        'It is bound, but the server "bowline-self" behind it fails: it refuses connections',
        [],
        before,
      ],
    );
  });

  it('is verified at its launch also when the server behind its endpoint fails', () => {
    const story = new FleetStory().create().request().launched().hook({ event: 'SessionStart' }).connect();
    story.tell({
      name: 'ada',
      server: 'bowline-self',
      launchId: 'ada.1',
      kind: 'upstream failed',
      detail: 'no answer',
    });
    story.probe();
    story.settle();
    const [ada] = select(story.state, connected, story.now).agents;
    deepStrictEqual([ada?.life, ada?.worst], ['ready', 'degraded']);
  });

  it('makes one warning of several agents with one cause, and names them in the status bar', () => {
    const story = fleet().restartGateway('was closed', 60_000).wait(1_500);
    const view = select(story.state, connected, story.now);
    deepStrictEqual(
      [status(view), view.blackouts.map(({ cause, agents }) => [cause, agents])],
      ['error: 2 lost tools: ada, bo', [['gateway was away', ['ada', 'bo']]]],
    );
  });

  it('makes one warning of one outage, one each of two, and tells who needs a person', () => {
    const afterSleep = (healing: HealingPolicy): readonly string[] => {
      const story = fleet();
      story.tell({ kind: 'settings changed', settings: { ...story.state.settings, healing } });
      // One answers no probe after the sleep, the other one drops its stream.
      story.tell({ kind: 'host resumed' }).dropStream('bo').probe('failed');
      story.probe('failed');
      story.wait(14_000).settle();
      return select(story.state, connected, story.now).blackouts.map(told);
    };
    const twice = fleet()
      .dropStream('bo')
      .tell({ kind: 'identity fault', ...fault });
    twice.wait(14_000).settle();
    deepStrictEqual(
      [afterSleep('auto'), afterSleep('ask'), select(twice.state, connected, twice.now).blackouts.map(told)],
      [
        [`host slept: ada, bo need `],
        [`host slept: ada, bo need ada, bo`],
        ['key wrong: ada need ada', 'client gave up: bo need '],
      ],
    );
  });

  it('tells a sleep of the host once for the fleet in the timeline', () => {
    const story = fleet();
    const { length } = story.state.timeline;
    story.tell({ kind: 'host resumed' });
    deepStrictEqual(
      story.state.timeline.slice(length).map(({ agent, server, text, kind }) => [agent, server, text, kind]),
      [[undefined, undefined, 'the machine slept, or its clock was set; every binding is proven again', 'epoch']],
    );
  });

  it('says reconnecting at once and error after 2 s, and marks the endpoints', () => {
    const story = fleet();
    const away: Connection = { kind: 'away', since: story.now, reason: 'it does not answer' };
    const soon = select(story.state, away, story.now + 1_999);
    const later = select(story.state, away, story.now + 2_000);
    deepStrictEqual(
      [status(soon), status(later), later.agents.map(({ worst }) => worst), later.blackouts],
      ['neutral: reconnecting', 'error: gateway down', ['gateway down', 'gateway down'], []],
    );
  });

  it('names the blackout while the port is closed, but only for clients that give up', () => {
    const texts = (['2.1.332', '2.1.160'] as const).map((version) => {
      const story = fleet(version);
      const away: Connection = {
        kind: 'away',
        since: story.now,
        refusedSince: story.now,
        reason: 'the port is closed',
      };
      return status(select(story.state, away, story.now + 14_000));
    });
    deepStrictEqual(texts, ['error: 2 lost tools: ada, bo', 'error: gateway down']);
  });

  it('never calls a waiting client lost: the port is open', () => {
    const story = fleet();
    const away: Connection = { kind: 'away', since: story.now, reason: 'it does not answer' };
    deepStrictEqual(select(story.state, away, story.now + 60_000).blackouts, []);
  });

  it('counts agents that start, and says nothing of none that is bound', () => {
    const story = new FleetStory().create('ada').request('ada').launched('ada');
    const starting = select(story.state, { kind: 'connected' }, story.now).status.text;
    story.hook({ event: 'SessionStart' }).connect('ada');
    story.probe();
    deepStrictEqual(
      [starting, select(story.state, { kind: 'connected' }, story.now).status.text],
      ['1 starting', '1 bound'],
    );
  });

  it('counts agents that need a person', () => {
    const story = fleet().create('cy').request('cy').launched('cy');
    story.tell({ kind: 'screen read', name: 'cy', launchId: 'cy.1', dialog: 'trust' });
    const view = select(story.state, connected, story.now);
    deepStrictEqual(
      [status(view), view.agents[2]?.life, view.agents[2]?.detail],
      ['warning: 2 bound, 1 needs you: cy', 'blocked', 'waits at a dialog (trust): attach and answer it'],
    );
  });
});
