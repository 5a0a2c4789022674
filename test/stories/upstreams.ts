import { deepStrictEqual, match } from 'node:assert/strict';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { claudeVersions } from '../harness/claude.ts';
import { NetworkServer, WorkServers } from '../harness/upstreams/workServers.ts';
import { waitFor } from '../harness/waitFor.ts';
import { FleetWindow, type StoryReport } from './fleetWindow.ts';
import type { Story } from './story.ts';

const patience = { timeoutMs: 60_000, everyMs: 100 };
const inTheWindow = { timeoutMs: 60_000 };

/** Longer than any server lives that is killed while it works on a call, in milliseconds. */
const endless = 600_000;

/** What the model gets for a call that was under way when its server was killed. */
const outcomeUnknown = (server: string): RegExp =>
  new RegExp(`The MCP server .{0,2}"${server}.{0,2}" did not answer: .* The outcome is unknown`);

/** What the sidebar shows of a server that fails. */
const degraded = (server: string, reason: string): RegExp =>
  new RegExp(`^${server} ?degraded: It is bound, but the server "${server}" behind it fails: ${reason}`);

/** An agent's own MCP servers are killed and started again while it is idle and while it calls; it is left as it is. */
export const upstreams: Story = {
  name: "an agent's MCP servers killed and started again, idle and while it calls",
  versions: claudeVersions,
  run: (version, report) =>
    FleetWindow.play(
      version,
      report,
      async (window) => {
        const work = await WorkServers.create(path.dirname(window.fleet.workspace));
        // As servers after the SDK's example do, it answers 400 for a session that it does not know.
        // Stories on several versions are played at the same time.
        const fromPort = 19_000 + 100 * claudeVersions.indexOf(version);
        const web = await NetworkServer.start(work, { lostStatus: 400, fromPort });
        try {
          await new UpstreamsStory(window, report, work, web).play();
        } finally {
          await web.kill();
        }
      },
      { names: ['ada'] },
    ),
};

class UpstreamsStory {
  private calls = 0;
  /** What the model must have got, in order. */
  private readonly expected: RegExp[] = [];

  constructor(
    private readonly window: FleetWindow,
    private readonly report: StoryReport,
    private readonly work: WorkServers,
    private readonly web: NetworkServer,
  ) {}

  async play(): Promise<void> {
    await this.begin();
    const before = await this.fingerprint();
    await this.killedIdle();
    await this.killedCalling('web', async () => {
      await this.web.kill();
      return () => this.web.restart();
    });
    await this.killedCalling('tool', () => {
      this.killTool();
      return Promise.resolve(() => Promise.resolve());
    });
    deepStrictEqual(await this.fingerprint(), before);
    await this.onlyItsPrompts();
  }

  private async begin(): Promise<void> {
    const { window, work, web } = this;
    const directory = path.join(path.dirname(window.fleet.workspace), 'ada');
    const mcpServers = { tool: work.stdioDefinition, web: web.definition('http') };
    await writeFile(path.join(directory, '.mcp.json'), JSON.stringify({ mcpServers }));
    await mkdir(path.join(directory, '.claude'));
    const settings = { enableAllProjectMcpServers: true, permissions: { allow: ['mcp__tool', 'mcp__web'] } };
    await writeFile(path.join(directory, '.claude/settings.local.json'), JSON.stringify(settings));
    await window.createAgent('ada');
    await window.waitForBindings('bound', { timeoutMs: 90_000 });
    await window.waitForStatus(/1 bound/, inTheWindow);
    await window.editor.expandAgent('ada');
    for (const key of ['send-keys', 'paste-buffer']) {
      await window.tmux('set-hook', '-g', `after-${key}`, 'set-option -ag @typed x');
    }
  }

