import type { Verdict } from './verdict.ts';

/** The verdict in words for the audit. */
export function verdictText(verdict: Verdict): string {
  return verdict.downgraded === 'no' ? verdict.reason : `${verdict.reason} (${verdict.downgraded})`;
}

/** Why the agent was not restarted, what would be lost, and the next step. */
export function blockedSentence(name: string, verdict: Verdict): string {
  return (
    `${name} was not restarted: ${why(verdict)}. Would be lost: ${verdict.wouldBeLost} ` +
    `${nextStep(verdict)} To restart it all the same, bypass the guard.`
  );
}

/** What the guard would say now. */
export function planSentence(name: string, verdict: Verdict): string {
  if (verdict.downgraded !== 'no') return `Allowed, with a warning: ${downgradedSentence(name, verdict)}`;
  return verdict.allowed ? `Allowed: ${why(verdict)}.` : `Blocked: ${why(verdict)}. ${nextStep(verdict)}`;
}

/** What is told when the guard let a restart through that it would have blocked, had the agent been able to save. */
export function downgradedSentence(name: string, verdict: Verdict): string {
  const cause =
    verdict.downgraded === 'tools unreachable' ? 'its tools are unreachable' : 'each turn of its conversation fails';
  return `${name} is restarted without a save (${why(verdict)}): it cannot save, ${cause}. Lost: ${verdict.wouldBeLost}`;
}

/** The reason with its numbers. */
function why({ reason, saveAgeSeconds: age, saveTrailsBySeconds: trails }: Verdict): string {
  const numbers = [
    ...(age === undefined ? [] : [`the last save is ${age} s old`]),
    ...(trails === undefined ? [] : [`the last work came ${trails} s after it`]),
  ].join(', ');
  return numbers === '' ? reason : `${reason} (${numbers})`;
}

function nextStep(verdict: Verdict): string {
  switch (verdict.reason) {
    case 'turn in progress':
      return 'Wait for the end of the turn, or interrupt it.';
    case 'waiting for permission':
      return 'Attach and answer the question.';
    case 'unsent input':
      return 'Attach, and send or remove what stands there.';
    case 'missing context':
    case 'missing explicit save':
    case 'different session':
    case 'save too old':
      return 'Ask the agent to save its context first, or restart it with resume.';
    case 'ok':
    case 'not running':
    case 'no completed turn':
      return '';
  }
}
