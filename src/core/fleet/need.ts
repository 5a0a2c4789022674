import type { AgentRow } from './select.ts';

/** Why an agent waits for a person. */
export interface Need {
  readonly kind: 'waiting for permission' | 'waiting for input' | 'blocked' | 'dead';
  /** What it waits for, in words. */
  readonly detail: string;
}

/** What a person is needed for; undefined: the agent goes on by itself, or is not meant to. */
export function needOf({ life, detail, activity }: Pick<AgentRow, 'life' | 'detail' | 'activity'>): Need | undefined {
  switch (life) {
    case 'blocked':
    case 'dead':
      return { kind: life, detail };
    case 'verifying':
    case 'ready':
    case 'healing':
      return activity === 'waiting for permission' || activity === 'waiting for input'
        ? { kind: activity, detail: activity }
        : undefined;
    case 'launching':
    case 'stopping':
    case 'stopped':
    case 'sleeping':
      return undefined;
  }
}

/** Whether it has asked something: it goes on when a person answers. */
export function isWaiting(row: Parameters<typeof needOf>[0]): boolean {
  const need = needOf(row)?.kind;
  return need === 'waiting for permission' || need === 'waiting for input';
}
