import type { AgentRow, FleetView } from './select.ts';
import type { TimelineEntry } from './state.ts';

/** What turns one view of the fleet into a later one: only what differs, so that 200 agents cost no more than the one that changed. */
export interface ViewChanges {
  /** Rows that are new or differ. */
  readonly agents?: readonly AgentRow[];
  /** All names in their order, where the set or the order differs. */
  readonly names?: readonly string[];
  readonly status?: FleetView['status'];
  readonly blackouts?: FleetView['blackouts'];
  readonly connection?: FleetView['connection'];
  /** What follows at the end, and how many entries there are then. */
  readonly timeline?: { readonly added: readonly TimelineEntry[]; readonly length: number };
}

/** Undefined: both show the same. */
export function changesBetween(former: FleetView, next: FleetView): ViewChanges | undefined {
  const known = new Map(former.agents.map((row) => [row.name, row]));
  const agents = next.agents.filter((row) => textOf(row) !== textOf(known.get(row.name)));
  const isSameOrder =
    former.agents.length === next.agents.length &&
    next.agents.every(({ name }, index) => former.agents[index]?.name === name);
  const changes: ViewChanges = {
    ...(agents.length > 0 && { agents }),
    ...(!isSameOrder && { names: next.agents.map(({ name }) => name) }),
    ...(textOf(former.status) !== textOf(next.status) && { status: next.status }),
    ...(textOf(former.blackouts) !== textOf(next.blackouts) && { blackouts: next.blackouts }),
    ...(textOf(former.connection) !== textOf(next.connection) && { connection: next.connection }),
    ...(former.timeline !== next.timeline && { timeline: tailOf(former.timeline, next.timeline) }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** The later view; what did not change in it is the same object as before. */
export function applyChanges(former: FleetView, changes: ViewChanges): FleetView {
  const { agents: changed = [], names, timeline, ...rest } = changes;
  const rows = new Map([...former.agents, ...changed].map((row) => [row.name, row]));
  return {
    ...former,
    ...rest,
    agents:
      names === undefined && changed.length === 0
        ? former.agents
        : (names ?? former.agents.map(({ name }) => name)).flatMap((name) => rows.get(name) ?? []),
    ...(timeline !== undefined && {
      timeline: [...former.timeline, ...timeline.added].slice(
        former.timeline.length + timeline.added.length - timeline.length,
      ),
    }),
  };
}

/** Entries stay the same objects as long as they are in the list; a list that does not go on where the former ended is told as a whole. */
function tailOf(
  former: readonly TimelineEntry[],
  next: readonly TimelineEntry[],
): NonNullable<ViewChanges['timeline']> {
  const [first] = next;
  const start = first === undefined ? -1 : former.indexOf(first);
  const kept = start < 0 ? 0 : former.length - start;
  const goesOn =
    kept <= next.length && former.slice(former.length - kept).every((entry, index) => entry === next[index]);
  return { added: goesOn ? next.slice(kept) : next, length: next.length };
}

const texts = new WeakMap<object, string>();

/** A view is selected anew each time: its parts are compared by what they say. */
function textOf(part: object | undefined): string {
  if (part === undefined) return '';
  const known = texts.get(part);
  if (known !== undefined) return known;
  const text = JSON.stringify(part);
  texts.set(part, text);
  return text;
}
