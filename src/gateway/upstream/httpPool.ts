import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Emitter } from '../../base/events.ts';
import type { Disposable } from '../../base/lifecycle.ts';

/**
 * How long an unused connection is kept, in milliseconds. Many servers close theirs after 5 s; a request that meets this
 * closing would be one of unknown outcome, and a new connection costs next to nothing.
 */
const keptFor = 4_000;

/** The connections to upstreams over HTTP, kept by host and port. */
export class HttpPool implements Disposable {
  private http = new HttpAgent(agentOptions);
  private https: HttpsAgent | undefined;
  private readonly invalidated = new Emitter<void>();

  /** A stream that stands is to be opened anew: nobody would notice that it is dead. */
  readonly onDidInvalidate = this.invalidated.event;

  agentFor(url: URL): HttpAgent {
    if (url.protocol === 'http:') return this.http;
    this.https ??= new HttpsAgent(agentOptions);
    return this.https;
  }

  /** No request from now on uses a connection of before. What is on its way goes on, and its connection ends with it. */
  invalidate(): void {
    retire(this.http);
    retire(this.https);
    this.http = new HttpAgent(agentOptions);
    this.https = undefined;
    this.invalidated.fire();
  }

  dispose(): void {
    this.invalidated.dispose();
    this.http.destroy();
    this.https?.destroy();
  }
}

const agentOptions = { keepAlive: true, timeout: keptFor } as const;

function retire(agent: HttpAgent | undefined): void {
  if (agent === undefined) return;
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
