import * as z from 'zod/mini';
import type { FleetSettings } from '../core/fleet/configuration.ts';

const idleMinutesSchema = z.number().check(z.minimum(0), z.maximum(10_080));
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const healingSchema = z.enum(['auto', 'auto to resume', 'auto to reconnect', 'ask', 'off']);

const healingPolicies = healingSchema.options.join(', ');

const failedResumeSchema = z.enum(['ask', 'fresh']);

const guardErrorSchema = z.enum(['block', 'allow']);

/** Settings of the editor for the gateway, and a sentence for each value that was left out. */
export interface SettingsReading {
  readonly settings: FleetSettings;
  readonly complaints: readonly string[];
}

/** Reads the person's settings (`get` as of `WorkspaceConfiguration`). A value that cannot be used is left out alone. */
export function readSettings(get: (name: string) => unknown): SettingsReading {
  const complaints: string[] = [];
  const path = get('claudePath');
  const claudePath = typeof path === 'string' && path.trim() !== '' ? path.trim() : 'claude';
  const healing = healingSchema.safeParse(get('healing'));
  if (!healing.success) complaints.push(`bowline.healing must be one of ${healingPolicies}; auto is used.`);
  const variables = z.record(z.string(), z.unknown()).safeParse(get('environment') ?? {});
  if (!variables.success) complaints.push('bowline.environment must be an object of texts; it is not used.');
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables.data ?? {})) {
    if (!variableName.test(name)) complaints.push(`bowline.environment: "${name}" cannot be a variable's name.`);
    else if (typeof value !== 'string') complaints.push(`bowline.environment: the value of ${name} must be a text.`);
    else environment[name] = value;
  }
  const tmuxPath = readTmuxPath(get);
  const withoutWindow = z.boolean().safeParse(get('healWithoutWindow') ?? true);
  if (!withoutWindow.success) complaints.push('bowline.healWithoutWindow must be true or false; true is used.');
  const idle = idleMinutesSchema.safeParse(get('idleTimeoutMinutes') ?? 0);
  if (!idle.success) complaints.push('bowline.idleTimeoutMinutes must be a number from 0 to 10080; 0 (never) is used.');
  const failedResume = failedResumeSchema.safeParse(get('failedResume') ?? 'ask');
  if (!failedResume.success) complaints.push('bowline.failedResume must be ask or fresh; ask is used.');
  const guardError = guardErrorSchema.safeParse(get('guardError') ?? 'block');
  if (!guardError.success) complaints.push('bowline.guardError must be block or allow; block is used.');
  const messaging = readSwitch(get, 'messaging', complaints);
  const memory = readSwitch(get, 'memory', complaints);
  const through = z.boolean().safeParse(get('mcpServersThroughGateway') ?? true);
  if (!through.success) complaints.push('bowline.mcpServersThroughGateway must be true or false; true is used.');
  const mcpServers = z.record(z.string(), z.unknown()).safeParse(get('mcpServers') ?? {});
  if (!mcpServers.success) complaints.push('bowline.mcpServers must be an object of MCP servers; it is not used.');
  return {
    settings: {
      claudePath,
      environment,
      healing: healing.data ?? 'auto',
      ...(tmuxPath !== undefined && { tmuxPath }),
      ...(guardError.data === 'allow' && { guardError: 'allow' }),
      ...(withoutWindow.data === false && { handsWithoutWindow: 'off' }),
      ...(failedResume.data === 'fresh' && { failedResume: 'fresh' }),
      ...(idle.data !== undefined && idle.data > 0 && { idleMinutes: idle.data }),
      ...(messaging === 'on' && { messaging }),
      ...(memory === 'on' && { memory }),
      ...(Object.keys(mcpServers.data ?? {}).length > 0 && { mcpServers: mcpServers.data }),
      ...(through.data === false && { mcpServersThroughGateway: 'off' }),
    },
    complaints,
  };
}

function readSwitch(get: (name: string) => unknown, name: string, complaints: string[]): 'on' | 'off' {
  const value = z.boolean().safeParse(get(name) ?? false);
  if (!value.success) complaints.push(`bowline.${name} must be true or false; false is used.`);
  return value.data === true ? 'on' : 'off';
}

/** Path of tmux as the person set it; undefined: to be searched for. */
export function readTmuxPath(get: (name: string) => unknown): string | undefined {
  const path = get('tmuxPath');
  return typeof path === 'string' && path.trim() !== '' ? path.trim() : undefined;
}

/** Whether two settings mean the same; the order of variables means nothing. */
export function sameSettings(a: FleetSettings, b: FleetSettings): boolean {
  return fingerprint(a) === fingerprint(b);
}

function fingerprint(settings: FleetSettings): string {
  const {
    claudePath,
    environment,
    healing,
    tmuxPath = '',
    handsWithoutWindow = 'on',
    guardError = 'block',
    idleMinutes = 0,
  } = settings;
  const { failedResume = 'ask', messaging = 'off', memory = 'off' } = settings;
  const { mcpServers = {}, mcpServersThroughGateway = 'on' } = settings;
  const variables = Object.entries(environment).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([
    claudePath,
    tmuxPath,
    healing,
    handsWithoutWindow,
    guardError,
    idleMinutes,
    failedResume,
    messaging,
    memory,
    mcpServers,
    mcpServersThroughGateway,
    variables,
  ]);
}
