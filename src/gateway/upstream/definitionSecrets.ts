import type { UpstreamDefinition } from './definition.ts';

/** Names whose values anybody may read; all others of an environment may be secrets. */
const openNames = new Set(['HOME', 'PATH', 'SHELL', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'PWD']);
const openPrefixes = ['LC_', 'XDG_', 'BOWLINE_'];

/** Shorter ones are too common a word to be looked for. */
const shortestSecret = 6;

/** What must not be told of a definition: its variables, its headers, and what its address says besides the place. */
export function secretsOf(definition: UpstreamDefinition): readonly string[] {
  if (definition.kind !== 'stdio') return [...Object.values(definition.headers), ...secretsOfAddress(definition.url)];
  const { environment, args } = definition;
  const values = Object.entries(environment)
    .filter(([name]) => !openNames.has(name) && !openPrefixes.some((prefix) => name.startsWith(prefix)))
    .map(([, value]) => value);
  const given = args.flatMap((argument, index) => {
    const option = /^--?[\w-]*(?:key|token|secret|password|auth)[\w-]*(?:=(.*))?$/is.exec(argument);
    return option === null ? [] : [option[1] ?? args[index + 1] ?? ''];
  });
  return [...values, ...given];
}

/**
 * What is told of an upstream over HTTP, without the secrets of its definition: a server may repeat what it was sent. Of a
 * stdio server only its own words are cleaned (`PipeWords`): its variables are words of the sentences, too.
 */
export function withoutSecrets(definition: UpstreamDefinition, text: string): string {
  if (definition.kind === 'stdio') return text;
  // `Bearer abc` is also told as `abc`.
  const spellings = secretsOf(definition).flatMap((secret) => [secret, ...secret.split(/\s+/)]);
  const secrets = [...new Set(spellings.flatMap((secret) => [secret, encodeURIComponent(secret)]))];
  return secrets
    .filter((secret) => secret.length >= shortestSecret && !/^(?:bearer|digest)$/i.test(secret))
    .sort((a, b) => b.length - a.length)
    .reduce((clean, secret) => clean.replaceAll(secret, '<key>'), text);
}

function secretsOfAddress(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  return [username, password, ...searchParams.values()].filter((part) => part !== '');
}
