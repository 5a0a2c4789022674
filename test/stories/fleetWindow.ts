import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import * as z from 'zod/mini';
import type { Agent } from '../../src/core/fleet/agent.ts';
import { statePaths } from '../../src/node/statePaths.ts';
import { agentSchema } from '../../src/protocol/fleetState.ts';
import { AgentTerminals } from '../harness/agentTerminals.ts';
import type { ClaudeVersion } from '../harness/claude.ts';
import { closePort, gatewayProcesses } from '../harness/gatewayProcesses.ts';
import { waitFor } from '../harness/waitFor.ts';
import { WrappedClaude } from '../harness/wrappedClaude.ts';
import { type DemoFleet, type DemoOptions, prepareDemoFleet } from '../host/demoFleet.ts';
import { type HostServer, startServer } from '../host/server.ts';
import { type Browser, launchBrowser, type Page } from '../host/workbench.ts';
import { EditorWindow } from './editorWindow.ts';
import { lastLook } from './lastLook.ts';

/** How a story tells what it does, and where it leaves pictures. */
export interface StoryReport {
  say(line: string): void;
  /** How everything looked when the story failed. */
  lastLook(text: string): void;
  /** Absent: no pictures are kept. */
  readonly pictures?: string;
}

const rowsSchema = z.object({ agents: z.array(z.object({ name: z.string(), life: z.string(), worst: z.string() })) });

/** A fleet of agents on the real claude, two where nothing else is said, watched in a real VS Code that can be closed and opened again. */
export class FleetWindow {
  private server: HostServer | undefined;
  private browser: Browser | undefined;
  /** The first one is what a story with one window means. */
  private windows: readonly EditorWindow[] = [];
  private pictureCount = 0;
  private readonly terminals: AgentTerminals;

  private constructor(
    readonly fleet: DemoFleet,
    private readonly report: StoryReport,
  ) {
    this.terminals = new AgentTerminals(this.paths.fleetSocket, { inputMs: 30_000, echoMs: 10_000 });
  }

  get editor(): EditorWindow {
    const [window] = this.windows;
    if (window === undefined) throw new Error('the window is closed');
    return window;
  }

  get page(): Page {
    return this.editor.page;
  }

  get paths(): ReturnType<typeof statePaths> {
    return statePaths(this.fleet.stateDirectory);
  }

  async openEditor(): Promise<void> {
    this.server = await startServer({ ...this.fleet, mode: 'plain' });
    this.browser = await launchBrowser({ window: 'headless' });
    await this.openAnother();
  }

  /** Opens one more window of the same VS Code, with an extension host of its own. */
  async openAnother(): Promise<EditorWindow> {
    if (this.browser === undefined || this.server === undefined) throw new Error('VS Code is closed');
    const window = await EditorWindow.open(this.browser, this.server, this.fleet.workspace);
    this.windows = [...this.windows, window];
    await window.showBowline();
    return window;
  }

  /** Creates all agents as a person does: New Agent, a name, a folder of the workspace. */
  async createAgents(): Promise<void> {
    for (const { name } of this.fleet.agents) await this.createAgent(name);
  }

  /** Creates one of the fleet's agents. */
  async createAgent(name: string): Promise<void> {
    await this.editor.answerNewAgent(name);
    await waitFor(`agent ${name}`, async () => name in (await this.bindings()), { timeoutMs: 30_000 });
  }

  /** Ends VS Code as a closed laptop lid would: browser and server go, everything of Bowline's own stays. */
  async closeEditor(): Promise<void> {
    await this.browser?.close();
    await this.server?.dispose();
    this.browser = this.server = undefined;
    this.windows = [];
  }

  async dispose(): Promise<void> {
    await this.closeEditor();
    await this.fleet.dispose();
  }

  /** The window, or another one, as a picture, in the order of the story. */
  async picture(name: string, window = this.editor): Promise<void> {
    if (this.report.pictures === undefined) return;
    await mkdir(this.report.pictures, { recursive: true });
    this.pictureCount += 1;
    const file = path.join(this.report.pictures, `${String(this.pictureCount).padStart(2, '0')}-${name}.png`);
    await window.page.screenshot({ path: file });
    this.report.say(`picture ${path.basename(file)}`);
  }

  /** Runs a story in a window of its own; where it fails, the last look of everything is kept, too. */
  static async play(
    version: ClaudeVersion,
    report: StoryReport,
    story: (window: FleetWindow) => Promise<void>,
    options: DemoOptions = {},
  ): Promise<void> {
    const window = new FleetWindow(await prepareDemoFleet({ kind: 'scripted', version }, options), report);
    try {
      await window.openEditor();
      await story(window);
    } catch (error) {
      for (const shown of window.windows) await window.picture('failed', shown).catch(() => undefined);
      report.lastLook(await lastLook(window.windows, window.fleet, window.paths));
      throw error;
    } finally {
      await window.dispose();
    }
  }

