import { deepStrictEqual, rejects } from 'node:assert/strict';
import { BowlineError } from '../../../src/base/errors.ts';
import { currentLaunch } from '../../../src/core/fleet/agent.ts';
import { ConversationCommands } from '../../../src/gateway/conversationCommands.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

const other = '00000000-0000-4000-8000-000000000001';
const exit = { how: 'exited', status: 1, reading: 'conversation not found', detail: 'not found' } as const;

describe('another conversation', () => {
  const coded = (code: string) => (thrown: unknown) => thrown instanceof BowlineError && thrown.code === code;

  function commandsOf(story: FleetStory): ConversationCommands {
    return new ConversationCommands({ clock: () => story.now, fleet: story.port });
  }

  it('is what an agent is started with whose own cannot be resumed, and its own from then on', async () => {
    const story = FleetStory.bound().hook({ event: 'UserPromptSubmit' }).wait(1).hook({ event: 'Stop' });
    story.request('ada', { id: 'ada.2', mode: 'resume', expectedSessionId: 'session-1', requestedAt: story.now });
    story.launched('ada', 'ada.2').tell({ kind: 'process ended', name: 'ada', launchId: 'ada.2', exit });
    await commandsOf(story).resumeOther(story.agent(), other, 'window');
    const launch = currentLaunch(story.agent());
    const asked = [launch?.mode, launch?.expectedSessionId, launch?.cause];
    const id = launch?.id ?? '';
    story.launched('ada', id).wait(5).hook({ event: 'SessionStart', source: 'resume', sessionId: other }, 'ada', id);
    const { session, lineage } = story.agent();
    deepStrictEqual(
      [asked, [session?.id, session?.prompted], lineage.map((one) => one.id)],
      [['resume', other, 'person'], [other, true], ['session-1']],
    );
  });

  it('is refused without an id, beside a process, and where another agent is in it', async () => {
    const story = FleetStory.bound().create('bo').request('bo').launched('bo');
    story.hook({ event: 'SessionStart', source: 'startup', sessionId: other }, 'bo').create('cy');
    const commands = commandsOf(story);
    const before = story.state;
    await rejects(commands.resumeOther(story.agent('cy'), 'last tuesday', 'window'), coded('bad-request'));
    await rejects(commands.resumeOther(story.agent('ada'), other, 'window'), coded('already-running'));
    await rejects(commands.resumeOther(story.agent('cy'), other, 'window'), coded('conversation-in-use'));
    deepStrictEqual(story.state, before);
  });
});
