import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as z from 'zod/mini';
import {
  claudeBinary,
  claudeEnvironment,
  prepareClaudeHome,
  scriptedApiKey,
  type ClaudeVersion,
} from '../harness/claude.ts';
import { endProcesses } from '../harness/processes.mjs';
import { startScriptedModel, type ScriptedModel } from '../harness/scriptedModel.ts';
import { waitFor } from '../harness/waitFor.ts';
import { installExtension } from './server.ts';
import { repository } from './setup.mjs';

/** Which `claude` the agents are: a pinned one that talks to the scripted model, or the person's own with its login. */
export type DemoClaude = { readonly kind: 'scripted'; readonly version: ClaudeVersion } | { readonly kind: 'own' };

/** An agent of the demo before Bowline knows it. */
interface DemoAgent {
  readonly name: string;
  readonly directory: string;
}

/** Everything that a VS Code with Bowline and two agents needs, in one temporary directory. */
export interface DemoFleet {
  /** A `.code-workspace` file with one folder for each agent. */
  readonly workspace: string;
  readonly agents: readonly DemoAgent[];
  /** The state directory of Bowline, `BOWLINE_HOME`. */
  readonly stateDirectory: string;
  readonly userDataDirectory: string;
  /** Holds Bowline as an installed extension. */
  readonly extensionsDirectory: string;
  /** User settings of the window. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** To be added to the environment of VS Code. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absent when the agents talk to the person's own model. */
  readonly model: ScriptedModel | undefined;
  /**
   * Sends a request to the gateway's admin API and resolves with the JSON of its answer. Waits up to `timeoutMs` (60 s)
   * for a gateway that answers; rejects with status and body if the answer is an error.
   */
  request(method: 'GET' | 'POST', pathname: string, options?: RequestOptions): Promise<unknown>;
  /** Creates both agents, as soon as the gateway has the window's settings: it would start another `claude` before. */
  createAgents(options?: { readonly timeoutMs?: number }): Promise<void>;
  /** Ends everything that runs in or for this directory, the gateway and tmux included, and removes it. */
  dispose(): Promise<void>;
}

