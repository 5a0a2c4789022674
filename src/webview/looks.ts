import type { EndpointState, StatusText } from '../core/fleet/select.ts';

/** A codicon (without its prefix) and a colour; never shown without a word beside it. */
export interface Look {
  readonly icon: string;
  readonly tone: 'good' | 'quiet' | 'warning' | 'error';
}

/** The icons of the Agents view, so that one state looks the same everywhere; a spinning one would draw the eye here. */
export const stateLooks: Readonly<Record<EndpointState, Look>> = {
  bound: { icon: 'link', tone: 'good' },
  pending: { icon: 'watch', tone: 'quiet' },
  suspect: { icon: 'question', tone: 'warning' },
  degraded: { icon: 'warning', tone: 'warning' },
  'not checkable': { icon: 'circle-large-outline', tone: 'quiet' },
  unbound: { icon: 'debug-disconnect', tone: 'error' },
  'gateway down': { icon: 'debug-disconnect', tone: 'warning' },
  off: { icon: 'circle-slash', tone: 'quiet' },
};

/** `word` says the severity to people who do not see the icon; empty where there is nothing to say. */
export const severityLooks: Readonly<Record<StatusText['severity'], Look & { readonly word: string }>> = {
  calm: { icon: 'link', tone: 'good', word: '' },
  neutral: { icon: 'sync', tone: 'quiet', word: '' },
  warning: { icon: 'warning', tone: 'warning', word: 'Warning: ' },
  error: { icon: 'error', tone: 'error', word: 'Error: ' },
};
