import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { statePaths } from '../../../src/node/statePaths.ts';
import { agentRunning, epochStarted, launched, MemoryFleet } from '../../harness/mcpFleet.ts';
import { type McpHost, startMcpHost } from '../../harness/mcpHost.ts';
import { WireClient } from '../../harness/mcpWire.ts';

const resultSchema = z.object({
  result: z.object({ content: z.array(z.object({ text: z.string() })), isError: z.optional(z.boolean()) }),
});
const toolsSchema = z.object({
  result: z.object({
    tools: z.array(z.object({ name: z.string(), annotations: z.object({ readOnlyHint: z.boolean() }) })),
  }),
});

describe('bowline-self', () => {
  let directory: string;
  let fleet: MemoryFleet;
  let host: McpHost;
  let client: WireClient;
  let now: number;

  const call = async (tool: string, input: object = {}): Promise<string> => {
    const { result } = resultSchema.parse((await client.call(tool, input)).json);
    return `${result.isError === true ? 'ERROR ' : ''}${result.content.map(({ text }) => text).join('\n')}`;
  };

  const hook = (event: 'UserPromptSubmit' | 'Stop', sessionId = 'session-of-ada'): void => {
    fleet.report({
      at: now,
      kind: 'hook reported',
      name: 'ada',
      launchId: 'ada.1',
      hook: { event, sessionId, transcriptExists: true },
    });
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bowline-self-'));
    now = Date.UTC(2026, 0, 2, 3, 4, 5);
    fleet = new MemoryFleet();
    fleet.report(epochStarted('e1', now));
    for (const name of ['ada', 'bo']) for (const event of agentRunning(name, now)) fleet.report(event);
    host = await startMcpHost({ directory, fleet, clock: () => now });
    client = await WireClient.initialize(host.port, 'ada');
  });

  afterEach(async () => {
    await host.kill();
    await rm(directory, { recursive: true });
  });

  it('marks every tool but the one that saves as reading only', async () => {
    const { tools } = toolsSchema.parse((await client.request('tools/list')).json).result;
    assert.deepStrictEqual(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations.readOnlyHint])), {
      whoami: true,
      save_my_context: false,
      load_my_context: true,
      list_agents: true,
      context_status: true,
    });
  });

  it('tells who one is and who else runs', async () => {
    await client.request('tools/list');
    assert.deepStrictEqual(
      [await call('whoami'), await call('list_agents')],
      [
        [
          'You are the agent "ada" of Bowline.',
          'Directory: /work/ada',
          'Launch: ada.1 (fresh)',
          'Session: session-of-ada',
          'MCP bindings: bowline-self: suspect',
          'Saved context: none',
        ].join('\n'),
        [
          '2 agents:',
          'ada (you): verifying, idle, tools suspect, in /work/ada',
          'bo: verifying, idle, tools pending, in /work/bo',
        ].join('\n'),
      ],
    );
  });

  it('saves a context for this user only, told to the fleet, and gives it back, also after a restart', async () => {
    const none = await call('load_my_context');
    const saved = await call('save_my_context', { context: 'Täsk: ⚓', summary: 'anchors' });
    now += 3 * 60_000;
    const loaded = await call('load_my_context');
    await host.kill();
    host = await startMcpHost({ directory, fleet, port: host.port, clock: () => now });
    for (const event of launched('ada', now, 'ada.2')) {
      fleet.report(event.kind === 'hook reported' ? { ...event, hook: { ...event.hook, sessionId: 'new' } } : event);
    }
    client = await WireClient.initialize(host.port, 'ada', { launchId: 'ada.2' });
    const later = await call('load_my_context');
    client = await WireClient.initialize(host.port, 'bo');
    const file = statePaths(directory).context('ada');
    assert.deepStrictEqual(
      {
        none,
        saved,
        loaded,
        later: later.split('\n')[0],
        ofBo: await call('load_my_context'),
        mode: (await stat(file)).mode & 0o777,
        event: fleet.ofKind('context saved').map(({ name, context }) => ({ name, context })),
      },
      {
        none: 'You have no saved context yet. Save one with save_my_context when a piece of work is done.',
        saved: 'Saved 10 bytes at 2026-01-02T03:04:05.000Z. load_my_context brings them back after a restart.',
        loaded: 'Saved 3 min ago (2026-01-02T03:04:05.000Z), from this conversation.\nSummary: anchors\n\nTäsk: ⚓',
        later: 'Saved 3 min ago (2026-01-02T03:04:05.000Z), from an earlier conversation.',
        ofBo: none,
        mode: 0o600,
        event: [
          {
            name: 'ada',
            context: {
              at: Date.UTC(2026, 0, 2, 3, 4, 5),
              sessionId: 'session-of-ada',
              launchId: 'ada.1',
              origin: 'explicit',
              bytes: 10,
            },
          },
        ],
      },
    );
  });

  it('takes 256 kB and no more, nothing empty and nothing of the wrong shape, each with a next step', async () => {
    const largest = 'x'.repeat(256_000);
    const answers = {
      largest: await call('save_my_context', { context: largest }),
      larger: await call('save_my_context', { context: `${largest}x` }),
      larger2: await call('save_my_context', { context: 'ä'.repeat(128_001) }),
      empty: await call('save_my_context', { context: ' \n' }),
      none: await call('save_my_context'),
    };
    const beginnings = Object.fromEntries(Object.entries(answers).map(([which, text]) => [which, text.slice(0, 40)]));
    assert.deepStrictEqual(
      [beginnings, fleet.ofKind('context saved').length],
      [
        {
          largest: 'Saved 256000 bytes at 2026-01-02T03:04:0',
          larger: 'ERROR The context has 256001 bytes, at m',
          larger2: 'ERROR The context has 256002 bytes, at m',
          empty: 'ERROR The context is empty; nothing was ',
          none: 'ERROR Input validation error: Invalid ar',
        },
        1,
      ],
    );
  });

  it('keeps the former save and says so when the disk refuses, and reads no damaged file', async () => {
    await call('save_my_context', { context: 'first' });
    const paths = statePaths(directory);
    await rm(paths.contexts, { recursive: true });
    await writeFile(paths.contexts, 'in the way');
    const refused = await call('save_my_context', { context: 'second' });
    await rm(paths.contexts);
    await call('save_my_context', { context: 'third' });
    const content = await readFile(paths.context('ada'), 'utf8');
    await writeFile(paths.context('ada'), content.slice(0, -5));
    const damaged = await call('load_my_context');
    assert.deepStrictEqual(
      [refused.slice(0, 24), damaged, fleet.ofKind('context saved').map(({ context }) => context.bytes)],
      [
        'ERROR Nothing was saved:',
        'ERROR Your saved context cannot be read (not JSON). Tell the person, and save a new one with save_my_context.',
        [5, 5],
      ],
    );
  });

  it('keeps the last of many saves at once', async () => {
    const texts = Array.from({ length: 8 }, (_value, index) => `save ${index}`);
    await Promise.all(texts.map((context) => call('save_my_context', { context })));
    const kept = (await call('load_my_context')).split('\n').at(-1) ?? '';
    assert.deepStrictEqual([texts.includes(kept), fleet.ofKind('context saved').length], [true, 8]);
  });

  it('tells whether a fresh restart would lose work, as it will be after the turn that asks', async () => {
    hook('UserPromptSubmit');
    const before = await call('context_status');
    await call('save_my_context', { context: 'abc' });
    const saved = await call('context_status');
    now += 300_000;
    const old = await call('context_status');
    await call('save_my_context', { context: 'abc' });
    hook('UserPromptSubmit', 'another-session');
    const other = await call('context_status');
    assert.deepStrictEqual(
      [before, saved, old, other].map((text) => text.split('\n')),
      [
        [
          'Restart without this conversation, after this turn: blocked (missing context).',
          'Last save: none.',
          'It would lose: Everything in the conversation: the agent saved no context. The transcript file stays.',
          'Next step: call save_my_context with what you need to go on.',
        ],
        [
          'Restart without this conversation, after this turn: allowed (ok).',
          'Last save: 0 s ago, 3 bytes.',
          'It would lose: The conversation; its saved context stays.',
        ],
        [
          'Restart without this conversation, after this turn: blocked (save too old).',
          'Last save: 5 min ago, 3 bytes.',
          'It would lose: What was worked on since the last save. The transcript file stays.',
          'Next step: call save_my_context with what you need to go on.',
        ],
        [
          'Restart without this conversation, after this turn: blocked (different session).',
          'Last save: 0 s ago, 3 bytes.',
          'It would lose: Everything since the last save, which belongs to an older conversation. The transcript file stays.',
          'Next step: call save_my_context with what you need to go on.',
        ],
      ],
    );
  });
});
