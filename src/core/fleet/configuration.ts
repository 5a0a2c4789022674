/** What the person set in the editor and the gateway needs without it. */
export interface FleetSettings {
  /** Path of the `claude` program, or just `claude` to have it looked up. */
  readonly claudePath: string;
  /** Variables for every agent, over the allow-listed environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly healing: HealingPolicy;
  /** Path of the `tmux` program; absent: it is searched for. */
  readonly tmuxPath?: string;
  /** Whether the gateway acts itself while no window does; absent: `on`. */
  readonly handsWithoutWindow?: 'on' | 'off';
  /** What becomes of an agent whose conversation cannot be resumed; absent: `ask`. */
  readonly failedResume?: FailedResume;
  /** After so many minutes without work an agent is put to sleep; absent: never. */
  readonly idleMinutes?: number;
  /** What a restart does when the guard itself fails; absent: `block`. */
  readonly guardError?: 'block' | 'allow';
  /** Whether agents have the built-in server `bowline-messaging`; absent: `off`. */
  readonly messaging?: 'on' | 'off';
  /** Whether agents have the built-in server `bowline-memory`; absent: `off`. */
  readonly memory?: 'on' | 'off';
  /** MCP servers for every agent, as they would stand in a `.mcp.json`; absent: none. */
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  /** Whether the agents' own MCP servers are reached through the gateway; absent: `on`. */
  readonly mcpServersThroughGateway?: 'on' | 'off';
}

/**
 * How far Bowline may go by itself. `auto` goes up to a fresh start where the restart guard allows one, the two others up
 * to the rung they name.
 */
export type HealingPolicy = 'auto' | 'auto to reconnect' | 'auto to resume' | 'ask' | 'off';

/** `fresh`: it begins a new conversation by itself, and the loss is told. `ask`: a person chooses. */
export type FailedResume = 'ask' | 'fresh';

export interface AgentConfiguration {
  /** Absolute path. */
  readonly directory: string;
  readonly model?: string;
  readonly permissionMode?: string;
  readonly extraArguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Built-in endpoints by name; `off` ones are not given to the agent. */
  readonly servers: Readonly<Record<string, 'on' | 'off'>>;
  /** Absent: the fleet's policy. */
  readonly healing?: HealingPolicy;
  /** Absent: as the fleet. */
  readonly failedResume?: FailedResume;
  /** 0: never put to sleep. Absent: as the fleet. */
  readonly idleMinutes?: number;
  /** Absolute paths that it may work in besides its own. */
  readonly addedDirectories?: readonly string[];
  /** A word of Claude's; absent: Claude's own choice. */
  readonly effort?: string;
  /** What is appended to Claude's own system prompt. */
  readonly systemPrompt?: string;
  /** MCP servers of its own that it reaches without Bowline; absent: none. */
  readonly aroundBowline?: readonly string[];
}
