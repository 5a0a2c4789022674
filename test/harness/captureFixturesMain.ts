// Captures test/fixtures/claude/<version>/ again from the real claude, offline, in a private HOME and tmux server:
//   npx tsx test/harness/captureFixturesMain.ts 2.1.332
// Ids, times and tips differ from run to run: read the difference before you commit it. Machine paths become /home/user.
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pause, Scene } from './captureScene.ts';
import { claudeVersions } from './claude.ts';
import { startScriptedModel } from './scriptedModel.ts';
import { waitFor } from './waitFor.ts';

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
    await scene.save(`screens/${name}.txt`, await scene.settledScreen());
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
  await scene.save('screens/not-logged-in.txt', await scene.settledScreen());
  const mark = (await scene.hooks()).length;
  await scene.submit('hello there');
  await scene.save('hooks/stop-failure-login.json', await scene.lastHook('StopFailure', mark));
  await pause(1500);
  await scene.submit('/login');
  await scene.save('screens/login.txt', await scene.settledScreen());
  await scene.end();
  await dialog('added-directory', {}, '--add-dir', '/usr/share');
  await dialog('resume-picker', {}, '--resume', 'nosuchtext');
}

/** Starts that end by themselves: what stands on the pane then, and the status. */
async function captureExits(scene: Scene): Promise<void> {
  const bad = path.join(scene.project, 'bad.json');
  await writeFile(bad, '{nope');
  const starts: Record<string, readonly string[]> = {
    'conversation-not-found': ['--resume=11111111-2222-4333-8444-555555555555'],
    'unknown-option': ['--nosuch'],
    'permission-mode': ['--permission-mode=nosuch'],
    'session-id': ['--session-id=nosuch'],
    'mcp-malformed': [`--mcp-config=${bad}`],
    'mcp-missing': ['--mcp-config=/home/user/gone.json'],
    'settings-missing': ['--settings=/home/user/gone.json'],
  };
  for (const [name, words] of Object.entries(starts)) {
    scene.launch({}, ...words);
    const status = await waitFor(
      'the end of the process',
      () => {
        const [dead, code] = scene.tmux('list-panes', '-t', '=a:', '-F', '#{pane_dead} #{pane_dead_status}').split(' ');
        // tmux loses the end of a child at times; this makes it look again.
        if (dead?.trim() === '1') process.kill(Number(scene.tmux('display-message', '-p', '#{pid}')), 'SIGCHLD');
        return dead === '1' && code?.trim() !== '' && code?.trim();
      },
      { timeoutMs: 60_000 },
    );
    await scene.save(`exits/${name}-${status}.txt`, scene.tmux('capture-pane', '-p', '-S', '-50', '-t', '=a:'));
    await scene.end();
  }
  await rm(bad);
}

async function captureConversation(scene: Scene): Promise<void> {
  const screen = async (name: string): Promise<void> => {
    const still = !name.startsWith('busy');
    await scene.save(`screens/${name}.txt`, still ? await scene.settledScreen() : scene.screen());
  };
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
  await scene.end();

  mark = await count();
  await scene.start('--resume', id, '--fork-session');
  await hook('fork', 'SessionStart', mark);
  mark = await count();
  await scene.submit('in the fork');
  await hook('prompt-after-fork', 'UserPromptSubmit', mark);
  await scene.end();
}

async function main(): Promise<void> {
  const version = claudeVersions.find((known) => known === process.argv[2]);
  if (version === undefined) throw new Error(`give one of ${claudeVersions.join(', ')}`);
  const model = await startScriptedModel();
  const scene = await Scene.create(version, model.url);
  try {
    await captureDialogs(scene);
    await captureExits(scene);
    await captureConversation(scene);
  } finally {
    await scene.dispose();
    await model.dispose();
  }
}

void main();
