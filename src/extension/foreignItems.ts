import type { ForeignRow } from '../protocol/adoption.ts';

/** A Claude session as a person chooses it: its first words, what it does, since when, where, and what speaks against it. */
export interface ForeignItem {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly row: ForeignRow;
}

/** `timeText` writes a time as the editor's person is used to. */
export function foreignItems(rows: readonly ForeignRow[], timeText: (at: number) => string): readonly ForeignItem[] {
  return rows.map((row) => {
    const { pid, status, startedAt, version, directory, firstPrompt, refused } = row;
    const known = [
      status ?? 'status unknown',
      startedAt === undefined ? '' : `since ${timeText(startedAt)}`,
      version === undefined ? '' : `Claude Code ${version}`,
      `process ${pid}`,
    ];
    return {
      label: `${refused === undefined ? '' : '$(circle-slash) '}${firstPrompt ?? row.sessionId}`,
      description: known.filter((part) => part !== '').join(', '),
      detail: [directory ?? '', refused ?? ''].filter((part) => part !== '').join(': '),
      row,
    };
  });
}