/** What a request to the admin API carries. */
interface RequestOptions {
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

/** The part of `endpoint.json` that a script needs (spec, 'Gateway', admin API). */
const endpointSchema = z.object({ port: z.int(), token: z.string() });

/** The part of `GET /agents` that tells which `claude` the gateway would start. */
const fleetSchema = z.object({ settings: z.object({ claudePath: z.string() }) });

/** What {@link prepareDemoFleet} prepares and installs. */
export interface DemoOptions {
  /** Names of the agents. Absent: ada and bo. */
  readonly names?: readonly string[];
  /** Makes the program that the agents run as `claude`, in a directory of its own; gets the path of the pinned one. */
  readonly program?: (directory: string, binary: string) => Promise<string>;
  /** Path of a .vsix. Absent: a link to this clone. */
  readonly vsix?: string;
  /** Instead: the same files as in the package, copied from this clone, and then changed in that directory. */
  readonly changed?: (directory: string) => Promise<void>;
}

const manifestSchema = z.object({ publisher: z.string(), name: z.string(), version: z.string() });

/** What an agent does whom Bowline asks to save. */
const saveCommand = 'CALL mcp__bowline-self__save_my_context {"context":"The demo: nothing is left to do."}';

/** Prepares the directory and, for a pinned `claude`, starts the scripted model. Starts nothing else. */
export async function prepareDemoFleet(claude: DemoClaude, options: DemoOptions = {}): Promise<DemoFleet> {
  const { vsix, changed, names = ['ada', 'bo'] } = options;
  // Short, because Unix sockets lie in it.
  const directory = await mkdtemp(path.join(os.tmpdir().length > 40 ? '/tmp' : os.tmpdir(), 'bowline-'));
  const below = (name: string): string => path.join(directory, name);
  const agents = names.map((name) => ({ name, directory: below(`work/${name}`) }));
  const model = claude.kind === 'scripted' ? await startScriptedModel() : undefined;
  model?.obey(/^Call the tool save_my_context /m, saveCommand);
  const stateDirectory = below('state');

  const request: DemoFleet['request'] = async (method, pathname, options = {}) => {
    const response = await waitFor(
      'the gateway to answer',
      async () => {
        const { port, token } = endpointSchema.parse(
          JSON.parse(await readFile(path.join(stateDirectory, 'endpoint.json'), 'utf8')),
        );
        return fetch(`http://127.0.0.1:${port}${pathname}`, {
          method,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
        });
      },
      { timeoutMs: options.timeoutMs ?? 60_000, everyMs: 200 },
    );
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${pathname}: ${response.status} ${text}`);
    const value: unknown = text === '' ? undefined : JSON.parse(text);
    return value;
  };

  const dispose = async (): Promise<void> => {
    await model?.dispose();
    await endProcesses(directory);
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  };

  try {
    for (const agent of agents) await mkdir(agent.directory, { recursive: true });
    for (const name of ['data', 'extensions', 'tmp']) await mkdir(below(name));
    const [userDataDirectory, extensionsDirectory] = [below('data'), below('extensions')];
    const environment = { BOWLINE_HOME: stateDirectory, TMPDIR: below('tmp') };
    if (changed !== undefined) await changed(await copyExtension(extensionsDirectory));
    else if (vsix === undefined) await symlink(repository, await extensionPlace(extensionsDirectory));
    else await installExtension(vsix, { userDataDirectory, extensionsDirectory, environment });
    const workspace = below('work/fleet.code-workspace');
    await writeFile(workspace, JSON.stringify({ folders: agents.map(({ name }) => ({ path: name })) }));
    const program = async (binary: string): Promise<string> => {
      return (await options.program?.(below('program'), binary)) ?? binary;
    };
    const settings = await claudeSettings(claude, { home: below('home'), agents, model, program });
    return {
      workspace,
      agents,
      stateDirectory,
      userDataDirectory,
      extensionsDirectory,
      settings,
      environment,
      model,
      request,
      createAgents: async (options = {}) => {
        const { 'bowline.claudePath': claudePath = 'claude' } = settings;
        const hasSettings = async (): Promise<boolean> =>
          fleetSchema.parse(await request('GET', '/agents', options)).settings.claudePath === claudePath;
        await waitFor("the window's settings to reach the gateway", hasSettings, { timeoutMs: 60_000, ...options });
        for (const body of agents) await request('POST', '/agents', { body, ...options });
      },
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** What lies, or is linked, there in a fresh extensions directory counts as installed (measured, VS Code 1.139.1). */
async function extensionPlace(extensionsDirectory: string): Promise<string> {
  const { publisher, name, version } = manifestSchema.parse(
    JSON.parse(await readFile(path.join(repository, 'package.json'), 'utf8')),
  );
  return path.join(extensionsDirectory, `${publisher}.${name}-${version}`);
}

async function copyExtension(extensionsDirectory: string): Promise<string> {
  const place = await extensionPlace(extensionsDirectory);
  for (const name of ['package.json', 'dist', 'media', 'node_modules/node-pty']) {
    await cp(path.join(repository, name), path.join(place, name), { recursive: true, dereference: true });
  }
  return place;
}

interface ClaudeSurroundings {
  readonly home: string;
  readonly agents: readonly DemoAgent[];
  readonly model: ScriptedModel | undefined;
  readonly program: (binary: string) => Promise<string>;
}

async function claudeSettings(
  claude: DemoClaude,
  { home, agents, model, program }: ClaudeSurroundings,
): Promise<Record<string, unknown>> {
  if (claude.kind === 'own' || model === undefined) return {};
  const apiKey = scriptedApiKey;
  await prepareClaudeHome({ home, apiKey, directories: agents.map((agent) => agent.directory) });
  return {
    'bowline.claudePath': await program(claudeBinary(claude.version)),
    'bowline.environment': claudeEnvironment({ home, apiKey, modelUrl: model.url }),
  };
}
