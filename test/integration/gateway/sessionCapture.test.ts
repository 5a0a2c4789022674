import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import {
  bundleGatewayPrograms,
  call,
  type Cut,
  type GatewayPrograms,
  GatewayRig,
  runHookLine,
} from '../../harness/gatewayRig.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { kill } from '../../harness/holderRig.ts';
import { waitFor } from '../../harness/waitFor.ts';

const settingsSchema = z.object({
  hooks: z.record(z.string(), z.array(z.object({ hooks: z.array(z.object({ command: z.string() })) }))),
});
const sessionSchema = z.object({ id: z.string(), turnsCompleted: z.number() });
const agentSchema = z.object({ agent: z.object({ session: z.exactOptional(sessionSchema) }) });

/**
 * The chain that must never rot unseen: Claude's settings name the hook, the built hook posts a captured payload, the
 * gateway writes it. Each link is also cut on purpose, and then the id must be lost: this proves that the test looks.
 */
describe('session id capture', function () {
  this.timeout(120_000);
  let rig: GatewayRig | undefined;
  let programs: GatewayPrograms | undefined;

  async function begin(cut?: Cut): Promise<{ endpoint: Endpoint; rig: GatewayRig }> {
    programs = await bundleGatewayPrograms(cut);
    rig = new GatewayRig(programs);
    return { endpoint: await rig.start(), rig };
  }

  afterEach(async () => {
    await rig?.dispose();
    programs?.dispose();
    rig = programs = undefined;
  });

  const payload = (version: string): Promise<string> =>
    readFile(`test/fixtures/claude/${version}/hooks/startup.json`, 'utf8');
  const idIn = async (text: Promise<string>): Promise<string> =>
    z.object({ session_id: z.string() }).parse(JSON.parse(await text)).session_id;

  /** Creates `ada` through the stand-in for a window, which also reports the launch; resolves with its settings file. */
  async function launchAda(endpoint: Endpoint, own: GatewayRig): Promise<string> {
    const window = await WindowStandIn.join(endpoint, 'stand-in');
    const created = await window.ask({ kind: 'create', name: 'ada', directory: own.directory() });
    assert.equal(created, undefined);
    await window.launch('ada');
    window.close();
    return own.paths.agent('ada').settings;
  }

  /** Runs every command that the settings have for SessionStart, as Claude does. */
  async function sessionStarts(settingsFile: string, text: string): Promise<number> {
    const settings = settingsSchema.parse(JSON.parse(await readFile(settingsFile, 'utf8')));
    const commands = (settings.hooks['SessionStart'] ?? []).flatMap((entry) => entry.hooks);
    for (const { command } of commands) {
      const run = await runHookLine(command, text);
      assert.deepStrictEqual({ code: run.code, stdout: run.stdout }, { code: 0, stdout: '' });
    }
    return commands.length;
  }

  async function idOfAda(endpoint: Endpoint): Promise<string | undefined> {
    const { body } = await call(endpoint, 'GET', '/agents/ada');
    return agentSchema.parse(body).agent.session?.id;
  }

  /** The whole chain with a kill -9 right after the hook; resolves with the id that the next run of the gateway knows. */
  async function captured(version: string, cut?: Cut): Promise<string | undefined> {
    const { endpoint, rig: own } = await begin(cut);
    const settings = await launchAda(endpoint, own);
    await sessionStarts(settings, await payload(version));
    return idOfAda(await own.restartGateway(endpoint));
  }

  for (const version of ['2.1.160', '2.1.332']) {
    it(`keeps the id of claude ${version} when the gateway is killed right after the hook`, async () => {
      assert.equal(await captured(version), await idIn(payload(version)));
    });
  }

  const cuts: Readonly<Record<string, Cut>> = {
    'the hook settings lack SessionStart': {
      file: 'core/claude/hooks.ts',
      from: "export const hooksSet = [\n  'SessionStart',",
      to: 'export const hooksSet = [',
    },
    'the route is gone': {
      file: 'gateway/router.ts',
      from: String.raw`/^\/agents\/([^/]+)\/session$/`,
      to: '/^$/',
    },
    'the reducer forgets the case': {
      file: 'core/fleet/reduceLife.ts',
      from: "    case 'hook reported':\n      return hookReportedOnce(agent, event);",
      to: "    case 'hook reported':\n      return { agent };",
    },
  };
  for (const [name, cut] of Object.entries(cuts)) {
    it(`would be seen to be lost: ${name}`, async () => {
      assert.equal(await captured('2.1.332', cut), undefined);
    });
  }

  it('keeps the report in the spool while no gateway runs, starts one, and has the id then', async () => {
    const { endpoint, rig: own } = await begin();
    const settings = await launchAda(endpoint, own);
    const [holder] = own.processes().filter((pid) => pid !== endpoint.gateway.pid);
    assert.ok(holder !== undefined);
    kill(holder, 'SIGKILL');
    await waitFor('the end of holder and gateway', () => own.processes().length === 0);
    await sessionStarts(settings, await payload('2.1.332'));
    // The hook has started the launcher, which starts a holder.
    const next = await own.up({ not: endpoint });
    const id = await idIn(payload('2.1.332'));
    await waitFor('the id', async () => (await idOfAda(next)) === id);
    await waitFor('an empty spool', () => !readdirSync(own.paths.spool).some((name) => name.startsWith('ada-')));
  });

  it('counts a turn once whose end was posted to a gateway that hung, and spooled', async () => {
    const { endpoint, rig: own } = await begin();
    const settings = await launchAda(endpoint, own);
    const text = await payload('2.1.332');
    await sessionStarts(settings, text);
    const stop = JSON.stringify({ ...z.looseObject({}).parse(JSON.parse(text)), hook_event_name: 'Stop' });
    kill(endpoint.gateway.pid, 'SIGSTOP');
    await sessionStarts(settings, stop);
    // It goes on before its heartbeat is missed, and finds the report on its connection and in the spool.
    kill(endpoint.gateway.pid, 'SIGCONT');
    await waitFor('an empty spool', () => !readdirSync(own.paths.spool).some((name) => name.startsWith('ada-')));
    const { body } = await call(endpoint, 'GET', '/agents/ada');
    assert.equal(agentSchema.parse(body).agent.session?.turnsCompleted, 1);
  });

  it('keeps the report in the spool while the gateway hangs, within a second', async () => {
    const { endpoint, rig: own } = await begin();
    const settings = await launchAda(endpoint, own);
    kill(endpoint.gateway.pid, 'SIGSTOP');
    await sessionStarts(settings, await payload('2.1.332'));
    const spooled = readdirSync(own.paths.spool).filter((name) => name.startsWith('ada-'));
    assert.equal(spooled.length, 1);
    assert.equal(await idOfAda(await own.restartGateway(endpoint)), await idIn(payload('2.1.332')));
  });
});
