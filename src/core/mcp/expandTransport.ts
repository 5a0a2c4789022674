import { expandVariables } from './expandVariables.ts';
import type { EntryTransport } from './serverEntry.ts';

/** How a server is reached, with all variables filled in. */
export type ExpandedTransport = Exclude<EntryTransport, { kind: 'other' }>;

export type TransportReading =
  | { readonly kind: 'expanded'; readonly target: ExpandedTransport }
  | { readonly kind: 'wrong'; readonly reason: string };

/** `wrong`: it cannot be reached so, with the reason for a person. */
export function expandTransport(
  transport: EntryTransport,
  environment: Readonly<Record<string, string>>,
): TransportReading {
  const missing = new Set<string>();
  const fill = (one: string): string => {
    const expansion = expandVariables(one, environment);
    if (expansion.kind === 'expanded') return expansion.text;
    for (const name of expansion.names) missing.add(name);
    return one;
  };
  const fillAll = (values: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fill(value)]));
  const target = filled(transport, fill, fillAll);
  if (missing.size > 0 || target === undefined) {
    const names = [...missing];
    const [verb, next] = names.length === 1 ? ['is', 'it'] : ['are', 'them'];
    return {
      kind: 'wrong',
      reason: `${names.join(', ')} ${verb} not set in the agent's environment. Set ${next} in the setting "bowline.environment", or give a default in the definition.`,
    };
  }
  if (target.kind !== 'stdio' && !/^https?:\/\/[^/]/i.test(target.url)) {
    return { kind: 'wrong', reason: 'Its address is none that begins with http:// or https://.' };
  }
  return { kind: 'expanded', target };
}

function filled(
  transport: EntryTransport,
  fill: (text: string) => string,
  fillAll: (values: Readonly<Record<string, string>>) => Readonly<Record<string, string>>,
): ExpandedTransport | undefined {
  switch (transport.kind) {
    case 'stdio': {
      const { kind, command, args, environment } = transport;
      return { kind, command: fill(command), args: args.map(fill), environment: fillAll(environment) };
    }
    case 'http':
    case 'sse':
      return { kind: transport.kind, url: fill(transport.url), headers: fillAll(transport.headers) };
    case 'other':
      return undefined;
  }
}

/** Equal for what Claude takes for the same server: the address, or the command and its arguments. */
export function reachedBy(transport: ExpandedTransport): string {
  return JSON.stringify(transport.kind === 'stdio' ? [transport.command, ...transport.args] : transport.url);
}