  /** Each is away for a moment; the sidebar says so, and that it is back, before the agent has called anything. */
  private async killedIdle(): Promise<void> {
    const { window, work, web, report } = this;
    const { program } = work;
    await rename(program, `${program}.aside`);
    this.killTool();
    await window.editor.waitForAgentRow(degraded('tool', 'its process'), inTheWindow);
    await rename(`${program}.aside`, program);
    await web.kill();
    await window.editor.waitForAgentRow(degraded('web', `.*ECONNREFUSED 127.0.0.1:${web.port}`), inTheWindow);
    await window.waitForStatus(/1 degraded/, inTheWindow);
    await window.picture('degraded');
    await web.restart();
    await window.waitForStatus(/1 bound/, inTheWindow);
    for (const row of [/^tool ?bound/, /^web ?bound/]) await window.editor.waitForAgentRow(row, inTheWindow);
    await window.picture('bound');
    await this.callWorks('tool');
    await this.callWorks('web');
    report.say('both killed while the agent is idle: degraded with name and reason, then bound; the next calls work');
  }

  /** `kill` resolves with what starts the server again. */
  private async killedCalling(server: 'tool' | 'web', kill: () => Promise<() => Promise<void>>): Promise<void> {
    const { window, work, report } = this;
    const { id, answer } = this.call(server, endless);
    await waitFor('the call to be worked on', () => work.effects.includes(`${id} ada`), patience);
    const restart = await kill();
    match(await answer, outcomeUnknown(server));
    this.expected.push(outcomeUnknown(server));
    await window.waitForActivity('ada', 'idle', inTheWindow);
    if (server === 'web') await window.waitForStatus(/1 degraded/, inTheWindow);
    await restart();
    await this.callWorks(server);
    await window.waitForStatus(/1 bound/, inTheWindow);
    report.say(`${server} killed while it works on a call: told as unknown; the next call works`);
  }

  private killTool(): void {
    const pid = this.work.stdioProcess('ada');
    if (pid === undefined) throw new Error('no server over stdio runs');
    process.kill(pid, 'SIGKILL');
  }

  private async callWorks(server: string): Promise<void> {
    const { id, answer } = this.call(server, 0);
    const wanted = new RegExp(`"${id}.*ada(?!.*ERR$)`);
    match(await answer, wanted);
    this.expected.push(wanted);
    await this.window.waitForActivity('ada', 'idle', inTheWindow);
  }

  /** Asks the agent; `answer` is what the model gets. */
  private call(server: string, milliseconds: number): { readonly id: string; readonly answer: Promise<string> } {
    const id = `${server}-${++this.calls}`;
    const input = JSON.stringify({ id, milliseconds });
    return { id, answer: this.window.callTool('ada', `work ${input}`, { server, timeoutMs: 60_000 }) };
  }

  /** What must be the same before and after. */
  private async fingerprint(): Promise<unknown> {
    const { life, launchCount, session, bindings, incidents } = await this.window.agent('ada');
    if (life.kind !== 'running') throw new Error(`ada is ${life.kind}`);
    return {
      ...{ launch: life.running.launch.id, pid: life.running.process.pid, launchCount, incidents },
      conversation: session?.id,
      mcpSessions: Object.entries(bindings).map(([server, binding]) => [server, binding.session]),
    };
  }

  /** Nobody but this story typed anything, every call was carried out once at most, and this is what the model got. */
  private async onlyItsPrompts(): Promise<void> {
    const { window, work, calls, expected } = this;
    const typed = (await window.tmux('show-options', '-gqv', '@typed')).trim();
    const { transcriptPath = '' } = (await window.agent('ada')).session ?? {};
    // A line of another type may hold the same message once more (claude 2.1.332).
    const results = (await readFile(transcriptPath, 'utf8'))
      .split('\n')
      .filter((line) => line.includes('"toolUseResult":'));
    deepStrictEqual(
      [typed.length, work.effects.length, new Set(work.effects).size, results.length],
      [2 * calls, calls, calls, calls],
      results.join('\n'),
    );
    for (const [index, wanted] of expected.entries()) match(results[index] ?? '', wanted);
  }
}
