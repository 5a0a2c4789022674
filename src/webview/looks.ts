import type { AgentRow, EndpointState, StatusText } from '../core/fleet/select.ts';
import type { TimelineKind } from '../core/fleet/state.ts';

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

/** Of an event; one that means nothing for the binding has a dot. */
export const eventLooks: Readonly<Record<TimelineKind | 'other', Look & { readonly word: string }>> = {
  epoch: { icon: 'sync', tone: 'quiet', word: 'Epoch: ' },
  outage: { icon: 'debug-disconnect', tone: 'error', word: 'Outage: ' },
  heal: { icon: 'heart', tone: 'good', word: 'Heal: ' },
  other: { icon: 'circle-small-filled', tone: 'quiet', word: '' },
};

/** Of an agent that waits for a person, is being changed, or does not run; undefined: its words say all. */
export function lifeLooks({ life, activity }: AgentRow): Look | undefined {
  switch (life) {
    case 'dead':
      return { icon: 'error', tone: 'error' };
    case 'blocked':
      return { icon: 'warning', tone: 'warning' };
    case 'healing':
      return { icon: 'sync', tone: 'warning' };
    case 'stopped':
      return { icon: 'circle-slash', tone: 'quiet' };
    case 'sleeping':
      return { icon: 'debug-pause', tone: 'quiet' };
    case 'launching':
    case 'stopping':
    case 'verifying':
      return { icon: 'watch', tone: 'quiet' };
    case 'ready':
      return activity === 'waiting for permission' || activity === 'waiting for input'
        ? { icon: 'bell', tone: 'warning' }
        : undefined;
  }
}
