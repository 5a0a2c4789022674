import { dialsAgainWhenCalled, isBelow, readVersion } from '../claude/version.ts';
import type { DoctorFix, DoctorLine } from './line.ts';

/** The oldest and the newest Claude Code that Bowline was tried with. */
const tried = { oldest: [2, 1, 145], newest: [2, 1, 332] } as const;

const claudeSetting: DoctorFix = { kind: 'open setting', setting: 'bowline.claudePath' };
const claudePage: DoctorFix = {
  kind: 'open page',
  label: 'How to Install Claude Code',
  address: 'https://code.claude.com/docs/en/setup',
};

/** A program that was looked for. */
export type FoundProgram =
  | { readonly kind: 'found'; readonly file: string; readonly version: string }
  /** `sentence` tells the next step, too. */
  | { readonly kind: 'missing'; readonly sentence: string };

/** What is known of the version that agents run. */
export function claudeLine(program: FoundProgram): DoctorLine {
  if (program.kind === 'missing') {
    return { subject: 'claude', verdict: 'problem', text: program.sentence, fixes: [claudePage, claudeSetting] };
  }
  const { file, version } = program;
  const numbers = readVersion(version);
  if (numbers === undefined) {
    const text = `${file} does not tell a version ("${version}"). If it is not Claude Code, set "bowline.claudePath".`;
    return { subject: 'claude', verdict: 'problem', text, fixes: [claudeSetting] };
  }
  const name = `Claude Code ${numbers.join('.')} at ${file}.`;
  if (isBelow(numbers, tried.oldest)) {
    const text = `${name} It is older than ${tried.oldest.join('.')}, the oldest that Bowline was tried with. Update it.`;
    return { subject: 'claude', verdict: 'note', text, fixes: [claudePage] };
  }
  const outage = dialsAgainWhenCalled(version)
    ? 'After an outage it cannot be checked until it calls a tool, and dials again by itself then.'
    : 'After an outage of 14 seconds it gives up its tools; Bowline then reconnects it.';
  if (isBelow(tried.newest, numbers)) {
    const text = `${name} It is newer than ${tried.newest.join('.')}, the newest that Bowline was tried with. ${outage}`;
    return { subject: 'claude', verdict: 'note', text, fixes: [] };
  }
  return { subject: 'claude', verdict: 'good', text: `${name} ${outage}`, fixes: [] };
}

/** What tells that Claude can log in, without its secrets. */
export interface LoginFacts {
  /** Where Claude keeps its files. */
  readonly directory: string;
  /** Of the variables that agents get, those that name a way to log in. */
  readonly variables: readonly string[];
  /** What was answered when Claude asked whether to use ANTHROPIC_API_KEY. */
  readonly apiKey: 'approved' | 'rejected' | 'not asked';
  /** Whether a settings file names a program that makes keys. */
  readonly keyHelper: boolean;
  /** Whether an account, or a file with its credentials, is there. */
  readonly account: boolean;
  /** Whether the questions of its first start were answered. */
  readonly onboarded: boolean;
  /** Command line of claude. */
  readonly program: string;
}

export function loginLine(facts: LoginFacts): DoctorLine {
  const { variables, apiKey, keyHelper, account, onboarded, directory, program } = facts;
  const logIn: DoctorFix = { kind: 'type in terminal', label: 'Log In', line: program };
  const line = (verdict: DoctorLine['verdict'], text: string, fixes: readonly DoctorFix[] = []): DoctorLine => {
    return { subject: 'login', verdict, text, fixes };
  };
  const cloud = variables.find((name) => name.startsWith('CLAUDE_CODE_USE_'));
  if (cloud !== undefined) return line('good', `Claude logs in to a cloud provider (${cloud}).`);
  if (!onboarded) {
    const asks = 'Claude was never set up here: it asks its first questions in the terminal of an agent.';
    return line('problem', `${asks} Run claude once and answer them, and log in there.`, [logIn]);
  }
  if (keyHelper) return line('good', 'Claude gets its key from a program (apiKeyHelper).');
  const token = variables.find((name) => name.endsWith('_TOKEN'));
  if (token !== undefined) return line('good', `Claude logs in by the variable ${token}.`);
  if (variables.includes('ANTHROPIC_API_KEY') && apiKey !== 'rejected') {
    return apiKey === 'approved'
      ? line('good', 'Claude logs in by the variable ANTHROPIC_API_KEY.')
      : line(
          'note',
          'ANTHROPIC_API_KEY is set, and Claude will ask whether to use it: attach to the agent and answer.',
          [logIn],
        );
  }
  if (account)
    return line('good', `An account is on record in ${directory}. Only Claude can tell whether it still holds.`);
  const refused = variables.includes('ANTHROPIC_API_KEY') ? ' You told Claude not to use ANTHROPIC_API_KEY.' : '';
  return line('problem', `There is no sign of a login in ${directory}.${refused} Log in: run claude, then /login.`, [
    logIn,
  ]);
}

/** Whether Claude may work in a directory, as its file tells. */
export interface TrustFacts {
  /** Whether VS Code trusts the workspace. */
  readonly workspace: 'trusted' | 'not trusted';
  readonly directories: readonly { readonly path: string; readonly isTrusted: boolean }[];
}

export function trustLine({ workspace, directories }: TrustFacts): DoctorLine {
  if (workspace === 'not trusted') {
    const text = 'VS Code does not trust this workspace, so Bowline starts no agents from it.';
    return { subject: 'trust', verdict: 'problem', text, fixes: [{ kind: 'manage trust' }] };
  }
  const asked = directories.filter(({ isTrusted }) => !isTrusted).map(({ path }) => path);
  if (asked.length > 0) {
    const text = `Claude will ask whether you trust ${asked.join(', ')}: attach to the first agent there, look which answer is chosen, and answer.`;
    return { subject: 'trust', verdict: 'note', text, fixes: [] };
  }
  const text =
    directories.length === 0
      ? 'No folder is open. Claude asks once in each directory that is new to it.'
      : `VS Code and Claude trust ${directories.map(({ path }) => path).join(', ')}.`;
  return { subject: 'trust', verdict: 'good', text, fixes: [] };
}
