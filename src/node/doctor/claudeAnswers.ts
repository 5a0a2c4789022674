import { join } from 'node:path';
import * as z from 'zod/mini';
import type { LoginFacts, TrustFacts } from '../../core/doctor/claudeChecks.ts';
import { claudeDirectory, claudeFile } from '../claudeDirectory.ts';
import { exists, readJsonFile } from '../files.ts';
import { upwards } from '../mcpConfiguration.ts';

/** Of a key, Claude remembers its last characters together with the answer (measured, claude 2.1.160 and 2.1.332). */
const rememberedCharacters = 20;

/** A part that is not as it should be says nothing. */
const texts = z.catch(z.array(z.string()), []);
const answersSchema = z.object({
  hasCompletedOnboarding: z.catch(z.boolean(), false),
  oauthAccount: z.catch(z.optional(z.looseObject({})), undefined),
  customApiKeyResponses: z.catch(z.object({ approved: texts, rejected: texts }), { approved: [], rejected: [] }),
  projects: z.catch(
    z.record(
      z.string(),
      z.catch(z.object({ hasTrustDialogAccepted: z.catch(z.boolean(), false) }), { hasTrustDialogAccepted: false }),
    ),
    {},
  ),
});
const settingsSchema = z.object({ apiKeyHelper: z.catch(z.optional(z.string()), undefined) });

const loginVariables = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_API_KEY',
] as const;

type Variables = Readonly<Record<string, string>>;

/** What Claude's files say of a login, for a process with this environment. Reads no credentials, only whether they are there. */
export async function loginFacts(environment: Variables, program: string): Promise<LoginFacts> {
  const directory = claudeDirectory(environment) ?? '~/.claude';
  const answers = await readAnswers(environment);
  const settings = await readJsonFile(join(directory, 'settings.json'), settingsSchema).catch(() => undefined);
  const key = environment['ANTHROPIC_API_KEY']?.slice(-rememberedCharacters) ?? '';
  const { approved = [], rejected = [] } = answers?.customApiKeyResponses ?? {};
  return {
    directory,
    variables: loginVariables.filter((name) => (environment[name] ?? '') !== ''),
    apiKey: approved.includes(key) ? 'approved' : rejected.includes(key) ? 'rejected' : 'not asked',
    keyHelper: settings?.kind === 'ok' && settings.value.apiKeyHelper !== undefined,
    account: answers?.oauthAccount !== undefined || (await exists(join(directory, '.credentials.json'))),
    onboarded: answers?.hasCompletedOnboarding === true,
    program,
  };
}

/** Whether Claude would ask for trust in these directories: what it trusts above one counts. */
export async function trustedDirectories(
  directories: readonly string[],
  environment: Variables,
): Promise<TrustFacts['directories']> {
  const projects = (await readAnswers(environment))?.projects ?? {};
  return directories.map((path) => ({
    path,
    isTrusted: upwards(path).some(
      (one) => Object.hasOwn(projects, one) && projects[one]?.hasTrustDialogAccepted === true,
    ),
  }));
}

async function readAnswers(environment: Variables): Promise<z.infer<typeof answersSchema> | undefined> {
  const path = claudeFile(environment);
  if (path === undefined) return undefined;
  const reading = await readJsonFile(path, answersSchema);
  if (reading.kind === 'damaged') throw new Error(`${path} cannot be read (${reading.reason})`);
  return reading.kind === 'ok' ? reading.value : undefined;
}
