import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import * as z from 'zod';
import type { Agent } from '../../src/core/fleet/state.ts';
import { holderFileSchema } from '../../src/protocol/endpointFile.ts';
import { statePaths } from '../../src/node/statePaths.ts';
import { agentSchema } from '../../src/protocol/fleetState.ts';
import type { ClaudeVersion } from '../harness/claude.ts';
import { waitFor } from '../harness/waitFor.ts';
import { type DemoExtension, type DemoFleet, prepareDemoFleet } from '../host/demoFleet.ts';
import { type HostServer, startServer } from '../host/server.ts';
import {
  type Browser,
  launchBrowser,
  openView,
  openWorkbench,
  type Page,
  runCommand,
  statusText,
} from '../host/workbench.ts';

const run = promisify(execFile);

/** How a story tells what it does, and where it leaves pictures. */
export interface StoryReport {
  say(line: string): void;
  /** Absent: no pictures are kept. */
  readonly pictures?: string;
}

const rowsSchema = z.object({ agents: z.array(z.object({ name: z.string(), life: z.string(), worst: z.string() })) });

/** Id of the status bar item in the page: publisher, extension, item. */
const statusItem = 'bowline.bowline.fleet';

/** A fleet of two agents on the real claude, watched in a real VS Code that can be closed and opened again. */
export class FleetWindow {
  private server: HostServer | undefined;
  private browser: Browser | undefined;
  private shown: Page | undefined;
  private pictureCount = 0;

  private constructor(
    readonly fleet: DemoFleet,
    private readonly report: StoryReport,
  ) {}

  /** Prepares the fleet and opens the window on the Bowline sidebar. Nothing is left over when it fails. */
  private static async open(
    version: ClaudeVersion,
    report: StoryReport,
    extension: DemoExtension,
  ): Promise<FleetWindow> {
    const fleet = await prepareDemoFleet({ kind: 'scripted', version }, extension);
    const window = new FleetWindow(fleet, report);
    try {
      await window.openEditor();
      return window;
    } catch (error) {
      await window.dispose();
      throw error;
    }
  }

  get page(): Page {
    if (this.shown === undefined) throw new Error('the window is closed');
    return this.shown;
  }

  get paths(): ReturnType<typeof statePaths> {
    return statePaths(this.fleet.stateDirectory);
  }

  async openEditor(): Promise<void> {
    this.server = await startServer({ ...this.fleet, mode: 'plain' });
    this.browser = await launchBrowser({ window: 'headless' });
    this.shown = await openWorkbench(this.browser, this.server, { folder: this.fleet.workspace });
    await openView(this.shown, 'Bowline');
  }

  /** Creates both agents as a person does: New Agent, a name, a folder of the workspace. */
  async createAgents(): Promise<void> {
    for (const { name } of this.fleet.agents) await this.createAgent(name);
  }

  /** Creates one of the fleet's two agents. */
  async createAgent(name: string): Promise<void> {
    const { page } = this;
    await runCommand(page, 'Bowline: New Agent');
    const title = page.locator('.quick-input-title');
    await title.filter({ hasText: '1/2' }).waitFor({ timeout: 30_000 });
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await title.filter({ hasText: '2/2' }).waitFor({ timeout: 10_000 });
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await waitFor(`agent ${name}`, async () => name in (await this.bindings()), { timeoutMs: 15_000 });
  }

  /** Ends VS Code as a closed laptop lid would: browser and server go, everything of Bowline's own stays. */
  async closeEditor(): Promise<void> {
    await this.browser?.close();
    await this.server?.dispose();
    this.browser = this.server = this.shown = undefined;
  }

  async dispose(): Promise<void> {
    await this.closeEditor();
    await this.fleet.dispose();
  }

  /** The window as a picture, in the order of the story. */
  async picture(name: string): Promise<void> {
    if (this.report.pictures === undefined) return;
    await mkdir(this.report.pictures, { recursive: true });
    this.pictureCount += 1;
    const file = path.join(this.report.pictures, `${String(this.pictureCount).padStart(2, '0')}-${name}.png`);
    await this.page.screenshot({ path: file });
    this.report.say(`picture ${path.basename(file)}`);
  }

  /** Runs a story in a window of its own; where it fails, the last look of the window is kept, too. */
  static async play(
    version: ClaudeVersion,
    report: StoryReport,
    story: (window: FleetWindow) => Promise<void>,
    extension: DemoExtension = {},
  ): Promise<void> {
    const window = await FleetWindow.open(version, report, extension);
    try {
      await story(window);
    } catch (error) {
      if (window.shown !== undefined) await window.picture('failed');
      throw error;
    } finally {
      await window.dispose();
    }
  }

  /** Text of the status bar item. */
  status(): Promise<string> {
    return statusText(this.page, statusItem);
  }

  async waitForStatus(text: RegExp, options: { readonly timeoutMs: number }): Promise<string> {
    let last = '';
    try {
      return await waitFor(
        `status bar ${String(text)}`,
        async () => {
          last = await this.status();
          return text.test(last) ? last : undefined;
        },
        { ...options, everyMs: 100 },
      );
    } catch (error) {
      throw new Error(`the status bar says "${last}", not ${String(text)}`, { cause: error });
    }
  }

  /** Waits until the Binding Health view shows a text. */
  async waitForHealthText(text: RegExp, options: { readonly timeoutMs: number }): Promise<void> {
    let last = '';
    try {
      await waitFor(
        `Binding Health ${String(text)}`,
        async () => {
          for (const frame of this.page.frames()) {
            if (!frame.url().includes('fake.html')) continue;
            last = await frame.locator('body').innerText({ timeout: 1_000 });
            if (text.test(last)) return true;
          }
          return false;
        },
        { ...options, everyMs: 200 },
      );
    } catch (error) {
      throw new Error(`Binding Health does not show ${String(text)} but:\n${last}`, { cause: error });
    }
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
  async tmux(...args: string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-S', this.paths.fleetSocket, ...args]);
    return stdout;
  }

  /** What stands on an agent's screen. */
  screen(name: string): Promise<string> {
    return this.tmux('capture-pane', '-p', '-t', `=${name}:`);
  }

  /** Types a prompt into an agent as a person would: text, a look at the input line, Enter. */
  async prompt(name: string, text: string): Promise<void> {
    await this.tmux('send-keys', '-t', `=${name}:`, '-l', text);
    await waitFor(`${text} in the input line of ${name}`, async () => (await this.screen(name)).includes(text));
    await this.tmux('send-keys', '-t', `=${name}:`, 'Enter');
  }

  /** Asks an agent for a tool call and resolves with the tool's answer, as the model got it. */
  async callTool(name: string, tool: string, options: { readonly timeoutMs: number }): Promise<string> {
    const { model } = this.fleet;
    if (model === undefined) throw new Error('no scripted model');
    const before = model.requests.length;
    await this.prompt(name, `CALL mcp__bowline-self__${tool}`);
    return waitFor(
      `the answer of ${tool} to ${name}`,
      () => model.requests.slice(before).flatMap(({ toolResults }) => toolResults)[0],
      options,
    );
  }

  /** Pids of the supervising loop, the holder and the gateway. */
  async gatewayProcesses(): Promise<{ readonly loop: number; readonly holder: number; readonly gateway: number }> {
    const holder = holderFileSchema.parse(JSON.parse(await readFile(this.paths.holder, 'utf8')));
    if (holder.child === undefined) throw new Error('the holder runs no gateway');
    const { stdout } = await run('ps', ['-o', 'ppid=', '-p', String(holder.pid)]);
    return { loop: Number(stdout), holder: holder.pid, gateway: holder.child.pid };
  }
}
