import { en } from 'zod/locales';
import type * as z from 'zod/mini';

let english: ReturnType<typeof en>['localeError'] | undefined;

/** For `safeParse`, where somebody reads what did not fit: without it `zod/mini` says "Invalid input" to everything. */
export const inEnglish: z.core.ParseContext<z.core.$ZodIssue> = {
  error: (issue) => (english ??= en().localeError)(issue),
};

/** Place and reason of the first thing that did not fit. `whole` names the value itself. */
export function firstIssue({ issues: [issue] }: z.core.$ZodError, whole: string): string {
  return issue === undefined ? 'wrong shape' : sentence(issue, whole);
}

/** Like {@link firstIssue}, all of them. */
export function allIssues({ issues }: z.core.$ZodError, whole: string): string {
  return issues.map((issue) => sentence(issue, whole)).join('; ');
}

function sentence({ path, message }: z.core.$ZodIssue, whole: string): string {
  return `${path.join('.') || whole}: ${message}`;
}
