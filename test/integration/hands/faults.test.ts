import { deepStrictEqual } from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { HandsOptions } from '../../../src/node/hands/hands.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { HandsRig, type LaunchTask } from './handsRig.ts';

/** Faults on a real tmux. Programs named fake do what no real one can be brought to do at will. */
describe('a fault of the machine', function () {
  this.timeout(90_000);
  let rig: HandsRig | undefined;

  afterEach(async () => {
    await rig?.dispose();
    rig = undefined;
  });

  async function open(options?: (root: string) => Partial<HandsOptions>): Promise<HandsRig> {
    rig = await HandsRig.open(options);
    return rig;
  }

  const claudeHint =
    'Install Claude Code, or set "bowline.claudePath" to the full path of claude, then resume the agent.';
  const lookInTerminal = 'Run it in a terminal to see why, or set "bowline.tmuxPath" to another tmux.';

  const tmuxFaults: readonly (readonly [string, string | undefined, string])[] = [
    [
      'is missing',
      undefined,
      'tmux was not found at ROOT/tmux. Install tmux 3.2 or later, or set "bowline.tmuxPath" to its full path, then resume the agent.',
    ],
    [
      'is too old (fake)',
      'echo tmux 3.1c',
      'ROOT/tmux is tmux 3.1c; Bowline needs 3.2 or later. Update tmux, or set "bowline.tmuxPath" to a newer one, then resume the agent.',
    ],
    [
      'cannot be run (fake)',
      'echo no library >&2; exit 127',
      `ROOT/tmux cannot be run (no library). ${lookInTerminal}`,
    ],
  ];
  for (const [fault, script, sentence] of tmuxFaults) {
    it(`tells what to do when tmux ${fault}, and starts once it is there`, async () => {
      const here = await open((root) => ({ tmuxPath: path.join(root, 'tmux') }));
      const claude = await here.program('claude', 'exec sleep 600');
      if (script !== undefined) await here.program('tmux', script);
      here.launch(claude);
      deepStrictEqual(await here.until('blocked'), `blocked: launch refused: ${sentence}`);
      await here.program('tmux', 'exec tmux "$@"');
      here.launch(claude);
      await here.until('running');
    });
  }

  it('says that a tmux which answers nothing is waited for, and starts as soon as it answers (fake)', async () => {
    const here = await open((root) => ({ tmuxPath: path.join(root, 'tmux') }));
    const claude = await here.program('claude', 'exec sleep 600');
    await here.program('tmux', 'exec sleep 600');
    here.launch(claude);
    await waitFor('the sentence', () => here.shown() !== 'launching', { timeoutMs: 60_000 });
    const sentence = here.shown();
    await here.program('tmux', 'exec tmux "$@"');
    await here.until('running');
    deepStrictEqual(
      sentence,
      `launching: waits: ROOT/tmux -V has not answered for 5 s. Bowline keeps trying. ${lookInTerminal}`,
    );
  });

  it('knows an end with the tmux server also where another server has begun before anybody looked', async () => {
    const here = await open();
    const claude = await here.program('claude', 'exec sleep 600');
    await here.running(claude);
    const server = Number(await here.tmux('display-message', '-p', '#{pid}'));
    here.hands.dispose();
    process.kill(server, 'SIGKILL');
    // tmux tells the start of a server in whole seconds.
    await waitFor('the next second', () => Date.now() >= (Math.floor(here.startedAt() / 1000) + 1) * 1000);
    await here.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'other', 'exec sleep 600');
    here.renewHands();
    await here.until('stopped');
    deepStrictEqual(
      here.story.agent().launches.map(({ reason }) => reason),
      ['host gone'],
    );
  });

  it('restarts nothing and loses nothing while the tmux server hangs: what is asked for waits', async () => {
    const here = await open();
    const claude = await here.program('claude', 'exec sleep 600');
    const pid = await here.running(claude);
    const server = Number(await here.tmux('display-message', '-p', '#{pid}'));
    process.kill(server, 'SIGSTOP');
    here.launch(claude, { name: 'bo' });
    await waitFor('the sentence', () => here.shown('bo') !== 'launching', { timeoutMs: 60_000 });
    const shown = [here.shown('ada'), here.shown('bo'), here.story.settle().effects.map(({ id }) => id)];
    process.kill(server, 'SIGCONT');
    await here.until('running', 'bo');
    // One session each: what was sent before the hang was not done a second time.
    const sessions = await here.tmux('list-panes', '-a', '-F', '#{session_name} #{pane_dead}');
    deepStrictEqual(
      [shown, here.pid('ada'), sessions.split('\n').sort()],
      [
        [
          'verifying',
          'launching: waits: tmux has not answered for 5 s. The agents may well be alive, so nothing is restarted; ' +
            'Bowline keeps trying. If it stays so, end that tmux process yourself, then resume the agents.',
          ['launch:bo.1'],
        ],
        pid,
        ['_bowline 0', 'ada 0', 'bo 0'],
      ],
    );
  });

  it('takes no agent for dead when the tmux socket was deleted: new hands find it', async () => {
    const here = await open();
    const pid = await here.running(await here.program('claude', 'exec sleep 600'));
    await rm(path.join(here.root, 'state', 'fleet.sock'));
    here.renewHands();
    await waitFor('the new hands', () => here.hands.status.kind === 'ready', { timeoutMs: 60_000 });
    process.kill(pid, 'SIGKILL');
    deepStrictEqual(
      await here.until('dead'),
      'dead: crashed: ended with signal 9. Resume starts it again, with its conversation.',
    );
  });

  it('names a claude that cannot be started', async () => {
    const here = await open((root) => ({
      // An editor started from the desktop: a short PATH, and a login shell that knows no claude either.
      environment: { HOME: root, PATH: '/usr/bin:/bin', SHELL: '/bin/sh' },
    }));
    const script = await here.program('script', 'exit 0');
    const broken = path.join(here.root, 'broken');
    await writeFile(broken, `#!${here.root}/node\n`, { mode: 0o755 });
    const launches: readonly (readonly [string, Partial<LaunchTask>])[] = [
      [path.join(here.root, 'claude'), {}],
      ['claude-of-nobody', {}],
      [broken, {}],
      [script, { directory: path.join(here.root, 'gone') }],
    ];
    const seen: string[] = [];
    for (const [index, [program, changed]] of launches.entries()) {
      const name = `a${index}`;
      here.launch(program, { name, ...changed });
      await waitFor('the end', () => here.story.agent(name).launches.length === 1, { timeoutMs: 60_000 });
      seen.push(here.shown(name));
    }
    deepStrictEqual(seen, [
      `dead: binary missing: There is no program at ROOT/claude. ${claudeHint}`,
      `dead: binary missing: "claude-of-nobody" was found neither in PATH, nor in the usual places, nor by your login shell. ${claudeHint}`,
      `dead: binary missing: ROOT/broken cannot be started: its interpreter ROOT/node is not there. ${claudeHint}`,
      'blocked: launch refused: The directory ROOT/gone is not there. Create it and resume the agent, or make a new agent in another one.',
    ]);
  });

  it('keeps the last words of a program that ends at once, and of no other, and starts no loop', async () => {
    const here = await open();
    const seen: string[] = [];
    const scripts = ['echo first; exit 1', 'echo boom; exit 1', `exec ${here.root}/gone`, 'exit 3'];
    for (const script of scripts) {
      here.launch(await here.program('claude', script));
      seen.push(await here.until('dead'));
    }
    const claude = await here.program('claude', 'echo boom; exit 1');
    const names = Array.from({ length: 24 }, (_, index) => `a${index}`);
    for (const name of names) here.launch(claude, { name });
    const more = await Promise.all(names.map((name) => here.until('dead', name)));
    const again = 'Resume starts it again, with its conversation.';
    deepStrictEqual(
      [seen, new Set(more), here.story.settle().effects],
      [
        [
          `dead: crashed: ended with status 1: first. ${again}`,
          `dead: crashed: ended with status 1: boom. ${again}`,
          `dead: binary missing: ended with status 127: ROOT/claude: 2: exec: ROOT/gone: not found. ${claudeHint}`,
          `dead: crashed: ended with status 3. ${again}`,
        ],
        new Set([`dead: crashed: ended with status 1: boom. ${again}`]),
        [],
      ],
    );
  });

  it('says that the program was replaced, or is gone, when an agent ends after an update, and starts no loop', async () => {
    const here = await open();
    const seen: string[] = [];
    for (const update of ['replaced', 'gone'] as const) {
      const claude = await here.program('claude', 'exec sleep 600');
      const pid = await here.running(claude);
      if (update === 'replaced') await here.program('claude', 'exec sleep 601');
      else await rm(claude);
      process.kill(pid, 'SIGBUS');
      seen.push(await here.until('dead'));
    }
    here.launch(path.join(here.root, 'claude'));
    await waitFor('the refusal', () => here.story.agent().launches.length === 3, { timeoutMs: 60_000 });
    seen.push(here.shown());
    deepStrictEqual(
      [seen, here.story.settle().effects],
      [
        [
          'dead: crashed: ended with signal 7. Its program ROOT/claude was replaced while it ran. Resume starts it again, with its conversation.',
          `dead: binary missing: ended with signal 7. Its program ROOT/claude is gone. ${claudeHint}`,
          `dead: binary missing: There is no program at ROOT/claude. ${claudeHint}`,
        ],
        [],
      ],
    );
  });
});
