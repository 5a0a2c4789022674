import type { Log } from '../../base/log.ts';
import type { Clock } from '../ports.ts';
import type { OpenUpstream } from './forward.ts';
import type { HttpPool } from './httpPool.ts';
import { HttpSession } from './httpSession.ts';
import { PipeUpstreams } from './pipeUpstreams.ts';
import { RevisionSession } from './revisionSession.ts';
import type { StdioProcesses } from './stdioProcesses.ts';

export interface OpenUpstreamOptions {
  readonly pool: HttpPool;
  readonly processes: StdioProcesses;
  readonly log: Log;
  readonly clock: Clock;
}

/** Opens sessions of upstreams, each kind in its own way. */
export function upstreamOpener(options: OpenUpstreamOptions): OpenUpstream {
  const { pool, log } = options;
  const { onDidInvalidate } = pool;
  const pipes = new PipeUpstreams(options);
  return (opening) => {
    switch (opening.definition.kind) {
      case 'http':
        return new RevisionSession(new HttpSession({ opening, pool }), { opening, onDidInvalidate, log });
      case 'stdio':
        return new RevisionSession(pipes.open(opening), { opening, onDidInvalidate, log });
      case 'sse': // a transport of the revision 2024-11-05
        return pipes.open(opening);
    }
  };
}
