/** What the Doctor found out about one thing, and what can be done about it. */
export interface DoctorLine {
  readonly subject: DoctorSubject;
  /** `problem`: agents do not work, or lose something. `note`: they work, and this is good to know. */
  readonly verdict: DoctorVerdict;
  /** What was found and the next step, in whole sentences. */
  readonly text: string;
  /** Best first; empty: nothing that a button could do. */
  readonly fixes: readonly DoctorFix[];
}

export type DoctorVerdict = 'problem' | 'note' | 'unknown' | 'good';

/** In the order in which they are shown. */
export const doctorSubjects = [
  'tmux',
  'claude',
  'login',
  'trust',
  'MCP configuration',
  'gateway',
  'node-pty',
  'directories',
  'PATH',
] as const;

export type DoctorSubject = (typeof doctorSubjects)[number];

/** What a button does. Nothing here is done before a person presses it. */
export type DoctorFix =
  | { readonly kind: 'open setting'; readonly setting: string }
  | { readonly kind: 'open page'; readonly label: string; readonly address: string }
  | { readonly kind: 'open file'; readonly path: string }
  /** Typed into a terminal; the person reads it and presses Enter. */
  | { readonly kind: 'type in terminal'; readonly label: string; readonly line: string }
  | { readonly kind: 'start gateway' | 'show log' | 'manage trust' | 'MCP servers' }
  | { readonly kind: 'make private'; readonly path: string }
  /** Makes it the PATH of every agent, from its next start on. */
  | { readonly kind: 'use PATH'; readonly value: string };

/** What stands on the button. */
export function fixLabel(fix: DoctorFix): string {
  switch (fix.kind) {
    case 'open setting':
      return `Open Setting ${fix.setting}`;
    case 'open page':
    case 'type in terminal':
      return fix.label;
    case 'open file':
      return `Open ${fix.path.split('/').at(-1) ?? fix.path}`;
    case 'start gateway':
      return 'Start the Gateway Now';
    case 'show log':
      return 'Show Log';
    case 'manage trust':
      return 'Manage Workspace Trust';
    case 'MCP servers':
      return 'MCP Servers';
    case 'make private':
      return 'Make It Private';
    case 'use PATH':
      return "Give Agents the Login Shell's PATH";
  }
}

/** The gravest first; of one verdict in the order of the subjects. */
export function inOrder(lines: readonly DoctorLine[]): readonly DoctorLine[] {
  const verdicts: readonly DoctorVerdict[] = ['problem', 'unknown', 'note', 'good'];
  const rank = ({ verdict, subject }: DoctorLine): number =>
    verdicts.indexOf(verdict) * doctorSubjects.length + doctorSubjects.indexOf(subject);
  return [...lines].sort((a, b) => rank(a) - rank(b));
}

/** For example `2 problems, 1 note, 6 good`. */
export function doctorSummary(lines: readonly DoctorLine[]): string {
  const count = (verdict: DoctorVerdict): number => lines.filter((line) => line.verdict === verdict).length;
  const plural = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;
  const [problems, notes, unknown] = [count('problem'), count('note'), count('unknown')];
  return [
    ...(problems > 0 ? [plural(problems, 'problem')] : []),
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
    ...(notes > 0 ? [plural(notes, 'note')] : []),
    `${count('good')} good`,
  ].join(', ');
}

/** The report for somebody else; to be redacted. `facts`: of the machine and the editor, a line each. */
export function doctorReport(lines: readonly DoctorLine[], at: number, facts: readonly string[]): string {
  return [
    '# Bowline Doctor',
    [`Time: ${new Date(at).toISOString()}`, ...facts].map((fact) => `- ${fact}`).join('\n'),
    `${doctorSummary(lines)}.`,
    inOrder(lines)
      .map(({ subject, verdict, text }) => `- **${subject}** (${verdict}): ${text}`)
      .join('\n'),
    '',
  ].join('\n\n');
}
