import { expandTransport, reachedBy } from './expandTransport.ts';
import type { ResolvedServer, ResolveOptions } from './resolveServers.ts';

/**
 * The servers, those of plugins that another one stands for not given. Claude itself takes such a server once, under the name
 * that is not the plugin's: the same address, or the same command and arguments, whatever the headers and variables
 * (measured, claude 2.1.160 and 2.1.332).
 */
export function withoutRepeated(
  resolved: readonly ResolvedServer[],
  { sources, environment }: Pick<ResolveOptions, 'sources' | 'environment'>,
): readonly ResolvedServer[] {
  const given = new Map<string, string>();
  for (const { server, target, entry } of resolved) {
    const reading = entry === undefined ? undefined : expandTransport(entry.transport, environment);
    const transport = target ?? (reading?.kind === 'expanded' ? reading.target : undefined);
    if (transport !== undefined) given.set(reachedBy(transport), server.name);
  }
  return resolved.map((one) => {
    const { server } = one;
    if (server.scope !== 'plugin' || server.way !== 'direct') return one;
    const source = sources.find(({ scope, entries }) => scope === 'plugin' && Object.hasOwn(entries, server.name));
    const entry = source?.entries[server.name];
    if (entry === undefined) return one;
    const reading = expandTransport(entry.transport, { ...environment, ...source?.variables });
    const other = reading.kind === 'expanded' ? given.get(reachedBy(reading.target)) : undefined;
    if (other === undefined) return one;
    const reason = `It is the server "${other}" once more, and Claude is given that one.`;
    return { ...one, server: { ...server, way: 'not given', reason } };
  });
}
