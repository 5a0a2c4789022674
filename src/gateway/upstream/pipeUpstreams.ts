import { randomBytes } from 'node:crypto';
import type { Log } from '../../base/log.ts';
import type { Clock } from '../ports.ts';
import type { HttpPool } from './httpPool.ts';
import type { PipeListener, PipeOpening } from './pipe.ts';
import { afterUnwantedEnd, type RestartHistory, restartWait } from './pipeRestarts.ts';
import { PipeSession, type PipeTimes } from './pipeSession.ts';
import { PipeWords } from './pipeWords.ts';
import { openSsePipe } from './ssePipe.ts';
import { openStdioPipe } from './stdioPipe.ts';
import type { StdioProcesses } from './stdioProcesses.ts';
import type { UpstreamOpening, UpstreamSession } from './upstreamSession.ts';

export interface PipeUpstreamsOptions {
  readonly processes: Pick<StdioProcesses, 'start'>;
  readonly pool: Pick<HttpPool, 'agentFor' | 'onDidInvalidate'>;
  readonly log: Log;
  readonly clock: Clock;
  readonly times?: PipeTimes;
}

/** How the last run of an upstream ended, as long as its definition is the same. */
interface LastEnd {
  readonly digest: string;
  readonly reason: string;
  readonly history: RestartHistory;
}

/** Opens sessions of upstreams over stdio, and over HTTP with SSE; knows how the last runs of each ended. */
export class PipeUpstreams {
  private readonly ends = new Map<string, LastEnd>();
  private readonly idPrefix = `bowline-${randomBytes(6).toString('base64url')}-`;
  private sessions = 0;

  constructor(private readonly options: PipeUpstreamsOptions) {}

  /** As `OpenUpstream`, for all kinds but `http`. */
  open(opening: UpstreamOpening): UpstreamSession {
    const { definition, server, caller, host } = opening;
    const { clock, times, pool, log } = this.options;
    const endpoint = `${caller.agent}/${server}`;
    const former = (): LastEnd | undefined => {
      const end = this.ends.get(endpoint);
      return end?.digest === definition.digest ? end : undefined;
    };
    const words = new PipeWords({ definition, name: { agent: caller.agent, server }, log, clock });
    let startedAt = 0;
    return new PipeSession({
      host,
      idPrefix: `${this.idPrefix}${++this.sessions}-`,
      connect: (listener) => {
        startedAt = clock();
        return this.connect(opening, words, listener);
      },
      wait: () => {
        const end = former();
        return { milliseconds: end === undefined ? 0 : restartWait(end.history, clock()), reason: end?.reason };
      },
      ended: (reason) => {
        const history = afterUnwantedEnd(former()?.history, { startedAt, endedAt: clock() });
        this.ends.set(endpoint, { digest: definition.digest, reason, history });
      },
      dropped: (reason) => {
        words.dropped(reason);
      },
      ...(definition.kind === 'sse' && { onDidInvalidate: pool.onDidInvalidate }),
      ...(times !== undefined && { times }),
    });
  }

  private async connect(
    { definition, caller, server, host }: UpstreamOpening,
    words: PipeWords,
    listener: PipeListener,
  ): Promise<PipeOpening> {
    const { processes, pool } = this.options;
    const dropped = (reason: string): void => {
      words.dropped(reason);
    };
    switch (definition.kind) {
      case 'stdio': {
        const { command, args, directory } = definition;
        const identity = { BOWLINE_AGENT: caller.agent, BOWLINE_LAUNCH: caller.launchId };
        return openStdioPipe({
          program: { command, args, directory, environment: { ...definition.environment, ...identity } },
          processes,
          listener: {
            message: (text) => {
              listener.message(text);
            },
            closed: (reason) => {
              listener.closed(words.withLastWords(reason));
            },
          },
          stderr: (line) => {
            words.line(line);
          },
          dropped,
        });
      }
      case 'sse':
        return openSsePipe({
          target: definition,
          agentFor: (url) => pool.agentFor(url),
          ...{ listener, dropped },
          wantsLogin: () => {
            host.wantsLogin();
          },
        });
      case 'http':
        throw new Error(`the upstream ${server} is reached through no pipe`);
    }
  }
}