  /** The same with a wrapper around claude that makes launches deaf, silent or slow as the story wants. */
  static async playWrapped(
    version: ClaudeVersion,
    report: StoryReport,
    story: (window: FleetWindow, claude: WrappedClaude) => Promise<void>,
    options: Omit<DemoOptions, 'program'> = {},
  ): Promise<void> {
    let claude: WrappedClaude | undefined;
    const program = async (directory: string, binary: string): Promise<string> => {
      claude = await WrappedClaude.create(directory, binary);
      return claude.program;
    };
    await FleetWindow.play(
      version,
      report,
      async (window) => {
        if (claude === undefined) throw new Error('the agents run no wrapper');
        await story(window, claude);
      },
      { ...options, program },
    );
  }

  /** Text of the status bar item. */
  status(): Promise<string> {
    return this.editor.status();
  }

  waitForStatus(text: RegExp, options: { readonly timeoutMs: number }): Promise<string> {
    return this.editor.waitForStatus(text, options);
  }

  /** Waits until the Binding Health view shows a text. */
  waitForHealthText(text: RegExp, options: { readonly timeoutMs: number }): Promise<void> {
    return this.editor.waitForHealthText(text, options);
  }

  async agent(name: string): Promise<Agent> {
    return z.object({ agent: agentSchema }).parse(await this.fleet.request('GET', `/agents/${name}`)).agent;
  }

  async agents(): Promise<readonly Agent[]> {
    const agents: Agent[] = [];
    for (const name of Object.keys(await this.bindings())) agents.push(await this.agent(name));
    return agents;
  }

  /** Life and binding state of every agent, by name, as the gateway tells them to scripts. */
  async bindings(): Promise<Readonly<Record<string, string>>> {
    const { agents } = rowsSchema.parse(await this.fleet.request('GET', '/agents'));
    return Object.fromEntries(agents.map(({ name, life, worst }) => [name, `${life}, ${worst}`]));
  }

  /** Waits until every agent's binding is in `wanted`, for `bound` also until it is ready; resolves with the milliseconds that took. */
  async waitForBindings(wanted: string, options: { readonly timeoutMs: number }): Promise<number> {
    const started = performance.now();
    let last: Readonly<Record<string, string>> = {};
    try {
      await waitFor(
        `all agents ${wanted}`,
        async () => {
          last = await this.bindings();
          const states = Object.values(last);
          return (
            states.length > 0 &&
            states.every((state) => state.endsWith(`, ${wanted}`) && (wanted !== 'bound' || state.startsWith('ready')))
          );
        },
        { ...options, everyMs: 50 },
      );
    } catch (error) {
      throw new Error(`bindings are ${JSON.stringify(last)}, not ${wanted}`, { cause: error });
    }
    return performance.now() - started;
  }

  async waitForActivity(name: string, wanted: string, options: { readonly timeoutMs: number }): Promise<void> {
    await waitFor(`${name} ${wanted}`, async () => (await this.agent(name)).activity.kind === wanted, options);
  }

  /** tmux as the person at a terminal has it. */
  tmux(...args: readonly string[]): Promise<string> {
    return this.terminals.tmux(...args);
  }

  /** What stands on an agent's screen. */
  screen(name: string): Promise<string> {
    return this.terminals.screen(name);
  }

  /** Waits for an empty input line. */
  waitForInput(name: string): Promise<void> {
    return this.terminals.untilInput(name);
  }

  /** Types a prompt into an agent as a person would. */
  prompt(name: string, text: string): Promise<void> {
    return this.terminals.prompt(name, text);
  }

  /** Asks an agent for a tool call, of `bowline-self` by default, and resolves with the answer as the model got it. */
  async callTool(
    name: string,
    tool: string,
    { server = 'bowline-self', ...options }: { readonly timeoutMs: number; readonly server?: string },
  ): Promise<string> {
    const { model } = this.fleet;
    if (model === undefined) throw new Error('no scripted model');
    const before = model.requests.length;
    await this.prompt(name, `CALL mcp__${server}__${tool}`);
    return waitFor(
      `the answer of ${tool} to ${name}`,
      () => model.requests.slice(before).flatMap(({ toolResults }) => toolResults)[0],
      options,
    );
  }

  /** Pids of the supervising loop, the holder and the gateway. */
  async gatewayProcesses(): Promise<{ readonly loop: number; readonly holder: number; readonly gateway: number }> {
    const { gateway, ...others } = await gatewayProcesses(this.paths);
    if (gateway === undefined) throw new Error('the holder runs no gateway');
    return { ...others, gateway };
  }

  /** Closes the port of the fleet; nothing can open it until `open` is called. */
  closePort(): Promise<{ open(): Promise<void> }> {
    return closePort(this.paths);
  }
}
