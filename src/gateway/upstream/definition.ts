import { createHash } from 'node:crypto';
import type { Event } from '../../base/events.ts';
import { stableText } from '../../core/mcp/stableText.ts';

/** How an agent's own MCP server is reached: approved, and every variable in it expanded. It may hold secrets. */
export type UpstreamDefinition = UpstreamTarget & {
  /** Two definitions with the same digest are the same; says nothing of what is in them. */
  readonly digest: string;
};

export type UpstreamTarget =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** All variables of the process but the launch's, which differ by session: nothing else is handed down. */
      readonly environment: Readonly<Record<string, string>>;
      /** Absolute path that the process starts in. */
      readonly directory: string;
    }
  | {
      readonly kind: 'http' | 'sse';
      readonly url: string;
      /** What the person's configuration wants to be sent. */
      readonly headers: Readonly<Record<string, string>>;
    };

/** One server of one agent. */
export interface UpstreamName {
  readonly agent: string;
  readonly server: string;
}

/** Which upstreams the agents have. Their names are those that the fleet's state tells. */
export interface UpstreamDefinitions {
  /** By now, from the person's files as they were last read; undefined: this agent has no such upstream. Never rejects. */
  of(name: UpstreamName): Promise<UpstreamDefinition | undefined>;
  /** What {@link of} resolves with is another one than before. */
  readonly onDidChange: Event<UpstreamName>;
  /** The server wants a login: it is left to Claude, which {@link of} tells from now on. */
  wantsLogin(name: UpstreamName): void;
}

export function upstreamDefinition(target: UpstreamTarget): UpstreamDefinition {
  return { ...target, digest: createHash('sha256').update(stableText(target)).digest('base64url') };
}
