import { type AnnouncementMemory, nothingAnnounced } from './announcements.ts';
import type { AgentFilter } from './filter.ts';
import type { Place } from './matrix.ts';

/** What the page keeps for itself while it is hidden or loaded anew: only how it is looked at, nothing of the fleet. */
export interface PageState {
  readonly filter: AgentFilter;
  /** Whose details are shown. Absent: nobody has chosen yet. `nothing`: they were closed. */
  readonly selected?: Place | 'nothing';
  /** Absent: nobody has chosen, and it is open where there is room. */
  readonly timeline?: 'open' | 'closed';
  /** `binding`: only epochs, outages and heals. */
  readonly events: 'all' | 'binding';
  /** How far the page is scrolled, in pixels. */
  readonly scroll: number;
  readonly announced: AnnouncementMemory;
}

const initialState: PageState = {
  filter: { text: '', scope: 'all' },
  events: 'all',
  scroll: 0,
  announced: nothingAnnounced,
};

/** Reads what an earlier page, maybe of an earlier version, left. What does not fit is as at the first start. */
export function readPageState(kept: unknown): PageState {
  if (!isRecord(kept)) return initialState;
  const selected = kept.selected === 'nothing' ? kept.selected : readPlace(kept.selected);
  return {
    filter: isRecord(kept.filter)
      ? {
          text: typeof kept.filter.text === 'string' ? kept.filter.text : '',
          scope: kept.filter.scope === 'attention' ? 'attention' : 'all',
        }
      : initialState.filter,
    ...(selected !== undefined && { selected }),
    ...((kept.timeline === 'open' || kept.timeline === 'closed') && { timeline: kept.timeline }),
    events: kept.events === 'binding' ? 'binding' : 'all',
    scroll: typeof kept.scroll === 'number' && kept.scroll > 0 ? kept.scroll : 0,
    announced: isRecord(kept.announced) ? readMemory(kept.announced) : nothingAnnounced,
  };
}

function readPlace(kept: unknown): Place | undefined {
  if (!isRecord(kept) || typeof kept.agent !== 'string') return undefined;
  return { agent: kept.agent, ...(typeof kept.server === 'string' && { server: kept.server }) };
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
