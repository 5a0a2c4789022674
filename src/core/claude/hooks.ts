import { readApiError } from './apiErrors.ts';
import type { HookEvent, HookFact } from './facts.ts';
import { recordOf, textOf } from './fields.ts';

/** The hooks that Bowline sets. Each run is a process in the agent's way, so there are few. */
export const hooksSet = [
  'SessionStart',
  'UserPromptSubmit',
  'Stop',
  'StopFailure',
  'SessionEnd',
  'Notification',
  'PermissionRequest',
] as const;

/** Seconds until Claude gives up waiting for a hook. The hook itself ends within one. */
const hookTimeoutSeconds = 5;

/** Everything a hook tells by itself; whether the transcript is there takes a look at the disk. */
export type HookPayload = Omit<HookFact, 'transcriptExists'>;

/**
 * Reads the JSON that a hook gets on its standard input (measured, claude 2.1.160 and 2.1.332). `undefined` if it names
 * no event or no session; an event that is not known here is `other`, and its session id counts all the same. Texts of
 * prompts and answers are not kept.
 */
export function readHookPayload(payload: unknown): HookPayload | undefined {
  const fields = recordOf(payload);
  const name = textOf(fields?.['hook_event_name']);
  const sessionId = textOf(fields?.['session_id']);
  if (fields === undefined || name === undefined || sessionId === undefined) return undefined;
  const transcriptPath = textOf(fields['transcript_path']);
  return {
    event: eventNamed(name),
    sessionId,
    ...(transcriptPath !== undefined && { transcriptPath }),
    ...details(name, fields),
  };
}

/** The prompt that UserPromptSubmit hands over; only its digest goes on. */
export function promptOf(payload: unknown): string | undefined {
  const fields = recordOf(payload);
  return fields?.['hook_event_name'] === 'UserPromptSubmit' ? textOf(fields['prompt']) : undefined;
}

function eventNamed(name: string): HookEvent {
  switch (name) {
    case 'SessionStart':
    case 'UserPromptSubmit':
    case 'Stop':
    case 'StopFailure':
    case 'SessionEnd':
    case 'Notification':
      return name;
    case 'PermissionRequest':
      // It runs when the dialog opens; the notification of the same dialog comes 6 s later (measured, both versions).
      return 'Notification';
    default:
      return 'other';
  }
}

function details(
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Pick<HookFact, 'source' | 'waitingFor' | 'error'> {
  switch (name) {
    case 'SessionStart': {
      const source = textOf(fields['source']);
      return source === undefined ? {} : { source };
    }
    case 'SessionEnd': {
      const source = textOf(fields['reason']);
      return source === undefined ? {} : { source };
    }
    case 'StopFailure':
      return { error: readApiError({ code: fields['error'], text: fields['last_assistant_message'] }) };
    case 'PermissionRequest':
      return { waitingFor: 'permission' };
    case 'Notification': {
      const waitingFor = waitingForOf(fields['notification_type']);
      return waitingFor === undefined ? {} : { waitingFor };
    }
    default:
      return {};
  }
}

/** `idle_prompt` is no question: it says that an idle agent has been idle for a minute. */
function waitingForOf(type: unknown): HookFact['waitingFor'] {
  switch (type) {
    case 'permission_prompt':
    case 'worker_permission_prompt':
      return 'permission';
    case 'agent_needs_input':
    case 'elicitation_dialog':
    case 'elicitation_url_dialog':
      return 'input';
    default:
      return undefined;
  }
}

/**
 * What goes into the file of `--settings`: a command hook for each event (`http` hooks do not run at SessionStart), and
 * permission for every tool of the built-in servers, so that saving never waits for a person. `mcp__<server>` allows all
 * tools of a server in both versions (measured). `command` is a line for /bin/sh, see {@link shellLine}.
 */
export function hookSettings(options: {
  readonly command: string;
  readonly allowedServers: readonly string[];
}): Readonly<Record<string, unknown>> {
  const entry = [{ hooks: [{ type: 'command', command: options.command, timeout: hookTimeoutSeconds }] }];
  return {
    permissions: { allow: options.allowedServers.map((server) => `mcp__${server}`) },
    hooks: Object.fromEntries(hooksSet.map((event) => [event, entry])),
  };
}
