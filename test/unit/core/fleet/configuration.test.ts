import { deepStrictEqual } from 'node:assert/strict';
import { configuredServers, enabledServers, mayUseServer } from '../../../../src/core/fleet/agent.ts';
import { needsRelaunch } from '../../../../src/core/fleet/configurationChange.ts';
import { select } from '../../../../src/core/fleet/select.ts';
import type { AgentConfiguration } from '../../../../src/core/fleet/configuration.ts';
import { FleetStory } from '../../../harness/fleetStory.ts';

const configuration: AgentConfiguration = {
  directory: '/work/ada',
  extraArguments: ['--verbose'],
  environment: { A: '1', B: '2' },
  servers: { 'bowline-self': 'on' },
  addedDirectories: ['/x', '/y'],
};

describe('a change of the configuration', () => {
  const changes: readonly (readonly [string, Partial<AgentConfiguration>, readonly string[]])[] = [
    ['nothing', {}, []],
    ['another model', { model: 'opus' }, ['model']],
    ['another permission mode', { permissionMode: 'plan' }, ['permission mode']],
    ['another effort', { effort: 'high' }, ['effort']],
    ['another system prompt', { systemPrompt: 'Be brief.' }, ['system prompt']],
    ['another directory', { directory: '/work/bo' }, ['directory']],
    ['one more directory', { addedDirectories: ['/x', '/y', '/z'] }, ['added directories']],
    ['the directories in another order, one twice', { addedDirectories: ['/y', '/x', '/y'] }, []],
    ['other arguments', { extraArguments: [] }, ['extra arguments']],
    ['the arguments in another order', { extraArguments: ['--verbose', '--x'] }, ['extra arguments']],
    ['another variable', { environment: { A: '1', B: '3' } }, ['environment']],
    ['the variables in another order', { environment: { B: '2', A: '1' } }, []],
    ['one endpoint more', { servers: { 'bowline-self': 'on', x: 'on' } }, ['MCP servers']],
    ['one endpoint that is off', { servers: { 'bowline-self': 'on', x: 'off' } }, []],
    ['another healing policy', { healing: 'off' }, []],
    ['another policy for a failed resume', { failedResume: 'fresh' }, []],
    ['another idle time', { idleMinutes: 5 }, []],
  ];
  for (const [what, change, changed] of changes) {
    it(`to ${what} needs ${changed.length === 0 ? 'nothing' : 'a relaunch'}`, () => {
      deepStrictEqual(needsRelaunch(configuration, { ...configuration, ...change }), changed);
    });
  }
});

const self = { name: 'ada', server: 'bowline-self' };
const connected = { kind: 'connected' } as const;

function shown(story: FleetStory): string {
  const [row] = select(story.state, { kind: 'connected' }, story.now).agents;
  return `${row?.life ?? ''}: ${row?.detail ?? ''}`;
}

function withHands(): FleetStory {
  const story = FleetStory.bound().tell({ kind: 'hands changed', holder: 'window' });
  story.settle();
  return story.hook({ event: 'UserPromptSubmit' }).wait(1_000).hook({ event: 'Stop' });
}

function configure(story: FleetStory, change: Partial<AgentConfiguration>): FleetStory {
  const { configuration: before } = story.agent();
  return story.wait(1_000).tell({ kind: 'agent configured', name: 'ada', configuration: { ...before, ...change } });
}

/** The hands look, as the plan asks for. */
function look(story: FleetStory, shows: 'empty input' | 'unsent input'): FleetStory {
  const effect = story.settle().effects.find(({ kind }) => kind === 'look');
  if (effect?.kind !== 'look') throw new Error('no look is planned');
  const { name, launchId, askedAt } = effect;
  story.wait(10).tell({ kind: 'screen looked at', name, launchId, askedAt, shows });
  story.settle();
  return story;
}

