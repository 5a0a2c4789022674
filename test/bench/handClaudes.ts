import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isSameProcess, processIdentity } from '../../src/node/processIdentity.ts';
import { AgentTerminals } from '../harness/agentTerminals.ts';
import { claudeBinary, claudeEnvironment, type ClaudeVersion, scriptedApiKey } from '../harness/claude.ts';
import type { FleetRig } from '../harness/fleetRig.ts';
import { waitFor } from '../harness/waitFor.ts';
import { PlainServer } from './plainServer.ts';

const run = promisify(execFile);
const patience = { timeoutMs: 120_000, everyMs: 5 };

/** What claude is started with. */
interface HandClaudesOptions {
  /** Private; the caller ends what runs there. */
  readonly directory: string;
  /** Configuration of the tmux server. */
  readonly tmuxConfiguration: string;
  readonly claude: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts claudes as a person does, in a tmux of their own, all with one MCP server of the public library. */
export class HandClaudes {
  readonly terminals: AgentTerminals;

  private constructor(
    private readonly options: HandClaudesOptions,
    readonly server: PlainServer,
  ) {
    this.terminals = new AgentTerminals(this.socket, { inputMs: patience.timeoutMs, echoMs: patience.timeoutMs });
  }

  /** On the model and in the home of a rig's agents, whose `dispose` ends them, too. */
  static async beside({ root, paths, model }: FleetRig, version: ClaudeVersion): Promise<HandClaudes> {
    const options = {
      directory: path.join(root, 'hand'),
      tmuxConfiguration: paths.tmuxConfig,
      claude: claudeBinary(version),
      environment: claudeEnvironment({
        home: path.join(root, 'home'),
        modelUrl: model.url,
        apiKey: scriptedApiKey,
      }),
    };
    await mkdir(options.directory, { recursive: true });
    const claudes = new HandClaudes(options, await PlainServer.start());
    await claudes.tmux('new-session', '-d', '-s', 'keeper', '--', 'tail', '-f', '/dev/null');
    return claudes;
  }

  /** Starts one in its working directory, with the conversation of that id where one is given; its pid. */
  async start(name: string, workingDirectory: string, { resume }: { readonly resume?: string } = {}): Promise<number> {
    const { environment } = this.options;
    const configuration = path.join(this.options.directory, `${name}.json`);
    await writeFile(configuration, this.server.configurationFor(name));
    const variables = Object.entries(environment).flatMap(([variable, value]) => ['-e', `${variable}=${value}`]);
    const pid = await this.tmux(
      ...['new-session', '-d', '-P', '-F', '#{pane_pid}', '-s', name, '-c', workingDirectory, ...variables],
      ...['--', ...this.command(name), ...(resume === undefined ? [] : ['--resume', resume])],
    );
    return Number(pid);
  }

  /** Ends one and starts it anew with the latest conversation of its directory, as a script that restarts agents does. */
  async restartWithContinue(name: string): Promise<void> {
    await this.tmux('respawn-pane', '-k', '-t', `=${name}:`, '--', ...this.command(name), '--continue');
  }

  /** When it asked for the tools, by `performance.now()`. */
  async untilListed(name: string): Promise<number> {
    return waitFor(`tools/list of ${name}`, () => this.server.listedAt(name), patience);
  }

  /** Its end takes processor time, which is not to be counted to what comes next. */
  async end(name: string, pid: number): Promise<void> {
    const identity = await processIdentity(pid);
    await this.tmux('kill-session', '-t', `=${name}`);
    if (identity === undefined) return;
    await waitFor(`the end of ${name}`, async () => (await isSameProcess(identity)) === 'gone', patience);
  }

  async dispose(): Promise<void> {
    await this.server.close();
  }

  private command(name: string): readonly string[] {
    const { claude, directory } = this.options;
    return [claude, `--mcp-config=${path.join(directory, `${name}.json`)}`, '--permission-mode=default'];
  }

  private get socket(): string {
    return path.join(this.options.directory, 'hand.sock');
  }

  /** What tmux prints. */
  private async tmux(...args: readonly string[]): Promise<string> {
    const { directory, tmuxConfiguration } = this.options;
    const env = { PATH: process.env['PATH'], TMPDIR: directory, LANG: 'C.UTF-8' };
    const { stdout } = await run('tmux', ['-f', tmuxConfiguration, '-S', this.socket, ...args], {
      cwd: directory,
      env,
    });
    return stdout;
  }
}
