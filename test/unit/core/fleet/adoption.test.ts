import { deepStrictEqual } from 'node:assert/strict';
import {
  adoptabilityOf,
  nameToKeep,
  proposedName,
  resumeByHand,
  type SeenClaude,
} from '../../../../src/core/fleet/adoption.ts';
import { lifeOf } from '../../../../src/core/fleet/lifeOf.ts';
import { fleetStateSchema } from '../../../../src/protocol/fleetState.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const id = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;
const fleetSocket = '/state/bowline/fleet.sock';

/** A claude that a person started in their own tmux, and that is idle. */
const byHand: SeenClaude = {
  ...{ pid: 70, sessionId: id(7), processStart: '4711', directory: '/work/site', version: '2.1.332' },
  ...{ kind: 'interactive', entrypoint: 'cli', status: 'idle', startedAt: 1 },
  startTime: 'proc:boot:4711',
  surroundings: { tmuxSocket: '/tmp/tmux-1000/default' },
  transcript: { path: `/c/${id(7)}.jsonl`, saysSomething: 'yes', firstPrompt: 'hello' },
};

/** Without some of the fields. */
function lacking(...fields: readonly (keyof SeenClaude)[]): SeenClaude {
  const rest = Object.entries(byHand).filter(([field]) => !fields.some((one) => one === field));
  return { pid: byHand.pid, sessionId: byHand.sessionId, ...Object.fromEntries(rest) };
}

function verdict(process: Partial<SeenClaude>, story = new FleetStory(), others: readonly SeenClaude[] = []): string {
  const seen = { ...byHand, ...process };
  return inWords(seen, story, others);
}

function inWords(process: SeenClaude, story = new FleetStory(), others: readonly SeenClaude[] = []): string {
  const found = adoptabilityOf(story.state, { process, all: [process, ...others], fleetSocket });
  return found.kind === 'refused' ? found.why : found.kind;
}

describe('whether a foreign claude can be adopted', () => {
  it('it can when a person works in it, it is idle, and its conversation is nobody’s', () => {
    const elsewhere = { ...byHand, pid: 71, sessionId: id(8) };
    deepStrictEqual(
      [
        verdict({}),
        verdict({ surroundings: {} }),
        verdict({}, FleetStory.bound(), [elsewhere]),
        // A launch of this fleet whose record was lost.
        verdict({ surroundings: { tmuxSocket: fleetSocket, agent: 'bo', launchId: 'bo.4' } }),
      ],
      ['adoptable', 'adoptable', 'adoptable', 'adoptable'],
    );
  });

  it('it cannot in each of these cases, and the sentence tells the next step', () => {
    const noConversation = lacking('transcript');
    const table: readonly (readonly [string, string])[] = [
      [verdict({ status: 'busy' }), 'It works on a turn. Wait until that has ended.'],
      [
        verdict({ status: 'waiting', waitingFor: 'permission prompt' }),
        'It waits for an answer (permission prompt). Give it in its terminal.',
      ],
      [
        inWords(lacking('status')),
        'It does not tell whether it is idle. Wait a moment; if it stays so, end it in its terminal.',
      ],
      [verdict({ kind: 'bg' }), 'It is no interactive session (bg). Let it end by itself.'],
      [inWords(lacking('kind')), 'It is no interactive session (it does not tell what it is). Let it end by itself.'],
      [
        verdict({ entrypoint: 'an-editor' }),
        `Another program drives it (an-editor). End it there and go on by hand: cd /work/site && claude --resume ${id(7)}`,
      ],
      [
        verdict({ sessionId: 'fix the menu' }),
        'It does not tell its conversation in a known form. Update Claude Code, or create an agent with New Agent.',
      ],
      [
        inWords(lacking('startTime')),
        `It cannot be proven that process 70 is still this claude. End it in its terminal and go on by hand: cd /work/site && claude --resume ${id(7)}`,
      ],
      [
        inWords(lacking('surroundings')),
        `It cannot be proven whose it is. End it in its terminal and go on by hand: cd /work/site && claude --resume ${id(7)}`,
      ],
      [
        verdict({ surroundings: { tmuxSocket: '/other/fleet.sock', agent: 'eve', launchId: 'eve.2' } }),
        'It belongs to another Bowline fleet (agent eve), with the tmux socket /other/fleet.sock. Work with it there.',
      ],
      [
        verdict({ surroundings: { tmuxSocket: '/other/fleet.sock' } }),
        'It belongs to another Bowline fleet, with the tmux socket /other/fleet.sock. Work with it there.',
      ],
      [
        verdict({ surroundings: { agent: 'eve', launchId: 'eve.2' } }),
        'It belongs to another Bowline fleet (agent eve), with the tmux socket (none). Work with it there.',
      ],
      [
        verdict(
          { sessionId: id(1) },
          FleetStory.bound().hook({ event: 'SessionStart', source: 'clear', sessionId: id(1) }),
        ),
        'Its conversation is one of the agent ada. End it in its terminal, then use Resume on ada.',
      ],
      [
        verdict({}, new FleetStory(), [{ ...byHand, pid: 71, status: 'busy' }]),
        'Process 71 works on the same conversation. End one of the two in its terminal.',
      ],
      [
        inWords(noConversation),
        'Claude keeps no transcript of it for /work/site, so that nothing could be resumed. Say something in it first.',
      ],
      [
        verdict({ transcript: { path: '/t', saysSomething: 'no' } }),
        'Nothing was said in it yet. Create an agent with New Agent instead.',
      ],
    ];
    deepStrictEqual(
      table.map(([said]) => said),
      table.map(([, meant]) => meant),
    );
  });

  it('Bowline’s own are no foreign ones, also what an agent started and what was only just launched', () => {
    const launching = new FleetStory().create().request();
    deepStrictEqual(
      [
        verdict({ within: 'ada', status: 'busy' }),
        verdict({ surroundings: { tmuxSocket: fleetSocket, agent: 'ada', launchId: 'ada.1' } }, launching),
      ],
      ['own', 'own'],
    );
  });

  it('its name is made of the directory, valid and free; a lost launch keeps its own', () => {
    const story = new FleetStory().create('site');
    const names = [
      '/work/site',
      '/work/My Site (2)',
      '/work/Übung',
      '/',
      '/work/日本',
      '/work/constructor',
      `/${'x'.repeat(40)}`,
    ];
    const lost = { surroundings: { tmuxSocket: fleetSocket, agent: 'bo', launchId: 'bo.4' } };
    const taken = { surroundings: { tmuxSocket: fleetSocket, agent: 'site', launchId: 'site.4' } };
    deepStrictEqual(
      [
        names.map((directory) => proposedName(story.state, directory)),
        [lost, taken, byHand].map((one) => nameToKeep(story.state, one, fleetSocket)),
        ['/work/site', "/work/it's here"].map((directory) => resumeByHand(directory, 'ID')),
      ],
      [
        ['site-2', 'my-site-2', 'ubung', 'agent', 'agent', 'agent', 'x'.repeat(32)],
        ['bo', undefined, undefined],
        ['cd /work/site && claude --resume ID', "cd '/work/it'\\''s here' && claude --resume ID"],
      ],
    );
  });
});

