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

/** Opens sessions of upstreams over stdio, and over HTTP with SSE; knows how the last runs of each ended. */
export class PipeUpstreams {
  private readonly histories = new Map<string, { readonly digest: string; readonly history: RestartHistory }>();
  private readonly idPrefix = `bowline-${randomBytes(6).toString('base64url')}-`;
  private sessions = 0;

  constructor(private readonly options: PipeUpstreamsOptions) {}

  /** As `OpenUpstream`, for all kinds but `http`. */
  open(opening: UpstreamOpening): UpstreamSession {
    const { definition, server, caller, host } = opening;
    const { clock, times, pool, log } = this.options;
    const endpoint = `${caller.agent}/${server}`;
    const former = (): RestartHistory | undefined => {
      const kept = this.histories.get(endpoint);
      return kept?.digest === definition.digest ? kept.history : undefined;
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
        const history = former();
        return history === undefined ? 0 : restartWait(history, clock());
      },
      ended: () => {
        const history = afterUnwantedEnd(former(), { startedAt, endedAt: clock() });
        this.histories.set(endpoint, { digest: definition.digest, history });
      },
      dropped: (reason) => {
        words.dropped(reason);
      },
      ...(definition.kind === 'sse' && { onDidInvalidate: pool.onDidInvalidate }),
      ...(times !== undefined && { times }),
    });
  }

  private async connect(
    { definition, caller, server }: UpstreamOpening,
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
        return openSsePipe({ target: definition, agentFor: (url) => pool.agentFor(url), listener, dropped });
      case 'http':
        throw new Error(`the upstream ${server} is reached through no pipe`);
    }
  }
}
