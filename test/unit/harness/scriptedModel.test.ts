import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { startScriptedModel, type ScriptedModel } from '../../harness/scriptedModel.ts';

const tools = [{ name: 'Read' }];
const answerSchema = z.object({
  stop_reason: z.optional(z.nullable(z.string())),
  content: z.optional(
    z.array(
      z.object({
        type: z.string(),
        text: z.optional(z.string()),
        name: z.optional(z.string()),
        input: z.optional(z.unknown()),
      }),
    ),
  ),
  error: z.optional(z.object({ type: z.string(), message: z.string() })),
});

describe('scripted model', () => {
  let model: ScriptedModel;
  beforeEach(async () => {
    model = await startScriptedModel();
  });
  afterEach(() => model.dispose());

  const post = (body: unknown): Promise<Response> =>
    fetch(`${model.url}/v1/messages?beta=true`, { method: 'POST', body: JSON.stringify(body) });

  const ask = async (content: unknown, more: object = { tools }): Promise<unknown> => {
    const response = await post({ model: 'm', messages: [{ role: 'user', content }], ...more });
    const { content: blocks, stop_reason, error } = answerSchema.parse(await response.json());
    return [
      response.status,
      stop_reason,
      blocks?.map(({ type, text, name, input }) => [type, text ?? name, input]),
      error,
    ];
  };

  it('does what the start of a line asks for', async () => {
    const result = [{ type: 'tool_result', tool_use_id: 't', content: 'fine' }];
    assert.deepStrictEqual(
      {
        echo: await ask('hello'),
        call: await ask('CALL mcp__lab__whoami {"a":1}'),
        callWithoutInput: await ask([
          { type: 'text', text: '<system-reminder>x</system-reminder>' },
          { type: 'text', text: 'CALL Read' },
        ]),
        callAfterWait: await ask('SLOW 1 CALL Read'),
        midLine: await ask('please CALL Read'),
        sideRequest: await ask('CALL Read', {}),
        result: await ask(result),
        failedResult: await ask([{ ...result[0], is_error: true }]),
        failure: await ask('FAIL400 bad thinking block'),
        failureAnsweredOnce: await ask([...result, { type: 'text', text: 'FAIL400 again' }]),
        systemMessageAfter: await ask('unused', {
          tools,
          messages: [
            { role: 'user', content: 'the prompt' },
            { role: 'system', content: 'later' },
          ],
        }),
      },
      {
        echo: [200, 'end_turn', [['text', 'ECHO<<hello>>', undefined]], undefined],
        call: [200, 'tool_use', [['tool_use', 'mcp__lab__whoami', { a: 1 }]], undefined],
        callWithoutInput: [200, 'tool_use', [['tool_use', 'Read', {}]], undefined],
        callAfterWait: [200, 'tool_use', [['tool_use', 'Read', {}]], undefined],
        midLine: [200, 'end_turn', [['text', 'ECHO<<please CALL Read>>', undefined]], undefined],
        sideRequest: [200, 'end_turn', [['text', 'ECHO<<CALL Read>>', undefined]], undefined],
        result: [200, 'end_turn', [['text', 'RESULT<<"fine">>', undefined]], undefined],
        failedResult: [200, 'end_turn', [['text', 'RESULT<<"fine" ERR>>', undefined]], undefined],
        failure: [400, undefined, undefined, { type: 'invalid_request_error', message: 'bad thinking block' }],
        failureAnsweredOnce: [200, 'end_turn', [['text', 'RESULT<<"fine">>', undefined]], undefined],
        systemMessageAfter: [200, 'end_turn', [['text', 'ECHO<<the prompt>>', undefined]], undefined],
      },
    );
  });

  it('recalls what earlier prompts of the same conversation said, and nothing else', async () => {
    const said = (content: string): object => ({ role: 'user', content });
    const answers = ['REMEMBER heron', 'REMEMBER birch', 'RECALL'].map((_prompt, index, all) => {
      return ask('unused', { tools, messages: all.slice(index).map(said) });
    });
    const text = (await Promise.all(answers)).map((answer) =>
      JSON.stringify(answer).replace(/.*RECALLED (.*)\..*/, '$1'),
    );
    assert.deepStrictEqual(text, ['heron, birch', 'birch', '']);
  });

  it('streams the same answer as events', async () => {
    const response = await post({
      model: 'm',
      stream: true,
      tools,
      messages: [{ role: 'user', content: 'CALL Read {"b":2}' }],
    });
    const events = (await response.text()).split('\n\n').filter((event) => event !== '');
    const named = events.map((event) => /^event: (\S+)\ndata: (\{.*\})$/.exec(event));
    const delta = z.object({ delta: z.object({ partial_json: z.string() }) }).parse(JSON.parse(named[2]?.[2] ?? '{}'));
    assert.deepStrictEqual(
      [response.headers.get('content-type'), named.map((match) => match?.[1]), delta.delta.partial_json],
      [
        'text/event-stream',
        [
          'message_start',
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
          'message_delta',
          'message_stop',
        ],
        '{"b":2}',
      ],
    );
  });

  it('keeps what was asked, without keys', async () => {
    await fetch(`${model.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'secret' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], tools }),
    });
    assert.deepStrictEqual(model.requests, [
      { model: 'm', kind: 'turn', text: 'hi', earlier: '', notes: '', toolResults: [], tools: ['Read'] },
    ]);
  });

  it('answers what it does not know with an error and goes on', async () => {
    const statuses = [
      (await fetch(`${model.url}/other`)).status,
      (await post('no messages')).status,
      (await fetch(`${model.url}/v1/messages/count_tokens`, { method: 'POST', body: '{}' })).status,
      (await post({ model: 'm', messages: [] })).status,
    ];
    assert.deepStrictEqual(statuses, [404, 400, 200, 200]);
  });

  it('waits when told to, and ends a waiting answer when it is disposed', async () => {
    const started = Date.now();
    await ask('SLOW 50');
    const waited = Date.now() - started >= 50;
    const long = assert.rejects(ask('SLOW 600000'));
    while (model.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await model.dispose();
    await long;
    assert.ok(waited);
  });
});
