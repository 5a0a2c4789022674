import type { BlockedReason, DeadReason } from './life.ts';

/** Ways in which a process ends that nobody asked for. */
type UnaskedEnd = Extract<
  BlockedReason | DeadReason,
  'resume failed' | 'login needed' | 'configuration error' | 'binary missing' | 'crashed'
>;

const texts: Readonly<Record<UnaskedEnd, string>> = {
  'resume failed':
    'Nothing was started in its place. Use Force Fresh Restart to begin anew, or Resume Other Conversation.',
  'login needed': 'Run claude in a terminal and log in with /login, then resume the agent.',
  'configuration error': 'Mend what it names, then resume the agent.',
  'binary missing':
    'Install Claude Code, or set "bowline.claudePath" to the full path of claude, then resume the agent.',
  crashed: 'Resume starts it again, with its conversation.',
};

/** What is known about an end that nobody asked for, and what to do next. */
export function withNextStep(detail: string, end: UnaskedEnd): string {
  return `${/[.!?…]$/u.test(detail) ? detail : `${detail}.`} ${texts[end]}`;
}
