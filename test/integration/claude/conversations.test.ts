import { deepStrictEqual, match, ok, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { launchArguments } from '../../../src/core/claude/launchArguments.ts';
import { claudeBinary, claudeVersions } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';

for (const version of claudeVersions) {
  describe(`conversations of claude ${version}`, function () {
    this.timeout(180_000);
    let rig: FleetRig;

    before(async () => {
      rig = await FleetRig.open({
        version,
        trusted: ['shared'],
        // A tmux server started from a shell of Claude Code hands these on (case 23).
        environment: { CLAUDECODE: '1', CLAUDE_CODE_CHILD_SESSION: '1' },
      });
    });

    after(async () => {
      await rig.dispose();
    });

    /** The same program with the words and variables of a fresh launch, in a terminal of its own. */
    async function copyOfLaunch(name: string): Promise<{ readonly pid: number; end(): Promise<unknown> }> {
      const { life } = rig.agent(name);
      if (life.kind !== 'running') throw new Error(`${name} is ${life.kind}`);
      const { pid } = life.running.process;
      const { settings: settingsFile, mcpConfig: mcpConfigFile } = rig.paths.agent(name);
      const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').slice(0, -1);
      const words = launchArguments({
        ...{ conversation: { mode: 'fresh' }, settingsFile, mcpConfigFile },
        ...{ permissionMode: 'default', extraArguments: [] },
      });
      const tmux = async (...args: readonly string[]): Promise<string> =>
        (await promisify(execFile)('tmux', ['-S', path.join(rig.root, 'copy'), ...args])).stdout;
      const command = [
        'env',
        '-i',
        ...variables.filter((one) => !one.startsWith('TMUX')),
        claudeBinary(version),
        ...words,
      ];
      await tmux('-f', '/dev/null', 'new-session', '-d', '-c', path.join(rig.root, 'shared'), '--', ...command);
      return {
        pid: Number(await tmux('display-message', '-p', '#{pane_pid}')),
        end: () => tmux('kill-server'),
      };
    }

    it('binds two agents in one directory, and each writes its transcript (case 23)', async () => {
      await rig.create('ada', 'shared');
      await rig.create('bo', 'shared');
      for (const name of ['ada', 'bo']) {
        await rig.untilBound(name);
        await rig.turn(name, `CALL mcp__bowline-self__whoami`);
        const transcript = rig.agent(name).session?.transcriptPath ?? '';
        match(await readFile(transcript, 'utf8'), new RegExp(rig.agent(name).session?.id ?? 'no session'));
      }
      const answers = rig.model.requests.flatMap(({ toolResults }) => toolResults);
      deepStrictEqual(
        ['ada', 'bo'].map((name) => answers.some((answer) => answer.includes(name))),
        [true, true],
      );
    });

    it('keeps its own when its launch line is run once more, and says so until that one is gone', async () => {
      const before = rig.agent('ada').session;
      const copy = await copyOfLaunch('ada');
      try {
        await rig.until('ada', 'warned of', (row) => row.warnings.some((text) => text.includes(`(pid ${copy.pid})`)));
        deepStrictEqual(rig.row('ada').warnings.length, 1);
      } finally {
        await copy.end();
      }
      await rig.turn('ada', 'hello');
      await rig.until('ada', 'not warned of', (row) => row.warnings.length === 0);
      const { session, lineage } = rig.agent('ada');
      deepStrictEqual([session?.id, session?.turnsCompleted, lineage], [before?.id, 2, []]);
    });

    it('gives each agent of one directory back its own conversation (case 16)', async () => {
      const before = ['ada', 'bo'].map((name) => rig.agent(name).session?.id);
      for (const name of ['ada', 'bo']) {
        await rig.request({ kind: 'restart', name, mode: 'resume', guard: 'enforce' });
      }
      for (const name of ['ada', 'bo']) await rig.untilBound(name, 2);
      deepStrictEqual(
        ['ada', 'bo'].map((name) => [rig.agent(name).session?.id, rig.agent(name).launches.at(-1)?.reason]),
        before.map((id) => [id, 'replaced']),
      );
      ok(before[0] !== before[1]);
    });

    it('follows /clear to the new conversation', async () => {
      const before = rig.agent('bo').session?.id;
      await rig.prompt('bo', '/clear');
      await rig.until('bo', 'in a new conversation', (_row, agent) => agent.session?.id !== before);
      deepStrictEqual([rig.agent('bo').session?.cause, rig.agent('bo').lineage.at(-1)?.id], ['clear', before]);
    });

    it('quarantines a conversation after two turns that fail by one poison, and goes on in a fork before them (case 17)', async () => {
      const bad = 'FAIL400 `thinking` blocks cannot be modified';
      for (const text of ['opening words', 'later words', bad, bad]) await rig.turn('bo', text);
      await rig.until('bo', 'blocked', (row) => row.life === 'blocked' && row.poison === 'poisoned: thinking blocks');
      const resume = { kind: 'restart', name: 'bo', mode: 'resume', guard: 'enforce' } as const;
      await rejects(rig.request(resume), /fails with the same error \(thinking blocks\)/);
      const { session: before, launchCount } = rig.agent('bo');
      const original = await readFile(before?.transcriptPath ?? '');
      await rig.request({ kind: 'fork', name: 'bo' });
      await rig.untilBound('bo', launchCount + 1);
      await rig.turn('bo', 'after the fork');
      const { session, lineage } = rig.agent('bo');
      const copy = await readFile(session?.transcriptPath ?? '', 'utf8');
      deepStrictEqual(
        {
          cause: session?.cause,
          former: [lineage.at(-1)?.id, lineage.at(-1)?.quarantine?.error],
          holds: ['opening words', 'later words', 'FAIL400', 'after the fork'].map((text) => copy.includes(text)),
        },
        { cause: 'fork', former: [before?.id, 'poisoned: thinking blocks'], holds: [true, false, false, true] },
      );
      // What Claude writes when it ends, it appends.
      const kept = await readFile(before?.transcriptPath ?? '');
      ok(kept.subarray(0, original.length).equals(original));
    });

    it('reconnects on request, with the same conversation and a new MCP session', async () => {
      const { session, bindings } = rig.agent('ada');
      await rig.request({ kind: 'reconnect', name: 'ada', server: 'bowline-self' });
      await rig.until('ada', 'reconnected', (row, agent) => {
        return row.worst === 'bound' && agent.bindings['bowline-self']?.session !== bindings['bowline-self']?.session;
      });
      await rig.until('ada', 'done with healing', (_row, agent) => Object.keys(agent.incidents).length === 0);
      deepStrictEqual(rig.agent('ada').session?.id, session?.id);
    });

    it('holds back a fresh restart over unsaved work, and lets it through after a save', async () => {
      const fresh = { kind: 'restart', name: 'ada', mode: 'fresh', guard: 'enforce' } as const;
      await rejects(rig.request(fresh), /context/);
      await rig.turn('ada', 'CALL mcp__bowline-self__save_my_context {"context":"half way through"}');
      const before = rig.agent('ada').session?.id;
      await rig.request(fresh);
      await rig.untilBound('ada', 3);
      ok(rig.agent('ada').session?.id !== before);
    });

    it('never makes a new conversation of a failed resume', async () => {
      await rig.turn('ada', 'hello');
      const { session, lineage } = rig.agent('ada');
      // A claude that still runs would write to the file again.
      await rig.request({ kind: 'stop', name: 'ada' });
      await rig.until('ada', 'stopped', (row) => row.life === 'stopped');
      await rm(session?.transcriptPath ?? '');
      await rig.request({ kind: 'start', name: 'ada' });
      await rig.until('ada', 'blocked', (row) => row.life === 'blocked');
      match(rig.row('ada').detail, /resume failed/);
      deepStrictEqual([rig.agent('ada').session?.id, rig.agent('ada').lineage], [session?.id, lineage]);
    });

    it('stops and removes agents, and leaves no tmux session of theirs', async () => {
      await rig.request({ kind: 'stop', name: 'bo' });
      await rig.until('bo', 'stopped', (row) => row.life === 'stopped');
      for (const name of ['ada', 'bo']) await rig.request({ kind: 'remove', name });
      const sessions = await rig.tmux('list-sessions', '-F', '#{session_name}');
      ok(!/^(bo)$/m.test(sessions), sessions);
    });
  });
}
