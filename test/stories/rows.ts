/** What healing and the restart guard promise. Each is shown on both versions of the real claude; a story says it when it has. */
export const rows = {
  reconnect: 'an alive-but-unbound resume heals at `reconnect`',
  fresh: 'when `reconnect` and `resume` fail, fresh once binds (the guard is satisfied)',
  stale: 'when `reconnect` and `resume` fail and the save is stale, it asks instead',
  bound: 'a bound resume triggers no rung at all',
  configuration: 'a cause in the configuration never leads to a restart',
  stop: 'stop during a launch leaves no process',
  unresumable: 'an unresumable conversation is `blocked` with choices',
  poisoned: 'a poisoned conversation is quarantined after two errors',
  dead: 'still unbound after fresh is `dead` with its reason',
  deadTools: 'the guard with dead tools does not deadlock',
  bypass: 'a bypass leaves an audit record',
  forceFresh: 'force fresh once survives a kill -9 of the gateway between request and launch',
} as const;

const all: ReadonlySet<string> = new Set(Object.values(rows));

/** Whether a line of a story is one of the promises. */
export function isRow(line: string): boolean {
  return all.has(line);
}

/** Promises that are not among these lines. */
export function missingRows(lines: readonly string[]): readonly string[] {
  return [...all].filter((row) => !lines.includes(row));
}
