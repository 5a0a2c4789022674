import { deepStrictEqual } from 'node:assert/strict';
import { bindingTimes } from '../../../../src/core/binding/times.ts';
import type { FleetEvent } from '../../../../src/core/fleet/events.ts';
import { promptForbiddenBy } from '../../../../src/core/fleet/planPrompts.ts';
import { type AgentRow, type EndpointRow, select } from '../../../../src/core/fleet/select.ts';
import type { OwnServer } from '../../../../src/core/mcp/ownServer.ts';
import { fleetEventSchema } from '../../../../src/protocol/fleetEvent.ts';
import { fleetStateSchema } from '../../../../src/protocol/fleetState.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const lab: OwnServer = { name: 'lab', scope: 'user', shadows: [], way: 'through Bowline' };
const subject = { name: 'ada', server: 'lab', launchId: 'ada.1' };

/** An agent whose endpoint `lab` is bound. */
function bound(): FleetStory {
  const story = FleetStory.bound().tell({ kind: 'own servers read', name: 'ada', servers: [lab], launchId: 'ada.1' });
  story.connect('ada', '2.1.332', 'ada.1', 'lab').probe();
  story.hook({ event: 'Stop' }).settle();
  return story.tell({ ...subject, kind: 'upstream answered', roundTripMs: 20 });
}

const changed = { ...subject, kind: 'upstream detached', why: 'changed' } as const;
const asked = { ...subject, kind: 'upstream detached', why: 'asked', asker: 'window-one' } as const;
const answered = { ...subject, kind: 'upstream answered', roundTripMs: 35 } as const;
const failed = (detail: string): { readonly kind: 'upstream failed'; readonly detail: string } & typeof subject => ({
  ...subject,
  kind: 'upstream failed',
  detail,
});

function row(story: FleetStory): AgentRow | undefined {
  return select(story.state, { kind: 'connected' }, story.now).agents[0];
}

function endpoint(story: FleetStory): EndpointRow | undefined {
  return row(story)?.endpoints.find(({ server }) => server === 'lab');
}

/** What a person sees, and what keeps a prompt from being typed. */
function shown(story: FleetStory): readonly unknown[] {
  const { state, cause = '', upstream } = endpoint(story) ?? {};
  return [
    row(story)?.life,
    state,
    cause,
    upstream?.update,
    promptForbiddenBy(story.agent(), story.state.epoch, story.now),
  ];
}

const waits = 'an MCP server of its own, which is being connected anew';
const ready = ['ready', 'bound', '', undefined, undefined];

describe('an update of the server behind an endpoint', () => {
  it('keeps the agent from being ready until it is verified; what was called before says nothing', () => {
    const story = bound();
    const before = shown(story);
    story.wait(1_000).tell(changed);
    const during = shown(story);
    story.wait(500).tell(answered);
    deepStrictEqual(
      [before, during, shown(story), endpoint(story)?.upstream],
      [
        ready,
        [
          'verifying',
          'degraded',
          'It is bound; the server "lab" behind it has another definition than before, and is being connected anew.',
          'verifying',
          waits,
        ],
        ready,
        { goodCall: { at: story.now, roundTripMs: 35 } },
      ],
    );
  });

  it('that fails stays marked, also over a restart of the gateway, until something answers; it holds nothing up', () => {
    const story = bound().tell(changed).wait(500).tell(failed('connect ECONNREFUSED'));
    const during = shown(story);
    story.restartGateway('kept open', 100).connect('ada', '2.1.332', 'ada.1', 'lab').connect();
    while (story.probe());
    const begun = shown(story);
    story.wait(bindingTimes.updateVerifiedWithin);
    while (story.probe());
    const after = shown(story);
    story.tell(answered);
    const words =
      'It is bound, but the server "lab" behind it has another definition than before, and has not answered since';
    deepStrictEqual(
      [during, begun[3], after, shown(story)],
      [
        ['ready', 'degraded', `${words}: connect ECONNREFUSED`, 'unverified', undefined],
        'verifying',
        ['ready', 'degraded', `${words}: nothing has answered yet`, 'unverified', undefined],
        ready,
      ],
    );
  });

  it('that comes upon another one is verified for both', () => {
    const story = bound().tell(changed).wait(100).tell(failed('no answer')).wait(100).tell(asked);
    const again = shown(story);
    story.tell(answered);
    deepStrictEqual(
      [again, shown(story)],
      [
        [
          'verifying',
          'degraded',
          'It is bound; the server "lab" behind it is being connected anew.',
          'verifying',
          waits,
        ],
        ready,
      ],
    );
  });

  it('of an ended launch, or of a server that the agent does not have, changes nothing', () => {
    const story = bound();
    const before = story.state;
    story.tell({ ...changed, launchId: 'ada.0' }).tell({ ...changed, server: 'other' });
    deepStrictEqual(story.state === before, true);
  });

  it('stands in the audit with who asked and what came of it, once', () => {
    const story = bound();
    story
      .tell(asked)
      .tell(failed('no answer'))
      .tell(failed('refused'))
      .tell(answered)
      .tell(answered)
      .tell(failed('later'));
    story.tell(changed).tell(answered);
    deepStrictEqual(
      story.state.audit.flatMap((one) =>
        one.action === 'deed' && one.what.includes('MCP server') ? [[one.what, one.by, one.detail]] : [],
      ),
      [
        ['reconnect of MCP server lab asked for', 'window-one', undefined],
        ['MCP server lab not connected', 'gateway', 'no answer'],
        ['MCP server lab connected anew', 'gateway', 'answered in 35 ms'],
        ['MCP server lab has another definition', 'gateway', undefined],
        ['MCP server lab connected anew', 'gateway', 'answered in 35 ms'],
      ],
    );
  });

  it('stands in the timeline; good calls alone do not', () => {
    const story = bound();
    const { length } = story.state.timeline;
    story.tell(answered).tell(asked).tell(answered).tell(answered);
    deepStrictEqual(
      story.state.timeline.slice(length).map(({ text }) => text),
      ['reconnecting its server was asked for', 'its server is connected anew'],
    );
  });

  it('crosses every border as it is', () => {
    const story = bound().tell(asked);
    const events: readonly FleetEvent[] = [
      { ...asked, at: 1 },
      { ...answered, at: 1 },
    ];
    deepStrictEqual(
      [events.map((event) => fleetEventSchema.parse(event)), fleetStateSchema.parse(story.state)],
      [events, story.state],
    );
  });
});
