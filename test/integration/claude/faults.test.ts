import { deepStrictEqual, match, ok } from 'node:assert/strict';
import { appendFile, link, mkdir, readFile, realpath, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BowlineError } from '../../../src/base/errors.ts';
import type { Agent } from '../../../src/core/fleet/agent.ts';
import { readEndpointFile } from '../../../src/node/endpointFile.ts';
import { claudeBinary, claudeEnvironment, scriptedApiKey } from '../../harness/claude.ts';
import { FleetRig } from '../../harness/fleetRig.ts';
import { fleetOnDisk } from '../../harness/journaledFleet.ts';
import { waitFor } from '../../harness/waitFor.ts';

const version = '2.1.332';
const clockJump = 20 * 60_000;

/** What strangers' machines do to real agents. */
describe(`faults around claude ${version}`, function () {
  this.timeout(180_000);
  let rig: FleetRig;
  let program: string;

  before(async () => {
    rig = await FleetRig.open({
      version,
      trusted: ['ada', 'bo'],
      // As of an editor that was started from the desktop.
      environment: { PATH: '/usr/bin:/bin', SHELL: '/bin/bash' },
    });
    const directory = path.join(rig.root, 'programs');
    await mkdir(directory);
    program = path.join(directory, 'claude');
    await symlink(claudeBinary(version), program);
    await writeFile(path.join(rig.root, 'home', '.bash_profile'), `echo welcome\nPATH="${directory}:$PATH"\n`);
  });

  after(async () => {
    await rig.dispose();
  });

  const configure = (claudePath: string): Promise<void> => {
    const home = path.join(rig.root, 'home');
    const environment = claudeEnvironment({ home, modelUrl: rig.model.url, apiKey: scriptedApiKey });
    return rig.request({ kind: 'configure', settings: { claudePath, environment, healing: 'auto' } });
  };

  it('a claude that only the login shell knows is found', async () => {
    await configure('claude');
    for (const name of ['ada', 'bo']) await rig.create(name, name);
    for (const name of ['ada', 'bo']) await rig.untilBound(name);
    const { life } = rig.agent('ada');
    const pid = life.kind === 'running' ? life.running.process.pid : 0;
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    ok(line.startsWith(`${program}\0`) || (await realpath(`/proc/${pid}/exe`)) === (await realpath(program)), line);
  });

  it('a name that cannot be one is refused with the rule, and nothing is started for it', async () => {
    const sentences: string[] = [];
    for (const name of ['ada', '', ' ', '../x', 'a.b:c', 'x'.repeat(200)]) {
      await rig.create(name, 'ada').catch((error: unknown) => {
        sentences.push(error instanceof BowlineError ? `${error.code}: ${error.message}` : String(error));
      });
    }
    const rule = 'Use 1 to 32 of a-z, 0-9, "-" and "_", beginning with a letter or digit, for example "ada".';
    const sessions = await rig.tmux('list-sessions', '-F', '#{session_name}');
    deepStrictEqual(
      [sentences, sessions.trim().split('\n').sort()],
      [
        [
          'name-taken: An agent named ada exists already. Choose another name, or remove it.',
          `name-invalid: An agent needs a name. ${rule}`,
          `name-invalid: An agent needs a name. ${rule}`,
          `name-invalid: "../x" cannot be an agent's name. ${rule}`,
          `name-invalid: "a.b:c" cannot be an agent's name. ${rule}`,
          `name-invalid: The name "${'x'.repeat(32)}..." has 200 characters. ${rule}`,
        ],
        ['_bowline', 'ada', 'bo'],
      ],
    );
  });

  it('an update of the program disturbs no running agent; when it is gone at the next launch, that is said once', async () => {
    await link(await realpath(program), path.join(rig.root, 'programs', 'next')).catch(() =>
      symlink(claudeBinary(version), path.join(rig.root, 'programs', 'next')),
    );
    await rename(path.join(rig.root, 'programs', 'next'), program);
    await rig.turn('ada', 'CALL mcp__bowline-self__whoami');
    const { session } = rig.agent('ada');
    await unlink(program);
    await configure(program);
    await rig.request({ kind: 'stop', name: 'ada' });
    await rig.until('ada', 'stopped', (row) => row.life === 'stopped');
    await rig.request({ kind: 'start', name: 'ada' });
    await rig.until('ada', 'dead', (row) => row.life === 'dead');
    match(rig.row('ada').detail, /^binary missing: There is no program at .*claude\. Install Claude Code, or set /);
    await symlink(claudeBinary(version), program);
    await rig.request({ kind: 'start', name: 'ada' });
    await rig.untilBound('ada', 3);
    deepStrictEqual([rig.agent('ada').session?.id, rig.agent('bo').launchCount], [session?.id, 1]);
  });

  it('a clock that jumps 20 minutes has everything probed and nothing healthy restarted', async () => {
    const before = ['ada', 'bo'].map((name) => [name, rig.agent(name).launchCount, rig.agent(name).session?.id]);
    await giveGatewayAClockThatJumps(rig);
    for (const [index, jump] of (['SIGUSR2', 'SIGWINCH'] as const).entries()) {
      const asked = new Map(
        ['ada', 'bo'].map((name) => [name, rig.agent(name).bindings['bowline-self']?.probe?.sentAt]),
      );
      const reading = await readEndpointFile(rig.paths);
      if (reading.kind !== 'ok') throw new Error('the gateway has not published itself');
      process.kill(reading.endpoint.gateway.pid, jump);
      const noticed = async (): Promise<boolean> => {
        const log = await readFile(rig.paths.log('gateway'), 'utf8');
        return log.split('the host slept, or its clock was set').length - 1 > index;
      };
      await waitFor(`${jump} to be noticed`, noticed, { timeoutMs: 60_000 });
      for (const name of ['ada', 'bo']) {
        await rig.until(name, `probed after ${jump}`, (row, agent) => {
          const { probe, doubt } = agent.bindings['bowline-self'] ?? {};
          const isAnswered = probe?.failures === 0 && probe.sentAt !== asked.get(name);
          return isAnswered && doubt === undefined && row.worst === 'bound';
        });
      }
    }
    const after = ['ada', 'bo'].map((name) => [name, rig.agent(name).launchCount, rig.agent(name).session?.id]);
    const screens = await Promise.all(['ada', 'bo'].map((name) => rig.screen(name)));
    deepStrictEqual(
      [after, rig.agent('ada').incidents, screens.map((screen) => screen.includes('reconnect'))],
      [before, {}, [false, false]],
    );
  });
});

