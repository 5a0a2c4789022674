import { deepStrictEqual, match, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { silentLog } from '../../../src/base/log.ts';
import { Adoptions } from '../../../src/gateway/adoptions.ts';
import { readEndpointFile } from '../../../src/node/endpointFile.ts';
import { processIdentity } from '../../../src/node/processIdentity.ts';
import { foreignListSchema, type ForeignRow } from '../../../src/protocol/adoption.ts';
import { AgentTerminals } from '../../harness/agentTerminals.ts';
import { claudeBinary, claudeEnvironment, claudeVersions, scriptedApiKey } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { FleetStory } from '../../harness/fleetStory.ts';
import { call } from '../../harness/gatewayRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const patience = { timeoutMs: 60_000 };
const words = 'the heron stands at the weir';

for (const version of claudeVersions) {
  /** By hand, in a tmux of its own, on the model and in the home of the agents. */
  describe(`a claude ${version} that a person started by hand`, function () {
    this.timeout(180_000);
    let rig: FleetRig;
    let terminals: AgentTerminals;
    let variables: Record<string, string>;
    let pid: number;

    before(async () => {
      rig = await FleetRig.open({ version, trusted: ['site'] });
      variables = claudeEnvironment({
        home: path.join(rig.root, 'home'),
        modelUrl: rig.model.url,
        apiKey: scriptedApiKey,
      });
      const socket = path.join(rig.root, 'hand.sock');
      terminals = new AgentTerminals(socket, { inputMs: patience.timeoutMs, echoMs: patience.timeoutMs });
      const { stdout } = await promisify(execFile)(
        'tmux',
        [
          ...['-f', '/dev/null', '-S', socket, 'new-session', '-d', '-P', '-F', '#{pane_pid}', '-x', '120', '-y', '40'],
          ...['-s', 'hand', '-c', path.join(rig.root, 'site')],
          ...Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
          ...['--', claudeBinary(version), '--permission-mode=default'],
        ],
        { env: { PATH: process.env['PATH'], TMPDIR: path.join(rig.root, 'tmp'), LANG: 'C.UTF-8' } },
      );
      pid = Number(stdout);
      await terminals.untilInput('hand');
      await terminals.prompt('hand', words);
      await waitFor('the answer', async () => (await terminals.screen('hand')).includes(`${words}>>`), patience);
    });
    after(async () => {
      await rig.dispose();
    });

    /** What the gateway tells of it. */
    const row = async (): Promise<ForeignRow> => {
      const reading = await readEndpointFile(rig.paths);
      if (reading.kind !== 'ok') throw new Error(reading.kind);
      const { body } = await call(reading.endpoint, 'GET', '/foreign');
      const [one, ...more] = foreignListSchema.parse(body).processes;
      if (one === undefined || more.length > 0) throw new Error(JSON.stringify(body));
      return one;
    };
    const idle = (): Promise<ForeignRow> =>
      waitFor(
        'an idle one',
        async () => {
          const one = await row();
          return one.refused === undefined && one;
        },
        patience,
      );
    const adopt = async (as: string): Promise<void> => {
      const { startTime = '', sessionId } = await row();
      await rig.request({ kind: 'adopt', name: as, pid, startTime, sessionId });
    };

    it('is listed with what is known of it, refused while it is busy, and nothing is ended', async () => {
      const { startTime: _opaque, sessionId, startedAt, ...known } = await idle();
      await terminals.prompt('hand', 'SLOW 4000 think');
      await waitFor('a turn', async () => (await row()).status === 'busy', patience);
      await rejects(adopt('site'), /was not adopted, and nothing was ended\. It works on a turn\. Wait until/);
      deepStrictEqual(
        [known, sessionId.length, startedAt !== undefined && startedAt > 0, rig.state.agents, (await row()).pid],
        [
          {
            ...{ pid, directory: await realpath(path.join(rig.root, 'site')), version, status: 'idle' },
            ...{ firstPrompt: words, name: 'site' },
          },
          ...[36, true, {}, pid],
        ],
      );
    });

    it('goes on when it becomes busy between the look and its end', async () => {
      const { startTime = '', sessionId } = await idle();
      const story = new FleetStory();
      const fleet = story.portDuring(async ({ kind }) => {
        if (kind !== 'agent created') return;
        await terminals.prompt('hand', 'SLOW 3000 again');
        await waitFor('a turn', async () => (await row()).status === 'busy', patience);
      });
      const adoptions = new Adoptions({
        ...{ fleet, clock: Date.now, log: silentLog, environment: variables },
        fleetSocket: rig.paths.fleetSocket,
      });
      const asked = { kind: 'adopt', name: 'site', pid, startTime, sessionId } as const;
      await rejects(adoptions.adopt(asked, 'w'), /nothing was ended\. It works on a turn/);
      adoptions.dispose();
      deepStrictEqual([story.state.agents, (await row()).pid], [{}, pid]);
    });

    it('is ended on request, and its conversation goes on as an agent, which answers in it', async () => {
      const { sessionId, startTime } = await idle();
      await adopt('site');
      await rig.untilBound('site');
      await rig.turn('site', 'and now in the fleet');
      const { session } = rig.agent('site');
      const transcript = await readFile(session?.transcriptPath ?? '', 'utf8');
      deepStrictEqual(
        {
          conversation: session?.id,
          holds: [words, 'SLOW 3000 again', 'ECHO<<and now in the fleet>>'].map((text) => transcript.includes(text)),
          isEnded: (await processIdentity(pid))?.startTime !== startTime,
          launches: rig.agent('site').launchCount,
        },
        { conversation: sessionId, holds: [true, true, true], isEnded: true, launches: 1 },
      );
      match(
        rig.state.notices.map(({ sentence }) => sentence).join('\n'),
        new RegExp(
          `Process ${pid} has ended, and site goes on.*By hand it goes on so: cd .*site && claude --resume ${sessionId}`,
        ),
      );
      await rejects(row(), /"processes":\[\]/);
    });
  });
}
