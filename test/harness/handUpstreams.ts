import { Emitter } from '../../src/base/events.ts';
import { silentLog } from '../../src/base/log.ts';
import {
  type UpstreamDefinition,
  upstreamDefinition,
  type UpstreamTarget,
} from '../../src/gateway/upstream/definition.ts';
import type { IntroductionTimes, OpenUpstream } from '../../src/gateway/upstream/forward.ts';
import type { Upstreams } from '../../src/gateway/upstream/forwarder.ts';
import type { HttpTimes } from '../../src/gateway/upstream/httpExchange.ts';
import { HttpPool } from '../../src/gateway/upstream/httpPool.ts';
import { HttpSession } from '../../src/gateway/upstream/httpSession.ts';
import { RevisionSession } from '../../src/gateway/upstream/revisionSession.ts';

/** No agent has an upstream. */
export const noUpstreams: Upstreams = {
  definitions: {
    of: () => Promise.resolve(undefined),
    onDidChange: new Emitter<never>().event,
    wantsLogin: () => undefined,
  },
  open: () => {
    throw new Error('there is no upstream');
  },
  beforeUse: () => undefined,
};

export interface HandUpstreamsOptions {
  readonly times?: HttpTimes;
  readonly introduction?: IntroductionTimes;
  /** Opens upstreams of other kinds than `http`. */
  readonly others?: OpenUpstream;
}

/** Upstreams that a test names by hand, the same for every agent. */
export class HandUpstreams {
  readonly pool = new HttpPool();
  private readonly definitions = new Map<string, UpstreamDefinition>();
  private readonly changed = new Emitter<{ readonly agent: string; readonly server: string }>();
  /** Servers that wanted a login, as often as they did. */
  readonly loginsWanted: string[] = [];
  /** What is done before each message. */
  beforeUse: () => void = () => undefined;

  constructor(private readonly options: HandUpstreamsOptions = {}) {}

  get upstreams(): Upstreams {
    const { times, introduction, others } = this.options;
    return {
      definitions: {
        of: ({ server }) => Promise.resolve(this.definitions.get(server)),
        onDidChange: this.changed.event,
        wantsLogin: ({ server }) => this.loginsWanted.push(server),
      },
      open: (opening) =>
        opening.definition.kind === 'http' || others === undefined
          ? new RevisionSession(new HttpSession({ opening, pool: this.pool, ...(times !== undefined && { times }) }), {
              opening,
              onDidInvalidate: this.pool.onDidInvalidate,
              log: silentLog,
            })
          : others(opening),
      beforeUse: () => {
        this.beforeUse();
      },
      ...(introduction !== undefined && { times: introduction }),
    };
  }

  /** Sets or replaces an upstream, for the agent `ada` first of all. */
  set(server: string, url: string, headers: Readonly<Record<string, string>> = {}): void {
    this.define(server, { kind: 'http', url, headers });
  }

  define(server: string, target: UpstreamTarget): void {
    this.definitions.set(server, upstreamDefinition(target));
    this.changed.fire({ agent: 'ada', server });
  }

  dispose(): void {
    this.pool.dispose();
    this.changed.dispose();
  }
}
