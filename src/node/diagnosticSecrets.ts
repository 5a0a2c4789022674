import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Secrets } from '../core/diagnostics/redact.ts';
import type { AgentConfiguration } from '../core/fleet/configuration.ts';
import type { FleetState } from '../core/fleet/state.ts';
import type { Environment } from './environment.ts';
import type { StatePaths } from './statePaths.ts';

/** A file that is not whole may hold a secret all the same: it is then taken as one. */
const tokenSchema = z.object({ token: z.string() });
const sessionsSchema = z.object({ sessions: z.array(z.object({ id: z.string() })) });
const contextSchema = z.object({ context: z.string(), summary: z.exactOptional(z.string()) });
const itemsSchema = z.object({ items: z.array(z.object({ text: z.string() })) });
const handoverSchema = z.object({ text: z.string() });
const mcpConfigSchema = z.object({
  mcpServers: z.record(
    z.string(),
    z.object({
      headers: z.exactOptional(z.record(z.string(), z.string())),
      env: z.exactOptional(z.record(z.string(), z.string())),
    }),
  ),
});

/** Variables whose value opens something. */
const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|COOKIE/i;

/** Headers that name somebody and open nothing. */
const plainHeaders = new Set(['x-agent-name', 'x-agent-launch']);

/** Everything in the state directory and the fleet that must not leave the machine. Files that are missing have none. */
export async function knownSecrets(paths: StatePaths, state: FleetState, environment: Environment): Promise<Secrets> {
  // Of this process; agents get some of them, such as ANTHROPIC_API_KEY.
  const keys = Object.entries(environment).flatMap(([name, value]) => (secretName.test(name) && value) || []);
  const texts: string[] = [];
  const values: string[] = [];
  await fromJson(paths.endpoint, tokenSchema, keys, ({ token }) => keys.push(token));
  await fromJson(paths.mcpSessions, sessionsSchema, keys, ({ sessions }) => keys.push(...sessions.map(({ id }) => id)));
  for (const name of await namesIn(paths.agents)) {
    const files = paths.agent(name);
    keys.push(...(await lines(files.key)));
    await fromJson(files.mcpConfig, mcpConfigSchema, keys, ({ mcpServers }) => {
      for (const { headers = {}, env = {} } of Object.values(mcpServers)) {
        const secret = Object.entries(headers).filter(([header]) => !plainHeaders.has(header.toLowerCase()));
        keys.push(...secret.map(([, value]) => value.replace(/^Bearer /i, '')));
        values.push(...Object.values(env));
      }
    });
    await fromJson(files.handover, handoverSchema, texts, ({ text }) => texts.push(text));
    for (const file of [files.inbox, files.notes]) await textsOfItems(file, texts);
    for (const prompt of await namesIn(files.prompts)) texts.push(...(await whole(join(files.prompts, prompt))));
  }
  for (const file of await namesIn(paths.contexts)) {
    await fromJson(join(paths.contexts, file), contextSchema, texts, ({ context, summary }) => {
      texts.push(context, summary ?? '');
    });
  }
  await textsOfItems(paths.sharedNotes, texts);
  values.push(...Object.values(state.settings.environment));
  for (const { configuration, relaunch } of Object.values(state.agents)) {
    for (const one of [configuration, ...(relaunch === undefined ? [] : [relaunch.from])]) {
      texts.push(...(one.systemPrompt === undefined ? [] : [one.systemPrompt]));
      values.push(...Object.values(one.environment), ...argumentValues(one));
    }
  }
  return { keys, texts, values, home: homedir() };
}

async function textsOfItems(path: string, texts: string[]): Promise<void> {
  await fromJson(path, itemsSchema, texts, ({ items }) => texts.push(...items.map(({ text }) => text)));
}

/** What follows an option, be it after `=` or as the next word. */
function argumentValues({ extraArguments }: AgentConfiguration): readonly string[] {
  return extraArguments.flatMap((word) => (word.startsWith('-') ? (/=(.*)$/s.exec(word)?.[1] ?? []) : word));
}

async function fromJson<T>(
  path: string,
  schema: z.ZodMiniType<T>,
  otherwise: string[],
  take: (value: T) => void,
): Promise<void> {
  for (const text of await whole(path)) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // Below it counts as a secret by itself.
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) take(parsed.data);
    else otherwise.push(...(text.match(/[^\s"]{16,}/g) ?? []));
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(() => []);
}

async function lines(path: string): Promise<readonly string[]> {
  return (await whole(path)).flatMap((text) => text.split('\n')).filter((line) => line !== '');
}

async function whole(path: string): Promise<readonly string[]> {
  try {
    return [await readFile(path, 'utf8')];
  } catch {
    // There is none, or nobody here can read it.
    return [];
  }
}
