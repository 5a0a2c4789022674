import { deepStrictEqual, match } from 'node:assert/strict';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { PromptView } from '../../../src/core/fleet/promptView.ts';
import { promptViews } from '../../../src/core/fleet/promptView.ts';
import { readScreen } from '../../../src/core/claude/screen.ts';
import { readEndpointFile } from '../../../src/node/endpointFile.ts';
import { listJournals } from '../../../src/node/stateFiles.ts';
import { claudeVersions } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const patience = 60_000;

for (const version of claudeVersions) {
  describe(`prompts for claude ${version}`, function () {
    this.timeout(180_000);
    let rig: FleetRig;

    before(async () => {
      rig = await FleetRig.open({ version, trusted: ['work'] });
      await rig.create('ada', 'work');
      await rig.untilBound('ada');
    });

    after(async () => {
      await rig.dispose();
    });

    /** What the model was asked in turns that hold this text, only what the person wrote. */
    const asked = (part: string): readonly string[] =>
      rig.model.requests
        .filter((request) => request.kind === 'turn' && request.text.includes(part))
        .map((request) => request.text.replaceAll(/<system-reminder>.*?<\/system-reminder>/gs, ''))
        .map((request) => request.replaceAll(/<\/?pasted_content[^>]*>|\[Request interrupted[^\]]*\]/g, '').trim());

    const view = (id: string): PromptView | undefined =>
      promptViews({ agents: { ada: rig.agent('ada') } }, 'ada', Date.now()).find((one) => one.id === id);

    const send = (id: string, given: string): Promise<void> =>
      rig.request({ kind: 'prompt', name: 'ada', id, text: given });

    const untilIt = async (id: string, what: string, fits: (prompt: PromptView) => boolean): Promise<void> => {
      const probe = (): boolean => {
        const prompt = view(id);
        return prompt !== undefined && fits(prompt);
      };
      await waitFor(`prompt ${id}: ${what}`, probe, { timeoutMs: patience }).catch(async (error: unknown) => {
        throw new Error(`${JSON.stringify(view(id))}\n${await rig.screen('ada')}`, { cause: error });
      });
    };

    const until = (id: string, state: PromptView['state']): Promise<void> =>
      untilIt(id, state, (prompt) => prompt.state === state);

    const untilWaitsFor = (id: string, reason: RegExp): Promise<void> =>
      untilIt(id, `waits for ${reason.source}`, ({ waitsFor }) => reason.test(waitsFor ?? ''));

    const idle = (): Promise<void> => rig.until('ada', 'idle', (_row, { activity }) => activity.kind === 'idle');

    const reading = async (): Promise<ReturnType<typeof readScreen>> =>
      readScreen((await rig.tmux('capture-pane', '-e', '-p', '-t', '=ada:')).split('\n'));

    /** What stands in the input line. */
    const text = async (): Promise<string | undefined> => {
      const now = await reading();
      return now.kind === 'input' ? now.text : undefined;
    };

    const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
      const { life } = rig.agent('ada');
      if (life.kind === 'running') process.kill(life.running.process.pid, name);
    };

    const texts = {
      three: 'first line of three\n  second, indented\nthird: see @app',
      paste: Array.from({ length: 40 }, (_, line) => `line ${line} of a long prompt, 你好 "quoted" \\`).join('\n'),
    };

    it('submits once, with all lines, and knows it by the hook', async () => {
      await send('p1', texts.three);
      await send('p1', texts.three);
      await send('p2', texts.paste);
      await until('p1', 'received');
      await until('p2', 'received');
      await idle();
      deepStrictEqual(
        [asked('first line of three'), asked('of a long prompt'), view('p1')?.by],
        [[texts.three], [texts.paste], 'test-window'],
      );
      const kept = await readdir(rig.paths.agent('ada').prompts);
      const logs = await Promise.all(
        (await readdir(rig.paths.logs)).map((file) => readFile(path.join(rig.paths.logs, file), 'utf8')),
      );
      const files = [rig.paths.state, ...(await listJournals(rig.paths)).map(({ path: journal }) => journal)];
      const state = await Promise.all(files.map((file) => readFile(file, 'utf8')));
      const stored = [...logs, ...state, await rig.tmux('list-buffers')];
      deepStrictEqual([kept, stored.filter((one) => /indented|of a long/.test(one))], [[], []]);
    });

    it('waits while a dialog is open, which nothing answers, and while somebody has text in the input line', async () => {
      await rig.prompt('ada', 'CALL Bash {"command":"touch made.txt","description":"x"}');
      await waitFor('the dialog', async () => (await reading()).kind === 'dialog', { timeoutMs: patience });
      const dialog = await reading();
      await send('p3', '1\ny\nafter the dialog');
      await untilWaitsFor('p3', /permission|dialog/);
      deepStrictEqual([await reading(), view('p3')?.state], [dialog, 'queued']);
      // Answered by a person with Escape, which leaves the text of the prompt in the input line of some versions.
      await rig.tmux('send-keys', '-t', '=ada:', 'Escape');
      await waitFor('the end of the dialog', async () => (await reading()).kind === 'input', { timeoutMs: patience });
      await until('p3', 'received');
      await idle();
      await rig.tmux('send-keys', '-t', '=ada:', '-l', 'half a thought');
      await waitFor('the thought', async () => (await text()) === 'half a thought', { timeoutMs: patience });
      await send('p4', 'after the thought');
      await untilWaitsFor('p4', /unsent text/);
      await rig.request({ kind: 'cancel prompt', name: 'ada', id: 'p4' });
      await until('p4', 'failed');
      await rig.tmux('send-keys', '-t', '=ada:', 'C-u');
      await waitFor('no thought', async () => (await text()) === '', { timeoutMs: patience });
      const files = await readdir(path.join(rig.root, 'work'));
      deepStrictEqual(
        [asked('after the dialog'), asked('after the thought'), files.includes('made.txt')],
        [['1\ny\nafter the dialog'], [], false],
      );
      match(view('p4')?.detail ?? '', /called off before anything was typed/);
    });

    it('is typed once when the hands die between the paste and Enter: the next hands submit what stands there', async () => {
      await idle();
      signal('SIGSTOP');
      try {
        await send('p5', 'typed by hands\nthat died');
        await until('p5', 'typed');
        rig.closeWindow();
      } finally {
        signal('SIGCONT');
      }
      await waitFor('the text in the input line', async () => (await reading()).kind === 'input', {
        timeoutMs: patience,
      });
      await rig.openWindow();
      await until('p5', 'received');
      await idle();
      deepStrictEqual(asked('typed by hands'), ['typed by hands\nthat died']);
    });

    it('says unknown when it is gone from the input line, never types it again, and takes a late receipt', async () => {
      signal('SIGSTOP');
      try {
        await send('p6', 'typed and wiped');
        await until('p6', 'typed');
        rig.closeWindow();
      } finally {
        signal('SIGCONT');
      }
      await waitFor('the text', async () => (await text()) === 'typed and wiped', { timeoutMs: patience });
      await rig.tmux('send-keys', '-t', '=ada:', 'C-u');
      await waitFor('no text', async () => (await text()) === '', { timeoutMs: patience });
      await rig.openWindow();
      await until('p6', 'unknown');
      deepStrictEqual([asked('typed and wiped'), await text()], [[], '']);
      match(view('p6')?.detail ?? '', /Look at the agent/);
      await rig.prompt('ada', 'typed and wiped');
      await until('p6', 'received');
      await idle();
      deepStrictEqual(asked('typed and wiped'), ['typed and wiped']);
    });

    it('is received by the transcript when the hook is silent, and the conversation goes on', async () => {
      const before = rig.agent('ada').session;
      const silence = await silenceHooks(rig);
      await send('p7', 'line one, told by no hook\nline two');
      await until('p7', 'received');
      await silence.end();
      const lines = rig.state.timeline.filter(({ text }) => text.startsWith('prompt received')).map(({ text }) => text);
      deepStrictEqual(
        [asked('told by no hook'), lines.at(-1), rig.agent('ada').session?.turnsCompleted === before?.turnsCompleted],
        [['line one, told by no hook\nline two'], 'prompt received, as its transcript tells; no hook told it', true],
      );
    });
  });
}

/** From now on the program that Claude's hooks run tells nothing, until `end`. */
async function silenceHooks({ paths }: FleetRig): Promise<{ end(): Promise<void> }> {
  const reading = await readEndpointFile(paths);
  if (reading.kind !== 'ok') throw new Error(`endpoint file ${reading.kind}`);
  const program = path.join(paths.versions, reading.endpoint.version, 'hook.js');
  await rename(program, `${program}.kept`);
  await writeFile(program, '');
  return { end: () => rename(`${program}.kept`, program) };
}
