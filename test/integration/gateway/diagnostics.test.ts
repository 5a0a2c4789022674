import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { type Connection } from '../../../src/core/fleet/select.ts';
import { emptyFleet, type FleetState } from '../../../src/core/fleet/state.ts';
import { collectDiagnostics } from '../../../src/node/diagnostics.ts';
import { GatewayRig } from '../../harness/gatewayRig.ts';
import { WindowStandIn } from '../../harness/gatewayWindow.ts';
import { initializeRequest, wire } from '../../harness/mcpWire.ts';
import { endProcesses } from '../../harness/processes.mjs';
import { waitFor } from '../../harness/waitFor.ts';

const prompt = 'Please look for the "second ledger"\nof the office in Hamburg, and tell nobody.';
const systemPrompt = 'You keep the books of Mister Quince and his wife.';
const variable = 'value-9f-of-a-variable';
const apiKey = 'an-own-key-of-mine-0815';
const argument = 'an-argument-of-mine';

describe('diagnostics of a real gateway', function () {
  this.timeout(120_000);
  let rig: GatewayRig;
  before(async () => {
    rig = await GatewayRig.bundled();
  });
  after(async () => {
    await rig.dispose();
  });

  const collect = (connection: Connection, state: FleetState, signal = new AbortController().signal): Promise<string> =>
    collectDiagnostics({
      paths: rig.paths,
      environment: { ...process.env, ANTHROPIC_API_KEY: apiKey },
      now: Date.now,
      connection,
      state,
      facts: [{ title: 'This window', lines: ['Bowline of a test'] }],
      logFiles: ['/nowhere/Bowline.log'],
      signal,
      say: () => undefined,
    });

  it('tell a stranger what runs, hold no secret wherever one stands, and need no gateway', async () => {
    const endpoint = await rig.start();
    const window = await WindowStandIn.join(endpoint, 'window-one');
    await window.ask({ kind: 'create', name: 'ada', directory: rig.directory() });
    const launchId = await window.launch('ada');
    const change = { systemPrompt, environment: { LEDGER: variable }, extraArguments: ['--add-word', argument] };
    await window.ask({ kind: 'configure agent', name: 'ada', change });
    await window.ask({ kind: 'prompt', name: 'ada', id: 'prompt-one', text: prompt });
    const key = readFileSync(rig.paths.agent('ada').key, 'utf8').trim();
    const headers = { 'x-agent-name': 'ada', 'x-agent-launch': launchId, authorization: `Bearer ${key}` };
    const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const path = '/mcp/bowline-self';
    const body = initializeRequest();
    const session = await wire(endpoint.port, { method: 'POST', path, headers: { ...headers, ...accept }, body });
    const sessionId = String(session.headers['mcp-session-id']);
    await waitFor('the session on disk', () => readFileSync(rig.paths.mcpSessions, 'utf8').includes(sessionId));

    // None of these stands in a log by itself: as if there were a fault that wrote them there.
    const reason = `could not type ${prompt.slice(0, 40)} with ${key} in ${sessionId}`;
    const line = JSON.stringify({ time: 1, level: 'error', message: 'a made up fault', reason, system: systemPrompt });
    appendFileSync(rig.paths.log('gateway'), `${line}\n${JSON.stringify({ headers, variable, argument, apiKey })}\n`);
    appendFileSync(rig.paths.gatewayOutput, `Error: ${endpoint.token} was refused\n    at ${prompt}\n`);
    const online = await collect({ kind: 'connected' }, window.state);
    window.close();

    await endProcesses(rig.paths.directory);
    const away = { kind: 'away', since: Date.now(), reason: 'it was killed' } as const;
    const offline = await collect(away, emptyFleet);

    const secrets = { key, token: endpoint.token, sessionId, systemPrompt, variable, argument, apiKey };
    const parts = { prompt: prompt.slice(0, 34), rest: prompt.slice(36), cut: prompt.slice(0, 24) };
    const leaks = (report: string): readonly string[] =>
      Object.entries({ ...secrets, ...parts }).flatMap(([what, text]) => (report.includes(text) ? what : []));
    const tells = (report: string, ...wanted: readonly string[]): readonly string[] =>
      wanted.filter((text) => !report.includes(text));
    assert.deepStrictEqual([leaks(online), leaks(offline)], [[], []]);
    assert.deepStrictEqual(
      [
        tells(
          online,
          'This window is connected to the gateway.',
          '## Agent ada',
          `launch ${launchId} (fresh, person`,
          'Variables: LEDGER; extra arguments: --add-word (value); own system prompt: yes',
          `Prompt prompt-one: queued, ${prompt.length} characters`,
          'Endpoint bowline-self:',
          'launch requested (stopped -> launching): fresh [window-one]',
          '## End of gateway.jsonl',
          'a made up fault',
          `port ${endpoint.port}`,
          'log /nowhere/Bowline.log: ENOENT',
          '## Versions',
          'Bowline of a test',
        ),
        tells(
          offline,
          'The gateway is away since',
          'the state file; the gateway is away',
          '## Agent ada',
          ', gone, port',
        ),
      ],
      [[], []],
    );
  });

  it('are called off at once', async () => {
    const abort = new AbortController();
    abort.abort(new Error('called off'));
    await assert.rejects(collect({ kind: 'connected' }, emptyFleet, abort.signal), /called off/);
  });
});
