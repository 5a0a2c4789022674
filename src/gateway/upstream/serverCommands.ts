import { BowlineError } from '../../base/errors.ts';
import type { Agent } from '../../core/fleet/agent.ts';
import { throughBowline } from '../../core/mcp/ownServer.ts';
import type { ResolvedServer } from '../../core/mcp/resolveServers.ts';
import type { ServerList } from '../../protocol/ownServers.ts';
import type { Clock, FleetPort } from '../ports.ts';
import type { Forwarder } from './forwarder.ts';
import type { OwnServers } from './ownServers.ts';

export interface ServerCommandsOptions {
  readonly fleet: Pick<FleetPort, 'reportDurably'>;
  readonly own: Pick<OwnServers, 'list'>;
  readonly upstreams: Pick<Forwarder, 'update' | 'callOff'>;
  readonly clock: Clock;
}

/** What a person says about an agent's own MCP servers. */
export class ServerCommands {
  constructor(private readonly options: ServerCommandsOptions) {}

  /** The agent's servers as its files name them now, with what is to be approved. */
  async list({ name }: Pick<Agent, 'name'>): Promise<ServerList> {
    const resolved = (await this.options.own.list(name)) ?? [];
    return {
      servers: resolved.map(({ server, project }) => ({
        server: { ...server, shadows: [...server.shadows] },
        ...(project !== undefined && {
          project: { file: project.file, definition: JSON.stringify(project.entry.raw, undefined, 2) },
        }),
      })),
    };
  }

  /** Approves the definition of this digest, for every agent that has it. */
  async approve(agent: Agent, asked: { readonly server: string; readonly digest: string }, by: string): Promise<void> {
    const { server, digest } = asked;
    const { approval, file } = await this.projectServer(agent, server);
    if (approval.digest !== digest) {
      throw new BowlineError(
        'definition-changed',
        `${file} has another definition of "${server}" by now. Look at it again, then approve that one.`,
      );
    }
    if (approval.state === 'disabled') {
      throw new BowlineError(
        'bad-request',
        `"${server}" is disabled in Claude's settings (disabledMcpjsonServers). Take it out there first.`,
      );
    }
    const { name } = agent;
    const at = this.options.clock();
    await this.options.fleet.reportDurably({ at, asker: by, kind: 'server approved', name, server, file, digest });
  }

  /** Takes an approval back that was given in Bowline; what runs of it ends when the agent is launched anew. */
  async withdraw(agent: Agent, server: string, by: string): Promise<void> {
    const { approval } = await this.projectServer(agent, server);
    const { name } = agent;
    const { digest } = approval;
    const at = this.options.clock();
    await this.options.fleet.reportDurably({ at, asker: by, kind: 'server approval withdrawn', name, server, digest });
  }

  /** Ends the connection to one behind the gateway, and has it made anew with the definition that its file has now. */
  async reconnect({ name }: Agent, server: string, by: string): Promise<void> {
    const resolved = (await this.options.own.list(name)) ?? [];
    const through = throughBowline(resolved.map((one) => one.server));
    const shown = server.slice(0, 100);
    if (!through.includes(server)) {
      const known = through.length === 0 ? 'None is.' : `These are: ${through.join(', ')}.`;
      throw new BowlineError('bad-request', `No MCP server "${shown}" of ${name} is behind the gateway. ${known}`);
    }
    if (await this.options.upstreams.update({ agent: name, server }, { why: 'asked', asker: by })) return;
    throw new BowlineError(
      'bad-request',
      `${name} has not opened "${shown}" yet, so nothing is connected to it. Reconnect MCP has the agent open it.`,
    );
  }

  cancelReconnect({ name: agent }: Agent, server: string): void {
    this.options.upstreams.callOff({ agent, server });
  }

  private async projectServer(
    { name }: Agent,
    server: string,
  ): Promise<{ readonly approval: NonNullable<ResolvedServer['server']['approval']>; readonly file: string }> {
    const resolved = (await this.options.own.list(name)) ?? [];
    const found = resolved.find((one) => one.server.name === server);
    if (found?.project !== undefined && found.server.approval !== undefined) {
      return { approval: found.server.approval, file: found.project.file };
    }
    const names = resolved.flatMap((one) => (one.project === undefined ? [] : [one.server.name]));
    const known = names.length === 0 ? 'It names none.' : `It names: ${names.join(', ')}.`;
    throw new BowlineError(
      'bad-request',
      `The project of ${name} names no MCP server "${server.slice(0, 100)}". ${known}`,
    );
  }
}
