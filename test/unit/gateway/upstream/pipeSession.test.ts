import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { Emitter } from '../../../../src/base/events.ts';
import type { RequestId } from '../../../../src/gateway/mcp/jsonRpc.ts';
import { readEvent } from '../../../../src/gateway/upstream/httpEvents.ts';
import type { MessagePipe, PipeListener, PipeOpening } from '../../../../src/gateway/upstream/pipe.ts';
import { PipeSession, type PipeTimes } from '../../../../src/gateway/upstream/pipeSession.ts';
import type { AgentMessage, AnswerSink, ExchangeOutcome } from '../../../../src/gateway/upstream/upstreamSession.ts';
import { waitFor } from '../../../harness/waitFor.ts';

const idSchema = z.union([z.string(), z.number()]);
const messageSchema = z.object({
  id: z.exactOptional(idSchema),
  method: z.exactOptional(z.string()),
  params: z.exactOptional(z.object({ requestId: z.exactOptional(idSchema) })),
});
const idOf = (text: string): RequestId | undefined => messageSchema.parse(JSON.parse(text)).id;

type SendOutcome = Awaited<ReturnType<MessagePipe['send']>>;

/** Stands for the way to a server: the test says what the server gets and says. */
class FakePipe implements MessagePipe {
  backlog = 0;
  readonly got: string[] = [];
  readonly calls: string[] = [];
  /** How sending goes; undefined: it is not on its way yet. */
  sending: SendOutcome | undefined = { kind: 'sent' };
  readonly held: ((outcome: SendOutcome) => void)[] = [];

  constructor(
    readonly listener: PipeListener,
    readonly dies: boolean,
  ) {}

  send(message: string): Promise<SendOutcome> {
    this.got.push(message);
    const { sending } = this;
    if (sending === undefined) return new Promise((resolve) => this.held.push(resolve));
    return Promise.resolve(sending);
  }

  pause(): void {
    this.calls.push('pause');
  }

  resume(): void {
    this.calls.push('resume');
  }

  dispose(): void {
    this.calls.push('dispose');
  }

  says(message: object): void {
    this.listener.message(JSON.stringify(message));
  }

  /** The id under which the last request reached the server. */
  get lastId(): RequestId | undefined {
    return idOf(this.got.at(-1) ?? '{}');
  }
}

/** Keeps what the agent is told, each message with how it came. */
class FakeSink implements AnswerSink {
  readonly told: string[] = [];
  room = true;
  drain: () => void = () => undefined;
  leave: () => void = () => undefined;

  json(message: Buffer | string): void {
    this.told.push(`json ${message.toString()}`);
  }

  events(part: Buffer | string): boolean {
    this.told.push(`event ${readEvent(Buffer.from(part)).data}`);
    return this.room;
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.drain = () => {
        this.room = true;
        resolve();
      };
    });
  }

  onGone(listener: () => void): void {
    const former = this.leave;
    this.leave = () => {
      former();
      listener();
    };
  }
}

const times: PipeTimes = { setUp: 5000, answer: 5000, call: 5000 };

