import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { identityOf } from '../../harness/mcpWire.ts';
import { createHeaderServer } from '../../harness/upstreams/statelessServer.ts';
import { StatelessUpstream } from '../../harness/upstreams/statelessUpstream.ts';
import { answerOf, brief, upstreamName, UpstreamRig } from '../../harness/upstreamRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const anything = z.looseObject({});
const roots = { roots: [{ uri: 'file:///work', name: 'work' }] };

const errorSchema = z.object({ code: z.number() });
const codeOf = (error: unknown): number => errorSchema.parse(error).code;

interface Connected {
  readonly client: Client;
  readonly heard: string[];
  readonly call: (name: string, input?: Record<string, unknown>) => Promise<string>;
}

async function connect(url: string, withAnswers = true): Promise<Connected> {
  const heard: string[] = [];
  const capabilities = withAnswers ? { sampling: {}, elicitation: {}, roots: { listChanged: true } } : {};
  const client = new Client({ name: 'sdk-1', version: '1.32.2' }, { capabilities });
  if (withAnswers) {
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      ...{ model: 'm', role: 'assistant' as const },
      content: { type: 'text' as const, text: 'a word' },
    }));
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: { answer: 'this' } }));
    client.setRequestHandler(ListRootsRequestSchema, () => roots);
  }
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.push(`log ${String(params.data)}`);
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    heard.push('tools changed');
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    heard.push(`updated ${params.uri}`);
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: identityOf('ada') } }),
  );
  return {
    client,
    heard,
    call: async (name, input = {}) => {
      const result = await client.callTool({ name, arguments: input });
      return brief({ status: 200, headers: {}, body: '', json: { result } });
    },
  };
}

