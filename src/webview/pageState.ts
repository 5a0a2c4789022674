import { type AnnouncementMemory, nothingAnnounced } from './announcements.ts';
import type { AgentFilter } from './filter.ts';

/** What the page keeps for itself while it is hidden or loaded anew: only how it is looked at, nothing of the fleet. */
export interface PageState {
  readonly filter: AgentFilter;
  readonly timeline: 'open' | 'closed';
  readonly announced: AnnouncementMemory;
}

const initialState: PageState = {
  filter: { text: '', scope: 'all' },
  timeline: 'closed',
  announced: nothingAnnounced,
};

/** Reads what an earlier page, maybe of an earlier version, left. What does not fit is as at the first start. */
export function readPageState(kept: unknown): PageState {
  if (!isRecord(kept)) return initialState;
  return {
    filter: isRecord(kept.filter)
      ? {
          text: typeof kept.filter.text === 'string' ? kept.filter.text : '',
          scope: kept.filter.scope === 'attention' ? 'attention' : 'all',
        }
      : initialState.filter,
    timeline: kept.timeline === 'open' ? 'open' : 'closed',
    announced: isRecord(kept.announced) ? readMemory(kept.announced) : nothingAnnounced,
  };
}

function readMemory(kept: Record<string, unknown>): AnnouncementMemory {
  const lost = isRecord(kept.lost) ? Object.entries(kept.lost) : [];
  return {
    lost: Object.fromEntries(
      lost.flatMap(([name, causes]) => (Array.isArray(causes) ? [[name, causes.filter(isString)] as const] : [])),
    ),
    gateway: kept.gateway === 'away' ? 'away' : 'here',
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}
