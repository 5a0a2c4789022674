import type { ConversationRow } from '../protocol/conversations.ts';

/** A conversation as a person chooses it: its first words, when it was last written, how large it is, whose it is. */
export interface ConversationItem {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly row: ConversationRow;
}

/** `timeText` writes a time as the editor's person is used to. Only what has a transcript can be opened or resumed. */
export function conversationItems(
  rows: readonly ConversationRow[],
  timeText: (at: number) => string,
): readonly ConversationItem[] {
  return rows.flatMap((row) => {
    if (row.transcript === undefined) return [];
    const whose = relationText(row);
    const parts = [...whose, timeText(row.at), sizeText(row.transcript.bytes), row.objection ?? ''];
    return {
      label: row.firstPrompt ?? row.sessionId,
      description: parts.filter((part) => part !== '').join(', '),
      detail: row.firstPrompt === undefined ? '' : row.sessionId,
      row,
    };
  });
}

const causes: Readonly<Partial<Record<string, string>>> = {
  startup: 'begun fresh',
  resume: 'resumed',
  clear: 'begun by /clear',
  compact: 'compacted',
  fork: 'forked',
  rotated: 'forked or changed in its terminal',
  found: 'found among the transcripts',
  adopted: 'of a process that was adopted',
};

function relationText({ relation, cause }: ConversationRow): readonly string[] {
  if (relation === 'other') return [];
  const how = cause === undefined ? '' : (causes[cause] ?? cause);
  return [relation === 'current' ? 'current' : 'of this agent', how];
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const kilobytes = bytes / 1024;
  return kilobytes < 1024 ? `${kilobytes.toFixed(0)} kB` : `${(kilobytes / 1024).toFixed(1)} MB`;
}
