import path from 'node:path';
import type { Endpoint } from '../../src/protocol/endpointFile.ts';
import { GatewayRig } from '../harness/gatewayRig.ts';
import type { WindowStandIn } from '../harness/gatewayWindow.ts';
import { type LaunchedAgent, launchedAgents, type LaunchedAgentsOptions } from '../harness/launchedAgents.ts';
import { repository } from '../host/setup.mjs';
import type { Target } from './callClient.ts';

/** The built, minified holder and gateway, and agents whose MCP clients are the bench's own. */
export class ServedFleet {
  private constructor(
    readonly rig: GatewayRig,
    readonly endpoint: Endpoint,
    readonly window: WindowStandIn,
    readonly agents: readonly LaunchedAgent[],
  ) {}

  static async open(options: LaunchedAgentsOptions): Promise<ServedFleet> {
    const rig = new GatewayRig({ directory: path.join(repository, 'dist'), dispose: () => undefined });
    try {
      const endpoint = await rig.start();
      const { window, agents } = await launchedAgents(rig, endpoint, options);
      return new ServedFleet(rig, endpoint, window, agents);
    } catch (error) {
      await rig.dispose();
      throw error;
    }
  }

  /** The server of this name as `agent` reaches it. */
  target({ headers }: LaunchedAgent, server: string): Target {
    return { port: this.endpoint.port, path: `/mcp/${server}`, headers };
  }

  async dispose(): Promise<void> {
    this.window.drop();
    await this.rig.dispose();
  }
}
