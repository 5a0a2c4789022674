import type { Connection } from '../core/fleet/select.ts';
import type { AuditRecord, FleetState } from '../core/fleet/state.ts';

/** Whose audit is shown, and to whom. */
export interface AuditView {
  /** Absent: the whole fleet. */
  readonly agent?: string;
  /** This window's name in the audit. */
  readonly window: string;
  /** A BCP 47 tag: in whose manner times are written. */
  readonly locale: string;
  /** IANA name; absent: that of this machine. */
  readonly timeZone?: string;
  readonly connection: Connection;
}

/**
 * What was done to an agent or to all, newest first, as a document: a heading for each day and a line for each record,
 * so that headings and lines are what one moves by.
 */
export function auditText({ audit }: Pick<FleetState, 'audit'>, view: AuditView): string {
  const { agent, locale, connection } = view;
  const zone = view.timeZone === undefined ? {} : { timeZone: view.timeZone };
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'full', ...zone });
  const times = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', ...zone });
  const records = audit.filter((record) => agent === undefined || record.agent === agent).toReversed();
  const lines = [`# Audit of ${agent ?? 'the fleet'}`, '', introduction(records.length, dates)];
  if (connection.kind === 'away') {
    const since = times.format(connection.since);
    lines.push('', `The gateway is away since ${since} (${connection.reason}). This is what was known then.`);
  }
  let day = '';
  for (const record of records) {
    const date = dates.format(record.at);
    if (date !== day) lines.push('', `## ${date}`, '');
    day = date;
    const subject = agent === undefined ? ` ${record.agent}` : '';
    lines.push(`- ${times.format(record.at)}${subject}: ${sentence(record, view.window)}`);
  }
  return `${lines.join('\n')}\n`;
}

function introduction(count: number, dates: Intl.DateTimeFormat): string {
  if (count === 0) return 'Nothing was done yet.';
  const records = count === 1 ? '1 record' : `${count} records`;
  const { timeZone } = dates.resolvedOptions();
  return `${records}, newest first, in the time of ${timeZone}. It is kept up to date while it is open.`;
}

function sentence(record: AuditRecord, window: string): string {
  if (record.action === 'guard bypassed') {
    const reason = record.reason === '' ? '' : ` Reason: ${clause(record.reason)}.`;
    const what = `guard bypassed for a ${record.mode} restart; it said: ${clause(record.verdict)}.`;
    return `${what}${reason}${byWhom(record.by, window)}`;
  }
  const what =
    record.action === 'deed' ? record.what : `${record.trigger}, ${record.from === 'none' ? '' : 'now '}${record.to}`;
  const detail = record.detail === undefined ? '' : `: ${clause(record.detail)}`;
  return `${what}${detail}.${byWhom(record.by, window)}`;
}

/** Records of former versions do not tell. */
function byWhom(by: string | undefined, window: string): string {
  if (by === undefined) return '';
  const rule = /^rule: (.*)$/.exec(by)?.[1];
  if (rule !== undefined) return ` By the rule for ${rule}.`;
  const hands = /^hands: (.*)$/.exec(by)?.[1];
  if (hands !== undefined) return ` By the hands (${hands === window ? 'this window' : hands}).`;
  return ` By ${by === window ? 'this window' : (known[by] ?? by)}.`;
}

const known: Readonly<Partial<Record<string, string>>> = {
  gateway: 'the gateway',
  hook: "Claude's hook",
  agent: 'the agent',
  'admin API': 'a script (admin API)',
};

/** On one line and without its full stop: that follows. */
function clause(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '');
}
