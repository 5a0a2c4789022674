import { toolNameTooLong } from '../claude/apiErrors.ts';
import { type Agent, runningLaunch } from './agent.ts';

/** Something that endangers the agent's conversation, or that a person should know of its process. */
export interface Alarm {
  readonly code:
    'not-saved' | 'hooks-silent' | 'conversation-shared' | 'launch-doubled' | 'program-changed' | 'tool-name-too-long';
  readonly sentence: string;
  readonly severity: 'warning' | 'error';
}

/** What is to be warned of now; it goes when its cause does. */
export function alarmsOf(agent: Agent): readonly Alarm[] {
  const { name, session } = agent;
  const running = runningLaunch(agent);
  if (running === undefined) return [];
  const alarms: Alarm[] = [];
  if (running.shared !== undefined) {
    alarms.push({
      code: 'conversation-shared',
      severity: 'error',
      sentence:
        `Another process (pid ${running.shared.pid}) works on the conversation of ${name}, and each overwrites what the ` +
        'other did. End that one.',
    });
  }
  if (running.doubled !== undefined) {
    alarms.push({
      code: 'launch-doubled',
      severity: 'error',
      sentence:
        `Another process (pid ${running.doubled.pid}) runs under the launch of ${name}: its launch line was run again, or ` +
        `its variables were copied. Its hooks do not count, but its tool calls go out as ${name}. End that one; Attach ` +
        'shows the real one.',
    });
  }
  if (session?.unsaved?.missingAt !== undefined) {
    alarms.push({
      code: 'not-saved',
      severity: 'error',
      sentence:
        `${name} takes prompts, and Claude writes no transcript (${session.unsaved.path}): this conversation cannot be ` +
        'resumed. Look for CLAUDE_CODE_CHILD_SESSION among its variables, and whether the disk is full.',
    });
  }
  const silentSince = running.hooks?.silentSince;
  if (session !== undefined && silentSince !== undefined && session.reportedAt < silentSince) {
    alarms.push({
      code: 'hooks-silent',
      severity: 'error',
      sentence:
        `Hooks silent: ${name} takes prompts that no hook of it tells, so that a change of its conversation would go ` +
        'unseen. Restart it, and look at Show Log if that does not help.',
    });
  }
  if (session?.apiErrors?.kind === toolNameTooLong) {
    alarms.push({
      code: 'tool-name-too-long',
      severity: 'error',
      sentence:
        `Each turn of ${name} fails, because the full name of one of its tools (mcp__SERVER__TOOL) has more than 64 ` +
        `characters. Give that MCP server a shorter name where it is configured, or remove it there, then restart ${name}.`,
    });
  }
  if (running.program !== undefined) {
    const what = running.program === 'gone' ? 'is gone' : 'was replaced while it runs';
    alarms.push({
      code: 'program-changed',
      severity: 'warning',
      sentence: `The program of ${name} ${what}. It goes on with the one it was started with; Restart takes the new one.`,
    });
  }
  return alarms;
}
