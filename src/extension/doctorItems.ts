import { type DoctorFix, type DoctorLine, type DoctorVerdict, doctorSummary, fixLabel } from '../core/doctor/line.ts';

/** A line of the Doctor's list, before it is an item of VS Code. */
export type DoctorItem =
  | { readonly kind: 'heading'; readonly label: string }
  | {
      readonly kind: 'line';
      readonly label: string;
      readonly description: string;
      readonly detail: string;
      readonly fixes: readonly DoctorFix[];
    }
  | { readonly kind: 'action'; readonly label: string; readonly action: DoctorAction };

export type DoctorAction = 'copy the report' | 'open the report' | 'run again';

const icons: Readonly<Record<DoctorVerdict, string>> = {
  problem: '$(error)',
  unknown: '$(question)',
  note: '$(info)',
  good: '$(pass)',
};

/**
 * The whole list. What a line can do is said in words, because Enter does it: a screen reader does not come to buttons
 * beside a line.
 */
export function doctorItems(lines: readonly DoctorLine[]): readonly DoctorItem[] {
  return [
    { kind: 'heading', label: doctorSummary(lines) },
    ...lines.map((line): DoctorItem => {
      const { subject, verdict, text, fixes } = line;
      const [first, ...others] = fixes;
      const enter =
        first === undefined
          ? ''
          : `Enter: ${others.length === 0 ? fixLabel(first) : `${fixes.length} ways to mend it`}`;
      return {
        kind: 'line',
        label: `${icons[verdict]} ${subject}`,
        description: [verdict, enter].filter((part) => part !== '').join(' · '),
        detail: text,
        fixes,
      };
    }),
    { kind: 'heading', label: 'Report' },
    { kind: 'action', label: '$(copy) Copy Report', action: 'copy the report' },
    { kind: 'action', label: '$(go-to-file) Open Report', action: 'open the report' },
    { kind: 'action', label: '$(refresh) Run Again', action: 'run again' },
  ];
}
