import { readFile } from 'node:fs/promises';
import type { Endpoint } from '../../src/protocol/endpointFile.ts';
import type { GatewayRig } from './gatewayRig.ts';
import { WindowStandIn } from './gatewayWindow.ts';

/** An agent whose process runs as far as the gateway knows. */
export interface LaunchedAgent {
  readonly name: string;
  /** By which its MCP requests are known. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface LaunchedAgentsOptions {
  /** They are `agent-1` to `agent-<size>`, in one directory. */
  readonly size: number;
  /** As `bowline.mcpServers`. */
  readonly mcpServers?: Readonly<Record<string, unknown>>;
}

/** Agents that do not heal; a stand-in for a window tells their launches, and stays joined. */
export async function launchedAgents(
  rig: GatewayRig,
  endpoint: Endpoint,
  { size, mcpServers }: LaunchedAgentsOptions,
): Promise<{ readonly window: WindowStandIn; readonly agents: readonly LaunchedAgent[] }> {
  const window = await WindowStandIn.join(endpoint, 'one');
  const settings = { claudePath: 'claude', environment: {}, healing: 'off', handsWithoutWindow: 'off' } as const;
  await window.ask({ kind: 'configure', settings: { ...settings, ...(mcpServers !== undefined && { mcpServers }) } });
  const directory = rig.directory();
  const agents: LaunchedAgent[] = [];
  for (let index = 1; index <= size; index += 1) {
    const name = `agent-${index}`;
    const problem = await window.ask({ kind: 'create', name, directory });
    if (problem !== undefined) throw new Error(`${name}: ${problem.sentence}`);
    const launch = await window.launch(name);
    const key = (await readFile(rig.paths.agent(name).key, 'utf8')).trim();
    const headers = { 'x-agent-name': name, 'x-agent-launch': launch, authorization: `Bearer ${key}` };
    agents.push({ name, headers });
  }
  return { window, agents };
}
