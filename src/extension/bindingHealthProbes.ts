import type { FleetState } from '../core/fleet/state.ts';
import type { ProbeSample } from '../protocol/webview.ts';

/** Probes kept of an endpoint: twenty minutes of one that is probed every 30 s. */
const samplesKept = 40;

/** The probes that this window has seen, of each endpoint: the state of the fleet holds only the latest. */
export class SeenProbes {
  private readonly agents = new Map<string, ReadonlyMap<string, readonly ProbeSample[]>>();
  private last: FleetState['agents'] | undefined;

  /** Takes up what is new in the state. To be called at each change. */
  look(agents: FleetState['agents']): void {
    for (const name of this.agents.keys()) if (!Object.hasOwn(agents, name)) this.agents.delete(name);
    for (const [name, agent] of Object.entries(agents)) {
      if (this.last?.[name]?.bindings === agent.bindings) continue;
      const former = this.agents.get(name);
      const servers = Object.entries(agent.bindings).map(([server, { probe }]) => {
        const samples = former?.get(server) ?? [];
        if (probe === undefined || samples.at(-1)?.at === probe.sentAt) return [server, samples] as const;
        const ms = probe.failures === 0 ? probe.roundTripMs : undefined;
        const sample = { at: probe.sentAt, ...(ms !== undefined && { ms }) };
        return [server, [...samples, sample].slice(-samplesKept)] as const;
      });
      this.agents.set(name, new Map(servers));
    }
    this.last = agents;
  }

  of(agent: string, server: string): readonly ProbeSample[] {
    return this.agents.get(agent)?.get(server) ?? [];
  }
}
