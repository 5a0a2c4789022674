import { deepStrictEqual } from 'node:assert/strict';
import { launchFields } from '../../../src/extension/configurationFields.ts';
import {
  launchPreview,
  launchWords,
  rememberChoices,
  rememberedChoices,
} from '../../../src/extension/newAgentChoices.ts';
import { statePaths } from '../../../src/node/statePaths.ts';
import { FakeMemory } from './fakeMemory.ts';

describe('what is remembered of the last new agents', () => {
  it('is the directories, each once and the last one first, and how the last one was started', async () => {
    const memory = new FakeMemory();
    for (const directory of ['/a', '/b', '/c', '/d', '/e', '/f', '/b']) await rememberChoices(memory, directory, {});
    await rememberChoices(memory, '/g', { model: 'opus' });
    deepStrictEqual(rememberedChoices(memory), { model: 'opus', directories: ['/g', '/b', '/f', '/e', '/d'] });
  });

  it('is nothing where nothing or something else was kept', async () => {
    const memory = new FakeMemory();
    const none = rememberedChoices(memory);
    await memory.update('newAgentChoices', { directories: '/a' });
    deepStrictEqual([none, rememberedChoices(memory)], [{ directories: [] }, { directories: [] }]);
  });
});

describe('the command of a launch', () => {
  it('is shown as the launch runs it', () => {
    const where = { paths: statePaths('/state'), claudePath: 'claude' };
    const files = "'--settings=/state/agents/ada/settings.json' '--mcp-config=/state/agents/ada/mcp.json'";
    deepStrictEqual(
      [launchPreview('ada', {}, where), launchPreview('ada', { model: 'opus', permissionMode: 'plan' }, where)],
      [`'claude' ${files}`, `'claude' ${files} '--model=opus' '--permission-mode=plan'`],
    );
  });

  it('is told in words', () => {
    deepStrictEqual(
      [
        launchWords({}),
        launchWords({ permissionMode: 'plan' }),
        launchWords({ model: 'opus', permissionMode: 'plan' }),
      ],
      ['as Claude chooses', 'plan', 'opus, plan'],
    );
  });

  it('takes one word for each choice, and says what is wrong with another text', () => {
    deepStrictEqual(
      launchFields.map(({ field, read }) => [field, read(' opus '), read(''), read('--bad').ok, read('two words').ok]),
      ['model', 'permissionMode'].map((field) => [
        field,
        { ok: true, word: 'opus' },
        { ok: true, word: undefined },
        false,
        false,
      ]),
    );
  });
});