/** Runs the gateway anew on a fake clock: SIGUSR2 sets it forward, SIGWINCH back. */
async function giveGatewayAClockThatJumps(rig: FleetRig): Promise<void> {
  const isOnDisk = async (): Promise<boolean> => {
    const { agents } = await fleetOnDisk(rig.paths);
    const listedAt = (agent: Agent | undefined): number | undefined => agent?.bindings['bowline-self']?.toolsListedAt;
    return ['ada', 'bo'].every((name) => listedAt(agents[name]) === listedAt(rig.agent(name)));
  };
  await waitFor('what was seen last to be on disk', isOnDisk, { timeoutMs: 60_000 });
  const reading = await readEndpointFile(rig.paths);
  if (reading.kind !== 'ok') throw new Error('the gateway has not published itself');
  const { gateway, version: directory } = reading.endpoint;
  const file = path.join(rig.paths.versions, directory, 'gateway.js');
  const fake =
    `{ let ahead = 0; const real = Date.now; Date.now = () => real() + ahead; ` +
    `process.on('SIGUSR2', () => { ahead += ${clockJump}; }); process.on('SIGWINCH', () => { ahead -= ${clockJump}; }); }\n`;
  const text = await readFile(file, 'utf8');
  await rm(file);
  await writeFile(file, fake);
  await appendFile(file, text);
  process.kill(gateway.pid, 'SIGKILL');
  await waitFor(
    'the gateway on the fake clock',
    async () => {
      const next = await readEndpointFile(rig.paths);
      return next.kind === 'ok' && next.endpoint.gateway.instance !== gateway.instance;
    },
    { timeoutMs: 60_000 },
  );
  for (const name of ['ada', 'bo']) await rig.until(name, 'bound', (row) => row.worst === 'bound');
}
