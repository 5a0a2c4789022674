import { deepStrictEqual, rejects } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectFolderName } from '../../../src/core/claude/transcript.ts';
import { currentLaunch } from '../../../src/core/fleet/agent.ts';
import { ConversationFinder } from '../../../src/gateway/conversationFinder.ts';
import { RestoreCommands } from '../../../src/gateway/restoreCommands.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

const exit = { how: 'host gone', reading: 'other', detail: 'the tmux server ended' } as const;
const id = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;

describe('restoring all agents', () => {
  let home: string;
  let story: FleetStory;
  let count = 0;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'bowline-restore-'));
    story = new FleetStory();
    count = 0;
  });
  afterEach(() => {
    rmSync(home, { recursive: true, force: true });
  });

  /** An agent that ended with the tmux server; without `sessionId` no hook ever told its conversation. */
  const lost = (name: string, sessionId?: string, directory = `/work/${name}`): void => {
    const configuration = { directory, extraArguments: [], environment: {}, servers: {} };
    story.tell({ kind: 'agent created', name, configuration }).request(name).launched(name).wait(10);
    if (sessionId !== undefined) {
      story.hook({ event: 'SessionStart', sessionId }, name).wait(10);
      story.hook({ event: 'UserPromptSubmit', sessionId }, name);
    }
    story.tell({ kind: 'process ended', name, launchId: `${name}.1`, exit });
  };
  const write = (digit: number, directory: string): void => {
    const folder = join(home, '.claude', 'projects', projectFolderName(directory));
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${id(digit)}.jsonl`);
    const said = { type: 'user', cwd: directory, message: { role: 'user', content: 'hello' } };
    writeFileSync(path, `${JSON.stringify(said)}\n`);
    utimesSync(path, 2_000, 2_000);
  };
  const restores = (): RestoreCommands =>
    new RestoreCommands({
      fleet: story.port,
      clock: () => story.now,
      finder: new ConversationFinder({ fleet: story.port, clock: () => story.now, environment: { HOME: home } }),
      newId: () => `restore-${(count += 1)}`,
    });
  const planned = async (): Promise<unknown> =>
    (await restores().plan()).agents.map(({ name, verdict }) => {
      return [name, verdict.kind, 'sessionId' in verdict ? verdict.sessionId : ''];
    });
  const launches = (): unknown =>
    Object.values(story.state.agents).flatMap((agent) => currentLaunch(agent)?.expectedSessionId ?? []);

  it('plans what it would do for each, finds what the record lost, and does nothing', async () => {
    lost('ada', 'session-a');
    lost('bo');
    write(1, '/work/bo');
    lost('cy');
    lost('dee');
    write(2, '/work/dee');
    write(3, '/work/dee');
    story.create('stopped');
    const before = story.state;
    deepStrictEqual(await planned(), [
      ['ada', 'resume', 'session-a'],
      ['bo', 'resume', id(1)],
      ['cy', 'blocked', ''],
      ['dee', 'ambiguous', ''],
    ]);
    deepStrictEqual(story.state, before);
  });

  it('takes one conversation for no two agents', async () => {
    lost('ada', undefined, '/work/both');
    lost('bo', undefined, '/work/both');
    write(1, '/work/both');
    deepStrictEqual(await planned(), [
      ['ada', 'ambiguous', ''],
      ['bo', 'ambiguous', ''],
    ]);
    await rejects(restores().begin('window'), /Nothing can be restored\. ada: the one conversation .* bo: /);
    deepStrictEqual([story.state.restoration, story.agent('ada').session], [undefined, undefined]);
  });

  it('begins with all that can be restored, by the ids that were found', async () => {
    lost('ada', 'session-a');
    lost('bo');
    write(1, '/work/bo');
    lost('cy');
    await restores().begin('window');
    story.settle();
    const { restoration } = story.state;
    deepStrictEqual(
      [restoration?.id, restoration?.by, restoration?.agents, launches()],
      ['restore-1', 'window', ['ada', 'bo'], ['session-a', id(1)]],
    );
  });

  it('adds to the restoration that is under way, and says where there is nothing', async () => {
    await rejects(restores().begin('window'), /there is nothing to restore/);
    lost('ada', 'session-a');
    await restores().begin('window-1');
    story.settle();
    lost('bo', 'session-b');
    await restores().begin('window-2');
    story.settle();
    await restores().begin('window-3');
    const { restoration } = story.state;
    deepStrictEqual([restoration?.id, restoration?.by, restoration?.agents], ['restore-1', 'window-1', ['ada', 'bo']]);
    deepStrictEqual(launches(), ['session-a', 'session-b']);
  });

  it('is called off, and begins anew with who was left', async () => {
    lost('ada', 'session-a');
    await restores().cancel('window');
    await restores().begin('window');
    story.settle();
    await restores().cancel('window');
    story.settle();
    const launchId = currentLaunch(story.agent('ada'))?.id ?? '';
    story.tell({ kind: 'process ended', name: 'ada', launchId, exit: { ...exit, how: 'gone' } });
    const { ended } = story.state.restoration ?? {};
    deepStrictEqual([ended?.outcome, ended?.left], ['called off', ['ada']]);
    await restores().begin('window');
    story.settle();
    deepStrictEqual([story.state.restoration?.id, launches()], ['restore-2', ['session-a']]);
  });
});