describe('an upstream of revision 2026-07-28 over HTTP', () => {
  let upstream: StatelessUpstream;
  let rig: UpstreamRig;

  beforeEach(async () => {
    upstream = await StatelessUpstream.start();
    rig = await UpstreamRig.start();
    rig.upstreams.set(upstreamName, upstream.url);
  });

  afterEach(async () => {
    await rig.dispose();
    await upstream.kill();
  });

  it('serves an agent of 2025-11-25 as one of its own revision would', async () => {
    const { client, heard, call } = await connect(rig.url);
    const { tools } = await client.listTools();
    const progress: number[] = [];
    await client.setLoggingLevel('info');
    const steps = await client.callTool({ name: 'steps', arguments: {} }, undefined, {
      onprogress: (step) => progress.push(step.progress),
    });
    await waitFor('what is logged', () => heard.includes('log working'));
    const { prompts } = await client.listPrompts();
    const prompt = await client.getPrompt({ name: 'greeting' });
    const { resources } = await client.listResources();
    const read = await client.readResource({ uri: 'note://one' });
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'greeting' },
      argument: { name: 'a', value: 'x' },
    });
    const outcome = {
      version: client.getServerVersion(),
      instructions: client.getInstructions(),
      logging: client.getServerCapabilities()?.logging,
      tools: tools.map(({ name, outputSchema }) => (outputSchema === undefined ? name : `${name} with a schema`)),
      ...{ progress, steps: steps.content, ping: await client.ping(), heard },
      ...{ prompts: prompts.length, prompt: prompt.messages.length, resources: resources.length },
      ...{ read: read.contents, completed: completed.completion.values },
      ...{ echo: await call('echo', { text: 'π€🦀' }), list: await call('list') },
      unknown: await client.request({ method: 'un/known' }, anything).then(String, codeOf),
      client: JSON.parse([...upstream.seen.clients].at(-1) ?? '') as unknown,
    };
    assert.deepStrictEqual(outcome, {
      version: { name: 'stateless-upstream', version: '1.0.0' },
      instructions: 'Instructions of the upstream.',
      logging: {},
      tools: ['echo', 'hold', 'steps', 'ask', 'shed', 'change', 'state', 'list'],
      ...{ progress: [1, 2, 3], steps: [{ type: 'text', text: 'done' }], ping: {}, heard: ['log working'] },
      ...{ prompts: 1, prompt: 1, resources: 1 },
      ...{ read: [{ uri: 'note://one', text: 'text of note://one' }], completed: ['x-completed'] },
      ...{ echo: 'π€🦀', list: '["a","b"]' },
      unknown: -32601,
      client: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'sdk-1', version: '1.32.2' },
        'io.modelcontextprotocol/clientCapabilities': { sampling: {}, elicitation: {}, roots: { listChanged: true } },
        'io.modelcontextprotocol/logLevel': 'info',
      },
    });
    await client.close();
  });

  it('asks its client by results; what the client does not answer is an error that says what for', async () => {
    const { client, call } = await connect(rig.url);
    const asked: unknown = JSON.parse(await call('ask'));
    const shed = await call('shed');
    await client.close();
    const without = await connect(rig.url, false);
    const refused = await without.call('ask').then(String, codeOf);
    await without.client.close();
    const refusing = await connect(rig.url);
    refusing.client.setRequestHandler(CreateMessageRequestSchema, () => {
      throw new Error('the person says no');
    });
    const declined = await refusing.call('ask').catch((error: unknown) => String(error));
    await refusing.client.close();
    assert.deepStrictEqual(
      { asked, shed, refused, declined },
      {
        asked: {
          answers: {
            word: { model: 'm', role: 'assistant', content: { type: 'text', text: 'a word' } },
            which: { action: 'accept', content: { answer: 'this' } },
            roots,
          },
          state: 'asked "all"',
        },
        shed: 'shed',
        refused: -32021,
        declined:
          'McpError: MCP error -32603: The MCP server "notes" needs sampling/createMessage, which fails: the person says no',
      },
    );
  });

  it('tells of changes and of what is subscribed to, also after it was killed and started again', async () => {
    const { client, heard, call } = await connect(rig.url);
    await client.subscribeResource({ uri: 'note://one' });
    upstream.notify.resourceUpdated('note://one');
    upstream.notify.resourceUpdated('note://other');
    upstream.notify.toolsChanged();
    await waitFor('both', () => heard.length === 2);
    const before = heard.splice(0).sort();
    await upstream.restart();
    await waitFor('what may have changed meanwhile', () => heard.length === 2);
    const meanwhile = heard.splice(0).sort();
    upstream.notify.resourceUpdated('note://one');
    await waitFor('the update', () => heard.length === 1);
    const after = heard.splice(0);
    const listens = (): number => upstream.methods.filter((method) => method === 'subscriptions/listen').length;
    const asked = listens();
    rig.upstreams.pool.invalidate();
    await waitFor('another stream', () => listens() > asked);
    await waitFor('what may have changed in the sleep', () => heard.length === 2);
    heard.length = 0;
    await rig.restartGateway();
    const echo = await call('echo', { text: 'again' });
    await waitFor('what may have changed while the gateway was away', () => heard.includes('tools changed'));
    await waitFor('the update', () => {
      upstream.notify.resourceUpdated('note://one');
      return heard.includes('updated note://one');
    });
    const open = listens();
    await client.unsubscribeResource({ uri: 'note://one' });
    await waitFor('a stream without it', () => listens() > open);
    assert.deepStrictEqual(
      { before, meanwhile, after, echo },
      {
        before: ['tools changed', 'updated note://one'],
        meanwhile: ['tools changed', 'updated note://one'],
        after: ['updated note://one'],
        echo: 'again',
      },
    );
    await client.close();
  });

  it('learns of a call that is cancelled by the end of its connection', async () => {
    const { client } = await connect(rig.url);
    const abort = new AbortController();
    const held = client.callTool({ name: 'hold', arguments: {} }, undefined, { signal: abort.signal });
    await waitFor('the call', () => upstream.seen.calls.includes('hold'));
    abort.abort('no more');
    await held.catch(() => undefined);
    await waitFor('the cancellation', () => upstream.seen.cancelled === 1);
    await client.close();
  });

  it('gets the headers that its tools ask for, also of a client that has not listed them', async () => {
    const server = await StatelessUpstream.start('reject', createHeaderServer);
    rig.upstreams.set(upstreamName, server.url);
    const client = await rig.client();
    const unlisted = brief(await client.call('region', { where: 'eu' }));
    const again = brief(await client.call('region', { where: ' ü' }));
    const headers = server.requests.at(-1)?.headers;
    await server.kill();
    assert.deepStrictEqual(
      {
        ...{ unlisted, again, methods: server.methods.slice(2), name: headers?.['mcp-name'] },
        ...{ region: headers?.['mcp-param-region'], session: headers?.['mcp-session-id'], key: headers?.authorization },
      },
      {
        ...{ unlisted: 'in eu', again: 'in  ü', name: 'region', region: '=?base64?IMO8?=' },
        methods: ['tools/call', 'tools/list', 'tools/call', 'tools/call'],
        ...{ session: undefined, key: undefined },
      },
    );
  });

  it('that is killed in a call leaves its outcome unknown, and takes the next one', async () => {
    const client = await rig.client();
    const held = client.call('hold');
    await waitFor('the call', () => upstream.seen.calls.includes('hold'));
    await upstream.kill();
    const outcome = brief(await held);
    const ping = client.request('ping');
    await upstream.restart();
    const next = brief(await client.call('echo', { text: 'next' }));
    assert.deepStrictEqual(
      {
        ...{ outcome: outcome.includes('The outcome is unknown'), ping: brief(await ping), next },
        asked: upstream.methods.filter((method) => method === 'server/discover').length,
      },
      { outcome: true, ping: '{}', next: 'next', asked: 2 },
    );
  });

  it('answers under the id of its client, without what the older revision does not know', async () => {
    const client = await rig.client();
    const answer = await client.post({
      ...{ jsonrpc: '2.0', id: 'long', method: 'tools/call' },
      params: { name: 'echo', arguments: { text: 'x' }, _meta: { 'com.example/mine': 1 } },
    });
    assert.deepStrictEqual(answerOf(answer), {
      ...{ jsonrpc: '2.0', id: 'long' },
      result: {
        content: [{ type: 'text', text: 'x' }],
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'stateless-upstream', version: '1.0.0' } },
      },
    });
  });
});
