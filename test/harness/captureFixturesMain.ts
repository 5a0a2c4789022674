// Captures test/fixtures/claude/<version>/ again from the real claude, offline, in a private HOME and tmux server:
//   npx tsx test/harness/captureFixturesMain.ts 2.1.332
// Ids, times and tips differ from run to run: read the difference before you commit it. Machine paths become /home/user.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { claudeEnvironment, scriptedApiKey } from './claude.ts';
import { startScriptedModel } from './scriptedModel.ts';
import { waitFor } from './waitFor.ts';

const version = process.argv[2] ?? '2.1.332';
const repository = path.resolve(__dirname, '../..');
const claude = path.join(repository, `node_modules/claude-${version}/bin/claude.exe`);
const output = path.join(repository, 'test/fixtures/claude', version);
const hookEvents = [
  'SessionStart',
  'UserPromptSubmit',
  'Stop',
  'StopFailure',
  'SessionEnd',
  'Notification',
  'PermissionRequest',
];
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** One HOME, one project directory and one tmux server with one claude at a time. */
class Scene {
  private constructor(
    private readonly root: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  static async create(modelUrl: string): Promise<Scene> {
    const root = await mkdtemp(path.join(os.tmpdir(), 'bowline-capture-'));
    const environment: NodeJS.ProcessEnv = {
      PATH: process.env['PATH'],
      LANG: 'C.UTF-8',
      ...claudeEnvironment({ home: path.join(root, 'home'), modelUrl, apiKey: scriptedApiKey }),
    };
    const scene = new Scene(root, environment);
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
    this.tmux('new-session', '-d', '-s', 'a', '-c', this.project, ...variables, claude, ...settings, ...words);
  }

  async start(...words: string[]): Promise<void> {
    const before = (await this.hooks()).length;
    this.launch({}, '--permission-mode', 'default', ...words);
    await waitFor('SessionStart', async () => (await this.hooks()).length > before, { timeoutMs: 20_000 });
    await pause(6000);
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
      timeoutMs: 15_000,
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
    const file = path.join(output, name);
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

/** Keeps the shape of a transcript line and drops what is long: system prompts, tool lists, whole requests. */
function shortened(line: string): string {
  const dropped = new Set(['attachment', 'rendered', 'params', 'shape', 'hookInfos', 'usage', 'modelUsage']);
  return JSON.stringify(
    JSON.parse(line, (key, value: unknown) =>
      dropped.has(key) ? undefined : typeof value === 'string' && value.length > 300 ? value.slice(0, 300) : value,
    ),
  );
}

async function captureDialogs(scene: Scene): Promise<void> {
  const dialog = async (name: string, environment: Record<string, string>, ...words: string[]): Promise<void> => {
    scene.launch(environment, ...words);
    await pause(5000);
    await scene.save(`screens/${name}.txt`, scene.screen());
    await scene.end();
  };
  await scene.configure({ trusted: false });
  await dialog('trust', {});
  await scene.configure({ trusted: true, keyApproved: false });
  await dialog('key-approval', {});
  await scene.configure({ trusted: true, mcp: { own: { command: 'cat' } } });
  await dialog('mcp-approval', {});
  await scene.configure({ trusted: true, mcp: { own: { command: 'cat' }, other: { command: 'cat' } } });
  await dialog('mcp-approval-two', {});
  await scene.configure({ trusted: true });
  await writeFile(path.join(scene.project, 'bad.json'), '{nope');
  await dialog('settings-error', {}, `--settings=${path.join(scene.project, 'bad.json')}`);
  await rm(path.join(scene.project, 'bad.json'));
  scene.launch({ ANTHROPIC_API_KEY: '' });
  await pause(8000);
  await scene.save('screens/not-logged-in.txt', scene.screen());
  const mark = (await scene.hooks()).length;
  await scene.submit('hello there');
  await scene.save('hooks/stop-failure-login.json', await scene.lastHook('StopFailure', mark));
  await pause(1500);
  await scene.submit('/login');
  await pause(3000);
  await scene.save('screens/login.txt', scene.screen());
  await scene.end();
  await dialog('resume-picker', {}, '--resume', 'nosuchtext');
}

async function captureConversation(scene: Scene): Promise<void> {
  const screen = (name: string): Promise<void> => scene.save(`screens/${name}.txt`, scene.screen());
  const hook = async (name: string, event: string, skip: number): Promise<string> => {
    const text = await scene.lastHook(event, skip);
    await scene.save(`hooks/${name}.json`, text);
    return text;
  };
  const count = async (): Promise<number> => (await scene.hooks()).length;
  const turn = async (text: string): Promise<void> => {
    const before = await count();
    await scene.submit(text);
    await scene.lastHook('Stop', before);
    await pause(1500);
  };
  const erase = async (): Promise<void> => {
    for (let line = 0; line < 6; line++) scene.keys('C-u', 'BSpace');
    await pause(500);
  };
  const typeLines = async (...lines: string[]): Promise<void> => {
    for (const [index, line] of lines.entries()) {
      if (index > 0) scene.keys('\\', 'Enter');
      await scene.type(line);
    }
  };

  const mcpFile = path.join(scene.project, 'mcp.json');
  const dead = { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: { 'X-Agent-Name': 'ada' } };
  await writeFile(mcpFile, JSON.stringify({ mcpServers: { own: dead } }));
  let mark = await count();
  await scene.start(`--mcp-config=${mcpFile}`);
  await hook('startup', 'SessionStart', mark);
  await screen('idle');
  await scene.save('sessions/idle.json', await scene.liveSession());

  mark = await count();
  await scene.submit('hello there');
  const id = /"session_id":"([^"]+)"/.exec(await hook('prompt', 'UserPromptSubmit', mark))?.[1] ?? '';
  await hook('stop', 'Stop', mark);
  await pause(1500);
  await screen('after-turn');

  await scene.type('half a thought');
  await screen('unsent');
  await erase();
  await screen('erased');
  await typeLines('first line', '❯ 1. Yes', '  2. No', '────────────────────', 'last line');
  await screen('unsent-lines');
  await erase();
  scene.tmux('set-buffer', 'first line\nsecond line\n\nlast line');
  scene.tmux('paste-buffer', '-p', '-t', '=a:');
  await pause(800);
  await screen('unsent-paste');
  await erase();
  await scene.type('!ls');
  await screen('unsent-bash');
  await erase();
  await scene.type('/mc');
  await screen('slash-menu');
  await erase();
  await scene.submit('/mcp reconnect own');
  await pause(3000);
  await screen('after-reconnect');
  await scene.submit('/mcp');
  await pause(2000);
  await screen('mcp-panel');
  scene.keys('Escape');
  await pause(1000);

  mark = await count();
  await scene.submit('SLOW 8000 take your time');
  await pause(1500);
  await screen('busy');
  await scene.save('sessions/busy.json', await scene.liveSession());
  await scene.type('typed ahead');
  await screen('busy-unsent');
  scene.keys('Enter');
  await pause(1000);
  await screen('busy-queued');
  await scene.lastHook('Stop', mark);
  await pause(3000);

  await typeLines('Do you trust this folder?', '❯ 1. Yes', '  2. No, exit', '', 'Enter to confirm · Esc to cancel');
  await turn('');
  await screen('looks-like-a-dialog');

  mark = await count();
  await scene.submit('CALL Bash {"command":"touch made","description":"make a file"}');
  await hook('permission-request', 'PermissionRequest', mark);
  await pause(1500);
  await screen('permission');
  await scene.save('sessions/waiting.json', await scene.liveSession());
  await hook('notification-permission', 'Notification', mark);
  scene.keys('Escape');
  await pause(1500);
  await screen('after-refusal');
  await turn('never mind');

  mark = await count();
  await scene.submit('FAIL400 messages.1.content.0: `thinking` blocks cannot be modified');
  await hook('stop-failure', 'StopFailure', mark);
  await pause(1500);
  await screen('api-error');

  mark = await count();
  await scene.submit('/clear');
  await hook('end-clear', 'SessionEnd', mark);
  await hook('clear', 'SessionStart', mark);
  await pause(1500);
  mark = await count();
  await scene.submit('after the clear');
  await hook('prompt-after-clear', 'UserPromptSubmit', mark);
  await scene.lastHook('Stop', mark);
  mark = await count();
  await scene.end();
  await hook('end-other', 'SessionEnd', mark);
  const lines = ((await scene.transcripts()).get(id) ?? '').trimEnd().split('\n');
  await scene.save('transcript.jsonl', lines.map((line) => `${shortened(line)}\n`).join(''));

  mark = await count();
  await scene.start('--resume', id);
  await hook('resume', 'SessionStart', mark);
  await screen('resumed');
  mark = await count();
  await scene.submit('/exit');
  await hook('end-exit', 'SessionEnd', mark);
  await pause(1500);

  mark = await count();
  await scene.start('--resume', id, '--fork-session');
  await hook('fork', 'SessionStart', mark);
  mark = await count();
  await scene.submit('in the fork');
  await hook('prompt-after-fork', 'UserPromptSubmit', mark);
  await scene.end();
}

async function main(): Promise<void> {
  const model = await startScriptedModel();
  const scene = await Scene.create(model.url);
  try {
    await captureDialogs(scene);
    await captureConversation(scene);
  } finally {
    await scene.dispose();
    await model.dispose();
  }
}

void main();
