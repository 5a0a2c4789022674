import type { HookFact } from '../core/claude/facts.ts';
import type { HookReport } from '../core/claude/hooks.ts';

/** What the fleet needs of a hook's payload. `exists` tells whether a file is there. */
export function hookFact(report: HookReport, exists: (path: string) => boolean): HookFact {
  const { sessionId, transcriptPath, error } = report;
  const source = report.source ?? report.reason;
  const waitingFor = waitingForOf(report);
  return {
    event: eventOf(report),
    sessionId,
    ...(transcriptPath !== undefined && { transcriptPath }),
    transcriptExists: transcriptPath !== undefined && exists(transcriptPath),
    ...(source !== undefined && { source: source.slice(0, 100) }),
    ...(waitingFor !== undefined && { waitingFor }),
    ...(error !== undefined && { error: error.slice(0, 200) }),
  };
}

function eventOf({ hookEvent }: HookReport): HookFact['event'] {
  if (typeof hookEvent !== 'string') return 'other';
  return hookEvent === 'PermissionRequest' ? 'Notification' : hookEvent;
}

function waitingForOf({ hookEvent, notificationType }: HookReport): HookFact['waitingFor'] {
  if (hookEvent === 'PermissionRequest' || notificationType === 'permission_prompt') return 'permission';
  return notificationType === 'agent_needs_input' ? 'input' : undefined;
}
