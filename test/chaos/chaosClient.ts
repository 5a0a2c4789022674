import { setTimeout as delay } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { messageOf } from '../../src/base/errors.ts';
import type { Call, Outcome } from './calls.ts';
import { between, type Random } from './schedule.ts';

/** Longer than every limit of the gateway for one request, in milliseconds. What is not answered by then hangs. */
const deadlineMs = 60_000;

/** Claude comes back after 1 s; so do these, without end. */
const reconnectionOptions = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 10_000,
};

const tracedSteps = 8;

const postSchema = z.object({
  method: z.optional(z.string()),
  params: z.optional(z.object({ arguments: z.optional(z.object({ id: z.string() })) })),
});
const resultSchema = z.object({ isError: z.optional(z.boolean()), content: z.array(z.object({ text: z.string() })) });
const errorSchema = z.object({
  data: z.object({ server: z.string(), outcome: z.enum(['unknown', 'not carried out']) }),
});

export interface ChaosClientOptions {
  readonly agent: string;
  readonly server: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
  /** Where its calls are written down. */
  readonly calls: Call[];
  /** Something is wrong with its session: refused without having been killed, or another one's messages. */
  readonly fault: (words: string) => void;
}

/** One connection of a real MCP client, until it is killed. */
interface Life {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  killed: boolean;
}

/** An agent's MCP client (client 2.x) that calls one tool again and again. */
export class ChaosClient {
  /** How often it said `initialize`. */
  initialised = 0;
  private life: Life | undefined;
  private readonly cuts = new Map<string, (reason: string) => void>();
  private count = 0;
  private downUntil = 0;
  /** What it last asked and was answered, for a fault. */
  private trace: readonly string[] = [];
  private readonly began = performance.now();

  constructor(private readonly options: ChaosClientOptions) {}

  get hasCalled(): boolean {
    return this.count > 1;
  }