describe('a configured agent', () => {
  it('is relaunched with its conversation when it is idle and its input line is empty', () => {
    const story = configure(withHands(), { model: 'opus', effort: 'high' });
    deepStrictEqual(
      shown(story),
      'ready: is relaunched with its conversation when it is idle and nobody types, for its changed model, effort',
    );
    look(story, 'empty input');
    const { life } = story.agent();
    const launch = life.kind === 'launching' ? life.launch : undefined;
    deepStrictEqual([launch?.mode, launch?.expectedSessionId, launch?.cause], ['resume', 'session-1', 'configuration']);
    story.launched('ada', launch?.id);
    deepStrictEqual(story.agent().relaunch, undefined);
  });

  it('is left alone in a turn and over unsent text, which is looked at again after a minute', () => {
    const story = configure(withHands().hook({ event: 'UserPromptSubmit' }), { model: 'opus' });
    deepStrictEqual(
      story.settle().effects.filter(({ kind }) => kind === 'look'),
      [],
    );
    look(story.wait(1_000).hook({ event: 'Stop' }), 'unsent input');
    deepStrictEqual(story.agent().life.kind, 'running');
    deepStrictEqual(
      story
        .wait(59_000)
        .settle()
        .effects.filter(({ kind }) => kind === 'look'),
      [],
    );
    look(story.wait(1_000), 'empty input');
    deepStrictEqual(story.agent().life.kind, 'launching');
  });

  it('needs no relaunch when the change is taken back, however many there were', () => {
    const story = configure(configure(withHands(), { model: 'opus' }), { effort: 'high' });
    deepStrictEqual(story.agent().relaunch?.changed, ['model', 'effort']);
    const { model: _model, ...before } = story.agent().configuration;
    story.tell({ kind: 'agent configured', name: 'ada', configuration: before });
    deepStrictEqual(story.agent().relaunch?.changed, ['effort']);
    const { effort: _effort, ...first } = before;
    story.tell({ kind: 'agent configured', name: 'ada', configuration: first });
    deepStrictEqual([story.agent().relaunch, shown(story)], [undefined, 'ready: ']);
  });

  it('is not relaunched for ever where it cannot start: a person is told and restarts it', () => {
    const story = look(configure(withHands(), { model: 'opus' }), 'empty input');
    const { life } = story.agent();
    const launchId = life.kind === 'launching' ? life.launch.id : '';
    story.tell({ kind: 'launch failed', name: 'ada', launchId, code: 'claude-missing', sentence: 'There is none.' });
    story.wait(600_000).settle();
    deepStrictEqual(
      [story.agent().life.kind, shown(story)],
      ['running', 'ready: runs with its former model: Restart it to use the change'],
    );
  });

  it('that does not run just starts with it', () => {
    const story = configure(new FleetStory().create(), { model: 'opus' });
    deepStrictEqual([story.agent().relaunch, story.agent().configuration.model], [undefined, 'opus']);
  });

  it('has and loses its endpoints with its launches: none is lost or watched in between', () => {
    const story = withHands();
    const servers = { 'bowline-self': 'off', 'bowline-memory': 'on' } as const;
    configure(story, { servers });
    const seen = (): unknown[] => {
      const agent = story.agent();
      const usable = Object.keys(servers).filter((server) => mayUseServer(agent, server));
      return [
        configuredServers(agent),
        enabledServers(agent),
        usable,
        select(story.state, connected, story.now).agents[0]?.worst,
      ];
    };
    const before = seen();
    look(story, 'empty input');
    const { life } = story.agent();
    const during = enabledServers(story.agent());
    story.launched('ada', life.kind === 'launching' ? life.launch.id : '');
    deepStrictEqual(
      [before, during, seen()],
      [
        [['bowline-memory'], [], ['bowline-self', 'bowline-memory'], 'off'],
        ['bowline-memory'],
        [['bowline-memory'], ['bowline-memory'], ['bowline-memory'], 'pending'],
      ],
    );
  });

  it('forgets what was wrong with an endpoint that is switched off', () => {
    const story = withHands().tell({ kind: 'identity fault', cause: 'key wrong', ...self, detail: 'wrong key' });
    story.settle();
    const before = Object.keys(story.agent().incidents);
    configure(story, { servers: { 'bowline-self': 'off' } }).settle();
    deepStrictEqual([before, story.agent().incidents], [['bowline-self'], {}]);
  });

  it('follows a switch of the settings, until its own says something else', () => {
    const story = withHands();
    const { settings } = story.state;
    const set = (change: object): unknown => {
      story.wait(1_000).tell({ kind: 'settings changed', settings: { ...settings, ...change } });
      const { configuration: present, relaunch } = story.agent();
      return [configuredServers(story.agent()), present.servers['bowline-memory'], relaunch?.when];
    };
    const on = set({ messaging: 'on', memory: 'on' });
    configure(story, { servers: { ...story.agent().configuration.servers, 'bowline-messaging': 'off' } });
    const own = configuredServers(story.agent());
    deepStrictEqual(
      [on, own, set({ messaging: 'on', memory: 'off' }), set({ messaging: 'on' })],
      [
        [['bowline-self', 'bowline-messaging', 'bowline-memory'], 'on', 'asked'],
        ['bowline-self', 'bowline-memory'],
        [['bowline-self'], 'off', undefined],
        [['bowline-self'], 'off', undefined],
      ],
    );
  });

  it('says that its variables are former ones after a change of the settings, and is not restarted for it', () => {
    const story = withHands();
    const { settings } = story.state;
    const change = (environment: Record<string, string>): FleetStory => {
      story
        .wait(1_000)
        .tell({ kind: 'settings changed', settings: { ...settings, environment } })
        .settle();
      return story;
    };
    deepStrictEqual(
      shown(change({ TOKEN: 'x' })),
      'ready: runs with its former environment: Restart it to use the change',
    );
    deepStrictEqual(
      story
        .wait(600_000)
        .settle()
        .effects.filter(({ kind }) => kind === 'look'),
      [],
    );
    deepStrictEqual(shown(change({})), 'ready: ');
  });
});
