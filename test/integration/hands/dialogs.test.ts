import { deepStrictEqual } from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '../../harness/waitFor.ts';
import { HandsRig } from './handsRig.ts';

const server = 'bowline-self';

/** Wordings of past and coming versions; the pinned ones are asked for real in `claude/dialogs.test.ts`. */
const wordings = {
  trust: [
    [['Do you trust the files in this folder?', '', '/home/user/project'], 'Yes, proceed', 'No, exit'],
    [['Accessing workspace:', '', 'Quick safety check: one you trust?'], 'Yes, I trust this folder', 'No, exit'],
    [['Is this a project you created or one you trust?'], 'Yes, continue', 'No, exit Claude Code'],
  ],
  'mcp-approval': [
    [['New MCP server found in .mcp.json: own', '', 'Use it?'], 'Use this MCP server', 'Continue without it'],
    [['3 new MCP servers found in .mcp.json', '', 'Select any you wish to enable.'], 'Yes, use all', 'No, none'],
    [['New MCP servers found in this project: own, other'], 'Yes', 'No'],
  ],
} as const;

/** The real hands on a real tmux, with a fake claude that draws a dialog and notes every key that it gets. */
describe('dialogs in other wordings, with Yes first and with No first', function () {
  this.timeout(120_000);
  let rig: HandsRig;

  before(async () => {
    rig = await HandsRig.open();
  });

  after(async () => {
    await rig.dispose();
  });

  it('block their agents with a way on, and get no key, whatever is asked for', async () => {
    const dialogs = Object.entries(wordings).flatMap(([dialog, texts]) =>
      texts.flatMap(([body, yes, no]) => [
        { dialog, body, choices: [yes, no] },
        { dialog, body, choices: [no, yes] },
      ]),
    );
    const names = dialogs.map((_, index) => `a${index}`);
    const keys = (name: string): string => path.join(rig.root, `${name}.keys`);
    for (const [index, { body, choices }] of dialogs.entries()) {
      const name = names[index] ?? '';
      const lines = [
        '─'.repeat(100),
        ...body,
        '',
        `❯ ${choices[0] ?? ''}`,
        `  ${choices[1] ?? ''}`,
        '',
        'Enter to confirm',
      ];
      const screen = path.join(rig.root, `${name}.screen`);
      await writeFile(screen, lines.map((line, at) => (at === 0 || line === '' ? line : ` ${line}`)).join('\n'));
      const claude = await rig.program(name, 'stty -icanon -echo', `cat ${screen}`, `exec cat > ${keys(name)}`);
      rig.launch(claude, { name, environment: { LANG: 'C.UTF-8' } });
    }
    const isBlocked = (name: string): boolean => rig.shown(name).startsWith('blocked');
    await waitFor('all dialogs to be seen', () => names.every(isBlocked), { timeoutMs: 60_000 }).catch(() => undefined);
    const shown = names.map((name) => rig.shown(name));
    for (const name of names) {
      rig.story.tell({ kind: 'rung started', name, server, attemptId: name, rung: 'reconnect', by: 'person' });
    }
    rig.hands.setTasks(
      names.map((name) => {
        const id = { id: `type:${name}`, name, launchId: `${name}.1`, server, attemptId: name };
        return { kind: 'type', ...id, text: `/mcp reconnect ${server}` } as const;
      }),
    );
    const outcome = (name: string): string | undefined =>
      rig.story.agent(name).incidents[server]?.attempts.at(-1)?.outcome;
    await waitFor('all to be put off', () => names.every((name) => outcome(name) !== undefined), { timeoutMs: 60_000 });
    deepStrictEqual(
      [shown, names.map(outcome), await Promise.all(names.map((name) => readFile(keys(name), 'utf8')))],
      [
        dialogs.map(({ dialog }) => `blocked: waits at a dialog (${dialog}): attach and answer it`),
        names.map(() => 'put off'),
        names.map(() => ''),
      ],
    );
  });
});