  /** Calls until `isOver`, then once more until that succeeds. Resolves when it works or has told why not. */
  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.call();
      await delay(between(this.options.random, 100, 600));
    }
    const limit = performance.now() + deadlineMs;
    let last = '';
    while (performance.now() < limit) {
      const outcome = await this.call();
      if (outcome.kind === 'answered') return;
      last = 'sentence' in outcome ? outcome.sentence : outcome.kind;
      await delay(200);
    }
    this.options.fault(`${this.options.agent} does not work again: ${last}`);
  }

  /** Ends it as a kill would, with what it has on its way. The agent has another one after `downMs`. */
  async kill(downMs: number): Promise<void> {
    const { life } = this;
    this.life = undefined;
    this.downUntil = performance.now() + downMs;
    if (life === undefined) return;
    life.killed = true;
    await life.client.close();
  }

  private async call(): Promise<Outcome> {
    const life = this.life ?? (await this.connect());
    if (life === undefined) return { kind: 'hung', sentence: 'it cannot connect' };
    const { agent, server, random } = this.options;
    const id = `${agent}-${++this.count}`;
    const value = `${id} ${'x'.repeat(random() < 0.1 ? between(random, 10_000, 100_000) : 10)}`;
    const wantsProgress = random() < 0.5;
    const milliseconds = random() < 0.3 ? between(random, 50, 800) : 0;
    const began = performance.now();
    const outcome = await this.outcomeOf(life, { id, value, milliseconds }, wantsProgress);
    const expected = JSON.stringify({ id, value, agent });
    this.options.calls.push({ id, agent, server, expected, began, ended: performance.now(), outcome });
    return outcome;
  }

  private async outcomeOf(
    life: Life,
    input: { readonly id: string; readonly value: string; readonly milliseconds: number },
    wantsProgress: boolean,
  ): Promise<Outcome> {
    const { server, agent } = this.options;
    const { id } = input;
    const cut = new Promise<Outcome>((resolve) => {
      this.cuts.set(id, (sentence) => {
        resolve({ kind: 'cut', sentence });
      });
    });
    const onprogress = ({ message }: { readonly message?: string | undefined }): void => {
      if (message !== id) this.options.fault(`${agent}: ${id} is told the progress of ${String(message)}`);
    };
    const called = life.client.callTool(
      { name: 'work', arguments: input },
      { timeout: deadlineMs, ...(wantsProgress && { onprogress }) },
    );
    try {
      return await Promise.race([cut, called.then(read, (error: unknown) => this.failed(life, error, server))]);
    } finally {
      this.cuts.delete(id);
    }
  }

  private failed(life: Life, error: unknown, server: string): Outcome {
    if (life.killed) return { kind: 'client killed' };
    const sentence = messageOf(error);
    const said = errorSchema.safeParse(error).data?.data;
    if (said?.server === server && sentence.includes(`"${server}"`)) {
      return { kind: said.outcome === 'unknown' ? 'outcome unknown' : 'not carried out', sentence };
    }
    if (/request timed out/i.test(sentence)) return { kind: 'hung', sentence };
    if (isOfConnection(error)) return { kind: 'cut', sentence: `${sentence} ${causeOf(error)}` };
    return { kind: 'other', sentence: `${sentence} ${causeOf(error)}` };
  }

  /** Undefined: not within the deadline. */
  private async connect(): Promise<Life | undefined> {
    const { agent, server } = this.options;
    const limit = performance.now() + deadlineMs;
    for (;;) {
      await delay(Math.max(0, this.downUntil - performance.now()));
      try {
        const life = await this.connectOnce();
        if (life !== undefined) return life;
      } catch (error) {
        if (!isOfConnection(error)) {
          this.options.fault(`${agent} cannot connect to ${server}: ${messageOf(error)}; ${this.trace.join(', ')}`);
        }
        if (performance.now() > limit) return undefined;
        await delay(200);
      }
    }
  }

  /** Undefined: it was killed meanwhile. */
  private async connectOnce(): Promise<Life | undefined> {
    const { agent, url, headers } = this.options;
    const transport: StreamableHTTPClientTransport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      reconnectionOptions,
      fetch: (target, init) => this.fetch(life, target, init),
    });
    const life: Life = { client: new Client({ name: 'chaos', version: '1' }), transport, killed: false };
    life.client.onerror = (error) => {
      if (/unknown message|unknown token/i.test(error.message)) this.options.fault(`${agent}: ${error.message}`);
    };
    this.life = life;
    try {
      await life.client.connect(transport, { timeout: deadlineMs });
      return life;
    } catch (error) {
      if (this.life === life) this.life = undefined;
      await life.client.close();
      if (life.killed) return undefined;
      throw error;
    }
  }

  /** As fetch does, but what is refused is told, and a call whose answer ends without one learns of it. */
  private async fetch(life: Life, target: string | URL, init: RequestInit | undefined): Promise<Response> {
    const method = init?.method ?? 'GET';
    const asked = typeof init?.body === 'string' ? postSchema.safeParse(JSON.parse(init.body)).data : undefined;
    if (asked?.method === 'initialize') this.initialised += 1;
    const tell = (words: string): void => {
      const seconds = ((performance.now() - this.began) / 1000).toFixed(1);
      this.trace = [...this.trace.slice(1 - tracedSteps), `${seconds} s ${method} ${asked?.method ?? ''} ${words}`];
    };
    tell('asked');
    const response = await fetch(target, init).catch((error: unknown) => {
      tell(`failed: ${messageOf(error)}`);
      throw error;
    });
    tell(String(response.status));
    if (response.status >= 400 && !life.killed) {
      const said = await response.clone().text();
      this.options.fault(`${this.options.agent}: ${method} was answered ${response.status} ${said.slice(0, 200)}`);
    }
    const { body } = response;
    const id = asked?.params?.arguments?.id;
    if (body === null || id === undefined || response.headers.get('content-type') !== 'text/event-stream')
      return response;
    const { status, headers } = response;
    return new Response(
      watched(body, () => {
        // By then the client has read what came.
        setTimeout(() => this.cuts.get(id)?.('the stream of the answer ended without it'), 1_000);
      }),
      { status, headers },
    );
  }
}

function watched(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      ended();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function read(result: unknown): Outcome {
  const { isError, content } = resultSchema.parse(result);
  const text = content.map((part) => part.text).join('');
  return isError === true ? { kind: 'other', sentence: text } : { kind: 'answered', text };
}

function isOfConnection(error: unknown): boolean {
  return /fetch failed|terminated|socket|ECONNRESET|EPIPE|other side closed/.test(
    `${messageOf(error)} ${causeOf(error)}`,
  );
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? '' : `(${messageOf(cause)})`;
}