describe('an adoption in the record', () => {
  const adopts = { pid: 70, startTime: 'proc:boot:4711', sessionId: id(7), transcriptPath: '/c/7.jsonl' };
  const created = (): FleetStory => {
    const configuration = { directory: '/work/ada', extraArguments: [], environment: {}, servers: {} };
    return new FleetStory().tell({ kind: 'agent created', asker: 'w', name: 'ada', configuration, adopts });
  };
  const seen = (story: FleetStory): unknown => {
    fleetStateSchema.parse(JSON.parse(JSON.stringify(story.state)));
    const { adoption, session, life } = story.agent();
    const { detail } = lifeOf(story.agent(), [], undefined);
    return [adoption, session?.id, session?.prompted, life.kind, detail];
  };

  it('has the conversation from the first fact on, and ends with the request of the first launch', () => {
    const story = created();
    const first = seen(story);
    story.request('ada', { mode: 'resume', expectedSessionId: id(7) });
    const adoption = { pid: 70, startTime: 'proc:boot:4711', by: 'w' };
    deepStrictEqual(
      [first, seen(story)],
      [
        [adoption, id(7), true, 'stopped', 'waits for the end of process 70, to go on with its conversation'],
        [undefined, id(7), true, 'launching', 'resuming its conversation'],
      ],
    );
  });

  it('is over when it ended otherwise: the agent stays with its conversation, and the audit tells each step', () => {
    const story = created().tell({ kind: 'adoption ended', asker: 'w', name: 'ada', detail: 'it was called off' });
    const once = story.state;
    story.tell({ kind: 'adoption ended', name: 'ada', detail: 'again' });
    deepStrictEqual(
      [
        seen(story),
        story.state === once,
        story.state.audit.map((record) => [
          'what' in record ? record.what : record.action,
          'detail' in record && record.detail,
        ]),
      ],
      [
        [undefined, id(7), true, 'stopped', 'it was called off'],
        true,
        [
          ['life', `takes over conversation ${id(7)}; its process 70 is asked to end`],
          ['adoption ended', 'it was called off'],
        ],
      ],
    );
  });
});