describe('a session behind a pipe', () => {
  let pipes: FakePipe[];
  let told: string[];
  let openings: (Exclude<PipeOpening, { kind: 'open' }> | 'dies')[];
  let wait: number;
  let session: PipeSession;
  let invalidated: Emitter<void>;

  const create = (chosen: Partial<PipeTimes> = {}): PipeSession =>
    new PipeSession({
      connect: (listener) => {
        const next = openings.shift();
        if (next !== undefined && next !== 'dies') return Promise.resolve(next);
        const pipe = new FakePipe(listener, next === 'dies');
        pipes.push(pipe);
        if (next === 'dies') {
          setImmediate(() => {
            listener.closed('its process ended with code 1');
          });
        }
        return Promise.resolve({ kind: 'open', pipe });
      },
      wait: () => ({ milliseconds: wait, reason: wait > 0 ? 'it ended' : undefined }),
      ended: (reason) => told.push(`ended: ${reason}`),
      host: {
        failing: (reason) => told.push(`failing: ${reason ?? 'no'}`),
        lost: (reason) => told.push(`lost: ${reason}`),
        wantsLogin: () => told.push('wants a login'),
      },
      dropped: (reason) => told.push(`dropped: it ${reason}`),
      idPrefix: 'gateway-',
      onDidInvalidate: invalidated.event,
      times: { ...times, ...chosen },
    });

  beforeEach(() => {
    [pipes, told, openings, wait] = [[], [], [], 0];
    invalidated = new Emitter();
    session = create();
  });

  afterEach(() => {
    session.dispose();
  });

  const message = (body: object | string): AgentMessage => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const read = messageSchema.parse(JSON.parse(text));
    const reading = (): AgentMessage['reading'] => {
      if (read.method === undefined) return { kind: 'response', id: read.id ?? '' };
      if (read.id !== undefined) return { kind: 'request', id: read.id, method: read.method };
      const cancels = read.params?.requestId;
      return { kind: 'notification', method: read.method, ...(cancels !== undefined && { cancels }) };
    };
    return { body: Buffer.from(text), reading: reading(), headers: {} };
  };

  const begin = (body: object | string): { sink: FakeSink; outcome: Promise<ExchangeOutcome> } => {
    const sink = new FakeSink();
    return { sink, outcome: session.exchange(message(body), sink) };
  };

  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} };

  /** A session whose handshake is over, and its pipe. */
  const ready = async (): Promise<FakePipe> => {
    const { outcome } = begin(initialize);
    const pipe = await waitFor('the pipe', () => pipes.find(({ dies }) => !dies));
    await waitFor('initialize', () => pipe.got.length > 0);
    pipe.says({ jsonrpc: '2.0', id: pipe.lastId, result: {} });
    assert.deepStrictEqual(await outcome, { kind: 'answered' });
    pipe.got.length = 0;
    told.length = 0;
    return pipe;
  };

  const call = (id: RequestId, more: object = {}): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: more,
  });

  it('answers each request with its own answer, whatever ids are used', async () => {
    const pipe = await ready();
    const calls = [begin(call(1)), begin(call(1)), begin(call('1')), begin('{"id" : 1.0 ,\r\n"method":"x","n":1e400}')];
    const ids = pipe.got.map(idOf);
    for (const id of [...ids].reverse()) pipe.says({ jsonrpc: '2.0', id, result: { of: id } });
    for (const id of ids) pipe.says({ jsonrpc: '2.0', id, result: 'again' });
    pipe.says({ jsonrpc: '2.0', id: 1000, result: 'of nothing' });
    pipe.says({ jsonrpc: '2.0', id: String(ids[0]), result: 'of text' });
    pipe.says({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
    await Promise.all(calls.map(({ outcome }) => outcome));
    assert.deepStrictEqual(
      { answers: calls.map(({ sink }) => sink.told), last: pipe.got[3], told },
      {
        answers: [
          ['json {"jsonrpc":"2.0","id":1,"result":{"of":2}}'],
          ['json {"jsonrpc":"2.0","id":1,"result":{"of":3}}'],
          ['json {"jsonrpc":"2.0","id":"1","result":{"of":4}}'],
          ['json {"jsonrpc":"2.0","id":1.0,"result":{"of":5}}'],
        ],
        last: '{"id" : 5 ,  "method":"x","n":1e400}',
        told: [
          ...['failing: no', 'failing: no', 'failing: no', 'failing: no'],
          ...Array.from({ length: 3 }, () => 'dropped: it answers a request that was never made'),
        ],
      },
    );
  });

  it('puts progress and questions where they belong', async () => {
    const pipe = await ready();
    pipe.says({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }); // nobody listens yet
    const standing = new FakeSink();
    const listening = session.listen(standing);
    const first = begin(call(1, { _meta: { progressToken: 'a' } }));
    const firstId = pipe.lastId;
    pipe.says({ jsonrpc: '2.0', method: 'notifications/message', params: 'of the only call' });
    pipe.says({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'x' } });
    const second = begin(call(2, { _meta: { progressToken: 'b' } }));
    pipe.says({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'b', progress: 1 } });
    pipe.says({ jsonrpc: '2.0', method: 'notifications/message', params: 'of nobody knows' });
    listening.dispose();
    pipe.says({ jsonrpc: '2.0', method: 'notifications/message', params: 'of the latest' });
    pipe.says({ jsonrpc: '2.0', id: pipe.lastId, result: 2 });
    pipe.says({ jsonrpc: '2.0', id: firstId, result: 1 });
    await Promise.all([first.outcome, second.outcome]);
    const shorten = ({ told: texts }: FakeSink): string[] =>
      texts.map((text) => text.replace('"jsonrpc":"2.0",', '').replace('notifications/', ''));
    assert.deepStrictEqual([standing, first.sink, second.sink].map(shorten), [
      [
        'event {"method":"tools/list_changed"}',
        'event {"method":"resources/updated","params":{"uri":"x"}}',
        'event {"method":"message","params":"of nobody knows"}',
      ],
      ['event {"method":"message","params":"of the only call"}', 'event {"id":1,"result":1}'],
      [
        'event {"method":"progress","params":{"progressToken":"b","progress":1}}',
        'event {"method":"message","params":"of the latest"}',
        'event {"id":2,"result":2}',
      ],
    ]);
  });

  it('gives questions of the server ids of its own, and each answer back once', async () => {
    const pipe = await ready();
    const standing = new FakeSink();
    session.listen(standing);
    pipe.says({ jsonrpc: '2.0', id: 7, method: 'roots/list' });
    pipe.says({ jsonrpc: '2.0', id: '7', method: 'sampling/createMessage' });
    pipe.says({ jsonrpc: '2.0', id: 8, method: 'elicitation/create' });
    pipe.says({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 8, reason: 'late' } });
    for (const id of ['gateway-2', 'gateway-1', 'gateway-1', 'gateway-3', 'gateway-9', 7]) {
      assert.deepStrictEqual(await begin({ jsonrpc: '2.0', id, result: { of: id } }).outcome, { kind: 'answered' });
    }
    assert.deepStrictEqual(
      { asked: standing.told, got: pipe.got },
      {
        asked: [
          'event {"jsonrpc":"2.0","id":"gateway-1","method":"roots/list"}',
          'event {"jsonrpc":"2.0","id":"gateway-2","method":"sampling/createMessage"}',
          'event {"jsonrpc":"2.0","id":"gateway-3","method":"elicitation/create"}',
          'event {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"gateway-3","reason":"late"}}',
        ],
        got: [
          '{"jsonrpc":"2.0","id":"7","result":{"of":"gateway-2"}}',
          '{"jsonrpc":"2.0","id":7,"result":{"of":"gateway-1"}}',
        ],
      },
    );
  });

  it('hands a cancellation on under the id that the server knows, once, and drops the late answer', async () => {
    const pipe = await ready();
    const cancelled = begin(call('mine'));
    const hungUp = begin(call('other'));
    await begin({ method: 'notifications/cancelled', params: { requestId: 'mine', reason: 'no more' } }).outcome;
    await begin({ method: 'notifications/cancelled', params: { requestId: 'unknown' } }).outcome;
    cancelled.sink.leave();
    hungUp.sink.leave();
    pipe.says({ jsonrpc: '2.0', id: 2, result: 'late' });
    assert.deepStrictEqual(
      {
        outcomes: await Promise.all([cancelled.outcome, hungUp.outcome]),
        got: pipe.got.slice(2),
        heard: cancelled.sink.told,
      },
      {
        outcomes: [{ kind: 'answered' }, { kind: 'answered' }],
        got: [
          '{"method":"notifications/cancelled","params":{"requestId":2,"reason":"no more"}}',
          '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"The client waits no longer"}}',
        ],
        heard: [],
      },
    );
  });

  it('tells at its end what may have been done and what was not', async () => {
    const pipe = await ready();
    const sent = begin(call(1));
    pipe.sending = undefined;
    const unsent = begin(call(2));
    pipe.held[0]?.({ kind: 'session lost', reason: 'never went out' });
    pipe.listener.closed('its process was ended by SIGKILL');
    const later = begin(call(3));
    assert.deepStrictEqual(
      { outcomes: await Promise.all([sent.outcome, unsent.outcome, later.outcome]), told },
      {
        outcomes: [
          { kind: 'unknown', reason: 'its process was ended by SIGKILL' },
          { kind: 'session lost', reason: 'never went out' },
          { kind: 'session lost', reason: 'its process was ended by SIGKILL' },
        ],
        told: [
          'ended: its process was ended by SIGKILL',
          'failing: its process was ended by SIGKILL',
          'lost: its process was ended by SIGKILL',
        ],
      },
    );
  });

  it('starts a server again that dies before it has answered initialize, and not one that cannot run', async () => {
    openings = ['dies', { kind: 'unreachable', reason: 'not yet' }, 'dies'];
    await ready();
    const attempts = pipes.length;
    session.dispose();
    session = create();
    openings = ['dies', { kind: 'refused', reason: 'its command x was not found' }];
    const refused = await begin(initialize).outcome;
    session.dispose();
    session = create();
    wait = 30_000;
    const late = await begin(initialize).outcome;
    assert.deepStrictEqual(
      { attempts, refused, late },
      {
        attempts: 3,
        refused: { kind: 'refused', reason: 'its command x was not found' },
        late: { kind: 'unreachable', reason: 'it ended; it is not started again for 30 s' },
      },
    );
  });

  it('waits no longer than the limit for a server that never answers, and says so to it', async () => {
    session = create({ setUp: 20 });
    const silent = await begin(initialize).outcome;
    const disposed = pipes[0]?.calls;
    pipes = [];
    session = create({ call: 20 });
    const pipe = await ready();
    const outcome = await begin(call(1)).outcome;
    assert.deepStrictEqual(
      { silent, disposed, outcome, got: pipe.got[1] },
      {
        silent: { kind: 'unreachable', reason: 'it did not answer within 0 s' },
        disposed: ['dispose'],
        outcome: { kind: 'unknown', reason: 'it did not answer within 0 s' },
        got: '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"No answer within the time limit"}}',
      },
    );
  });

  it('slows a server down that says more than is read, and keeps little of what nobody hears', async () => {
    const pipe = await ready();
    for (let n = 0; n < 5000; n++) pipe.says({ jsonrpc: '2.0', method: 'notifications/message', params: n });
    const standing = new FakeSink();
    session.listen(standing);
    const kept = standing.told.length;
    standing.room = false;
    for (let n = 0; n < 3; n++) pipe.says({ jsonrpc: '2.0', method: 'notifications/message', params: n });
    const paused = [...pipe.calls];
    standing.drain();
    await waitFor('the pipe to go on', () => pipe.calls.includes('resume'));
    assert.deepStrictEqual(
      { kept, paused, calls: pipe.calls },
      { kept: 64, paused: ['pause'], calls: ['pause', 'resume'] },
    );
  });

  it('drops alone what is no message', async () => {
    const pipe = await ready();
    const { sink, outcome } = begin(call(1));
    for (const text of ['{"jsonrpc":', 'server listens', '7', '{}', '{"id":{},"method":"x"}'])
      pipe.listener.message(text);
    pipe.listener.message(
      '[{"jsonrpc":"2.0","method":"notifications/message"},{"jsonrpc":"2.0","id":2,"result":"batched"}]',
    );
    await outcome;
    assert.deepStrictEqual(
      { heard: sink.told, told },
      {
        heard: [
          'event {"jsonrpc":"2.0","method":"notifications/message"}',
          'event {"jsonrpc":"2.0","id":1,"result":"batched"}',
        ],
        told: [
          ...['dropped: it is not JSON', 'dropped: it is not JSON'],
          ...['dropped: it is no message of JSON-RPC', 'dropped: it is no message of JSON-RPC'],
          ...['dropped: it asks under an id that is none', 'failing: no'],
        ],
      },
    );
  });

  it('takes nothing new after a sleep of the host, and brings to an end what is on its way', async () => {
    const pipe = await ready();
    const { sink, outcome } = begin(call(1));
    invalidated.fire();
    const later = await begin(call(2)).outcome;
    pipe.says({ jsonrpc: '2.0', id: 2, result: 'done' });
    await outcome;
    const reason = 'its connection may not have outlived the sleep of the host';
    assert.deepStrictEqual(
      { later, heard: sink.told, told },
      {
        later: { kind: 'session lost', reason },
        heard: ['json {"jsonrpc":"2.0","id":1,"result":"done"}'],
        told: [`failing: ${reason}`, `lost: ${reason}`, 'failing: no'],
      },
    );
  });

  it('drops what would end or fill the gateway: deep nesting where it has to be spelled anew, ids of megabytes', async () => {
    const pipe = await ready();
    const { outcome, sink } = begin(call(1));
    const id = pipe.lastId;
    const deep = `${'['.repeat(300_000)}${']'.repeat(300_000)}`;
    pipe.listener.message(`[{"jsonrpc":"2.0","method":"notifications/message","params":${deep}}]`);
    pipe.says({ jsonrpc: '2.0', id: 's', method: 'roots/list' });
    pipe.listener.message(
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s","reason":${deep}}}`,
    );
    pipe.says({ jsonrpc: '2.0', id: 'x'.repeat(1_000_000), method: 'roots/list' });
    pipe.says({ jsonrpc: '2.0', id, result: {} });
    assert.deepStrictEqual(
      [await outcome, sink.told.length, told.filter((line) => line.startsWith('dropped'))],
      [
        { kind: 'answered' },
        2,
        [
          'dropped: it is nested too deeply',
          'dropped: it is nested too deeply',
          'dropped: it asks under an id of more than 1000 characters',
        ],
      ],
    );
  });
});
