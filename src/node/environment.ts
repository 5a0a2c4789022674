import type { AgentConfiguration, FleetSettings } from '../core/fleet/configuration.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const allowedNames = new Set([
  'HOME',
  'PATH',
  'SHELL',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'SSH_AUTH_SOCK',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'DBUS_SESSION_BUS_ADDRESS',
  'NODE_EXTRA_CA_CERTS',
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
]);

const allowedPrefixes = ['LC_', 'XDG_', 'SSL_CERT_', 'ANTHROPIC_', 'AWS_', 'GOOGLE_', 'GCLOUD_'];

/** `http_proxy`, `HTTPS_PROXY`, `ALL_PROXY`, `no_proxy` ... */
const proxyName = /^[a-z]+_proxy$/i;

/**
 * Whether a variable of the editor's environment may reach an agent by itself. All else (`CLAUDECODE`, `CLAUDE_CODE_*`,
 * `VSCODE_*`, `ELECTRON_*`, `NODE_OPTIONS`, `TMUX` ...) would change how Claude behaves: an inherited
 * `CLAUDE_CODE_CHILD_SESSION` makes it write no transcript (measured, claude 2.1.160 and 2.1.332).
 */
export function mayReachAgent(name: string): boolean {
  return allowedNames.has(name) || proxyName.test(name) || allowedPrefixes.some((prefix) => name.startsWith(prefix));
}

/** The variables that an agent's process gets where the host's are `environment`, for finding its files. */
export function agentEnvironment(
  environment: Environment,
  settings: Pick<FleetSettings, 'environment'>,
  configuration: Pick<AgentConfiguration, 'environment'> | undefined,
): Record<string, string> {
  return { ...agentBaseEnvironment(environment), ...settings.environment, ...configuration?.environment };
}

/** The part of `environment` that agents, and the tmux server that holds them, start with. */
export function agentBaseEnvironment(environment: Environment): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && mayReachAgent(name)) result[name] = value;
  }
  return result;
}
