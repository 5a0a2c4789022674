import type { UpstreamDefinition } from './definition.ts';
import type { OpenUpstream } from './forward.ts';
import type { HttpPool } from './httpPool.ts';
import { HttpSession } from './httpSession.ts';

/** What {@link upstreamOpener} opens; servers of other kinds are left to Claude. */
export const servedKinds: readonly UpstreamDefinition['kind'][] = ['http'];

export interface OpenUpstreamOptions {
  readonly pool: HttpPool;
}

/** Opens sessions of upstreams, each kind in its own way. */
export function upstreamOpener({ pool }: OpenUpstreamOptions): OpenUpstream {
  return (opening) => {
    switch (opening.definition.kind) {
      case 'http':
        return new HttpSession({ opening, pool });
      case 'stdio':
      case 'sse':
        throw new Error(`upstreams of kind ${opening.definition.kind} are not served`);
    }
  };
}
