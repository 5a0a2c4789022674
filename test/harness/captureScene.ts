import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { claudeBinary, claudeEnvironment, type ClaudeVersion, scriptedApiKey } from './claude.ts';
import { waitFor } from './waitFor.ts';

const hookEvents = [
  'SessionStart',
  'UserPromptSubmit',
  'Stop',
  'StopFailure',
  'SessionEnd',
  'Notification',
  'PermissionRequest',
];

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** One HOME, one project directory and one tmux server with one claude at a time. */
export class Scene {
  private constructor(
    private readonly root: string,
    private readonly version: ClaudeVersion,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  static async create(version: ClaudeVersion, modelUrl: string): Promise<Scene> {
    const root = await mkdtemp(path.join(os.tmpdir(), 'bowline-capture-'));
    const environment: NodeJS.ProcessEnv = {
      PATH: process.env['PATH'],
      LANG: 'C.UTF-8',
      ...claudeEnvironment({ home: path.join(root, 'home'), modelUrl, apiKey: scriptedApiKey }),
    };
    const scene = new Scene(root, version, environment);
    for (const folder of ['home', 'project', 'hooks']) await mkdir(path.join(root, folder));
    await scene.configure({ trusted: true });
    const hook = (event: string): unknown => [
      {
        hooks: [
          {
            type: 'command',
            command: `f=$(date +%s%N); cat > "${root}/$f"; mv "${root}/$f" "${root}/hooks/$f-${event}.json"`,
            timeout: 10,
          },
        ],
      },
    ];
    await writeFile(
      path.join(root, 'settings.json'),
      JSON.stringify({ hooks: Object.fromEntries(hookEvents.map((event) => [event, hook(event)])) }),
    );
    scene.tmux('new-session', '-d', '-s', 'keep', 'sleep 3600');
    scene.tmux('set-option', '-g', 'default-size', '120x40');
    scene.tmux('set-option', '-g', 'remain-on-exit', 'on');
    return scene;
  }

  get project(): string {
    return path.join(this.root, 'project');
  }

  async configure(options: { trusted: boolean; keyApproved?: boolean; mcp?: Record<string, unknown> }): Promise<void> {
    const known = {
      hasTrustDialogAccepted: true,
      hasCompletedProjectOnboarding: true,
      // Makes the empty input line show a suggestion.
      exampleFiles: ['app.ts', 'main.ts', 'list.ts', 'tree.ts', 'view.ts'],
      exampleFilesGeneratedAt: Date.now(),
    };
    const approved = options.keyApproved === false ? [] : [scriptedApiKey.slice(-20)];
    await writeFile(
      path.join(this.root, 'home/.claude.json'),
      JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved, rejected: [] },
        projects: options.trusted ? { [this.project]: known } : {},
      }),
    );
    const mcpFile = path.join(this.project, '.mcp.json');
    if (options.mcp === undefined) await rm(mcpFile, { force: true });
    else await writeFile(mcpFile, JSON.stringify({ mcpServers: options.mcp }));
  }

  tmux(...words: string[]): string {
    const socket = path.join(this.root, 'tmux.sock');
    return execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], {
      env: this.environment,
      encoding: 'utf8',
    });
  }

  screen(): string {
    return this.tmux('capture-pane', '-e', '-p', '-t', '=a:');
  }

  /** The screen once it shows something and has not changed for two seconds, or whatever it shows after twenty. */
  async settledScreen(): Promise<string> {
    let shown = '';
    let since = Date.now();
    const begin = since;
    return waitFor(
      'a screen that stands still',
      () => {
        const now = this.screen();
        if (now !== shown) since = Date.now();
        shown = now;
        return now.trim() !== '' && (Date.now() - since > 2000 || Date.now() - begin > 20_000) && now;
      },
      { timeoutMs: 60_000, everyMs: 200 },
    );
  }

  keys(...keys: string[]): void {
    this.tmux('send-keys', '-t', '=a:', ...keys);
  }

  async type(text: string): Promise<void> {
    this.tmux('send-keys', '-l', '-t', '=a:', text);
    await pause(500);
  }

  async submit(text: string): Promise<void> {
    await this.type(text);
    this.keys('Enter');
  }

  launch(environment: Record<string, string>, ...words: string[]): void {
    const variables = Object.entries(environment).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const settings = words.some((word) => word.startsWith('--settings'))
      ? []
      : [`--settings=${path.join(this.root, 'settings.json')}`];
    this.tmux(
      'new-session',
      '-d',
      '-s',
      'a',
      '-c',
      this.project,
      ...variables,
      claudeBinary(this.version),
      ...settings,
      ...words,
    );
  }

  async start(...words: string[]): Promise<void> {
    const before = (await this.hooks()).length;
    this.launch({}, '--permission-mode', 'default', ...words);
    await waitFor('SessionStart', async () => (await this.hooks()).length > before, { timeoutMs: 60_000 });
    await this.settledScreen();
  }

  async end(): Promise<void> {
    this.tmux('kill-session', '-t', '=a');
    await pause(1500);
  }

  async hooks(): Promise<{ event: string; text: string }[]> {
    const folder = path.join(this.root, 'hooks');
    const names = (await readdir(folder)).sort();
    return Promise.all(
      names.map(async (name) => ({
        event: name.replace(/^\d+-|\.json$/g, ''),
        text: await readFile(path.join(folder, name), 'utf8'),
      })),
    );
  }

  async lastHook(event: string, skip: number): Promise<string> {
    const found = await waitFor(event, async () => (await this.hooks()).slice(skip).find((h) => h.event === event), {
      timeoutMs: 60_000,
    });
    return found.text;
  }

  async liveSession(): Promise<string> {
    const folder = path.join(this.root, 'home/.claude/sessions');
    const name = (await readdir(folder)).find((entry) => /^\d+\.json$/.test(entry));
    if (name === undefined) throw new Error('no live-session file');
    return readFile(path.join(folder, name), 'utf8');
  }

  async transcripts(): Promise<Map<string, string>> {
    const folder = path.join(this.root, 'home/.claude/projects', this.project.replace(/[^A-Za-z0-9]/g, '-'));
    const names = (await readdir(folder)).filter((entry) => entry.endsWith('.jsonl'));
    return new Map(
      await Promise.all(
        names.map(async (name): Promise<[string, string]> => [
          name.replace('.jsonl', ''),
          await readFile(path.join(folder, name), 'utf8'),
        ]),
      ),
    );
  }

  clean(text: string): string {
    const folded = this.root.replace(/[^A-Za-z0-9]/g, '-');
    return text
      .replaceAll(this.root, '/home/user')
      .replaceAll(folded, '-home-user')
      .replace(/"(pidDomain|messagingSocketPath)":"[^"]*"/g, '"$1":"removed"');
  }

  async save(name: string, text: string): Promise<void> {
    const file = path.join(__dirname, '../fixtures/claude', this.version, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, this.clean(text));
    console.log(name);
  }

  async dispose(): Promise<void> {
    try {
      this.tmux('kill-server');
    } catch (error) {
      console.error('tmux was gone already', error);
    }
    await pause(1000);
    await rm(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 300 });
  }
}
