import type { EndpointState, StatusText } from '../core/fleet/select.ts';

/** A codicon (without its prefix) and a colour; never shown without a word beside it. */
export interface Look {
  readonly icon: string;
  readonly tone: 'good' | 'quiet' | 'info' | 'warning' | 'error';
}

export const stateLooks: Readonly<Record<EndpointState, Look>> = {
  bound: { icon: 'pass-filled', tone: 'good' },
  pending: { icon: 'watch', tone: 'quiet' },
  suspect: { icon: 'sync', tone: 'info' },
  'not checkable': { icon: 'question', tone: 'quiet' },
  unbound: { icon: 'error', tone: 'error' },
  'gateway down': { icon: 'debug-disconnect', tone: 'warning' },
  off: { icon: 'circle-slash', tone: 'quiet' },
};

/** `word` says the severity to people who do not see the icon; empty where there is nothing to say. */
export const severityLooks: Readonly<Record<StatusText['severity'], Look & { readonly word: string }>> = {
  calm: { icon: 'pass', tone: 'good', word: '' },
  neutral: { icon: 'sync', tone: 'info', word: '' },
  warning: { icon: 'warning', tone: 'warning', word: 'Warning: ' },
  error: { icon: 'error', tone: 'error', word: 'Error: ' },
};
