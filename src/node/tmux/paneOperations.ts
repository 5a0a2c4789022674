import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { delay } from '../../base/async.ts';
import { BowlineError, messageOf } from '../../base/errors.ts';
import {
  directoryFormat,
  directoryOption,
  environmentOption,
  launchOption,
  type PaneInfo,
  paneFormat,
  parsePane,
} from '../../core/tmux/formats.ts';
import type { TmuxCommands } from './tmuxClient.ts';
import { failed } from './tmuxServer.ts';

/** What runs in a pane. */
export interface PaneProgram {
  /** Absolute. */
  readonly directory: string;
  /** The pane's own process and its arguments; no shell is between. */
  readonly argv: readonly string[];
  /** Added to the server's environment. Travels over the control connection, never as a process argument. */
  readonly environment: Readonly<Record<string, string>>;
  readonly launchId: string;
}

/** A pane as it was seen. */
export type KnownPane = Pick<PaneInfo, 'paneId' | 'pid'>;

const anotherPane = 'another-pane';

/** Keys by tmux name, see tmux(1) "KEY BINDINGS". */
export type PaneKey =
  'Enter' | 'Escape' | 'BSpace' | 'Tab' | 'Up' | 'Down' | 'C-c' | 'C-u' | 'C-a' | 'C-e' | 'C-k' | 'C-d';

/**
 * Starts a session whose one pane runs the program. `name` must fit the rule for agents' names.
 * Rejects with `directory-missing`, `already-running` (a session of this name exists), `bad-request`, `tmux-failed` or
 * `tmux-no-answer`. A program that cannot be executed shows as a pane that is dead with status 1 (measured, tmux 3.3a).
 */
export async function newSession(
  tmux: TmuxCommands,
  session: PaneProgram & { readonly name: string },
): Promise<PaneInfo> {
  const { name } = session;
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) {
    throw new BowlineError('name-invalid', `"${name}" cannot be the name of a tmux session of Bowline.`);
  }
  const variables = checkedEnvironment(session.environment);
  await requireDirectory(session.directory);
  // `=name:` is exact, and safe here: the session was made a moment before in the same go.
  const target = `=${name}:`;
  const created = ['new-session', '-d', '-s', name, '-c', directoryFormat];
  for (const [variable, value] of variables) created.push('-e', `${variable}=${value}`);
  created.push('--', ...withoutShell(session.argv));
  try {
    const replies = await tmux.commands([
      ['set-option', '-s', directoryOption, session.directory],
      created,
      keepLastWords(target),
      ['set-option', '-p', '-t', target, launchOption, session.launchId],
      ['set-option', '-t', target, environmentOption, variables.map(([variable]) => variable).join(' ')],
      ['set-option', '-s', '-u', directoryOption],
      ['list-panes', '-t', target, '-F', paneFormat],
    ]);
    return onlyPane(replies.at(-1));
  } catch (error) {
    if (!/duplicate session/.test(messageOf(error))) throw error;
    throw new BowlineError('already-running', `A tmux session named ${name} exists already. Stop it first.`, {
      cause: error,
    });
  }
}

/**
 * Ends what runs in the pane and runs the program instead; attached terminals stay. Variables that the previous program
 * got and this one does not are removed. Errors as of {@link newSession}, and one that is {@link isNotFound} when the pane
 * is gone, also where another server gave its id away.
 */
export async function respawnPane(tmux: TmuxCommands, former: KnownPane, pane: PaneProgram): Promise<PaneInfo> {
  const { paneId } = former;
  const variables = checkedEnvironment(pane.environment);
  await requireDirectory(pane.directory);
  const [before = ''] = await tmux.command(['display-message', '-p', '-t', paneId, `#{${environmentOption}}`]);
  const names = new Set(variables.map(([variable]) => variable));
  const stale = before.split(' ').filter((variable) => variable !== '' && !names.has(variable));
  const replies = await tmux.commands([
    onlyOn(former),
    ['set-option', '-s', directoryOption, pane.directory],
    ...stale.map((variable) => ['set-environment', '-t', paneId, '-u', variable]),
    ...variables.map(([variable, value]) => ['set-environment', '-t', paneId, '--', variable, value]),
    ['set-option', '-t', paneId, environmentOption, [...names].join(' ')],
    ['set-option', '-p', '-t', paneId, launchOption, pane.launchId],
    // What the previous program said last must not be read as the last words of this one.
    ['clear-history', '-t', paneId],
    ['respawn-pane', '-k', '-t', paneId, '-c', directoryFormat, '--', ...withoutShell(pane.argv)],
    keepLastWords(paneId),
    ['set-option', '-s', '-u', directoryOption],
    ['list-panes', '-t', paneId, '-F', paneFormat],
  ]);
  return onlyPane(replies.at(-1));
}

/** Rejects, as the start itself would, when this program cannot be started for a reason that can be seen before. */
export async function checkProgram(program: Omit<PaneProgram, 'launchId'>): Promise<void> {
  checkedEnvironment(program.environment);
  withoutShell(program.argv);
  await requireDirectory(program.directory);
}

/** Ends the session of the pane; its process gets SIGHUP. One that is gone already is no error. */
export async function killSession(tmux: TmuxCommands, pane: KnownPane & Pick<PaneInfo, 'sessionId'>): Promise<void> {
  try {
    await tmux.commands([onlyOn(pane), ['kill-session', '-t', pane.sessionId]]);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The pane, or `undefined` when tmux says that it does not exist. */
export async function findPane(tmux: TmuxCommands, paneId: string): Promise<PaneInfo | undefined> {
  try {
    const lines = await tmux.command(['list-panes', '-t', paneId, '-F', paneFormat]);
    return lines.flatMap((line) => parsePane(line) ?? []).find((pane) => pane.paneId === paneId);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * How a dead pane ended. A status that tmux has missed (before 3.6 it can lose a child's death) is asked for with
 * SIGCHLD. `undefined`: no such pane. The status may still be missing after about half a second of asking.
 */
export async function readDeadPane(tmux: TmuxCommands, paneId: string): Promise<PaneInfo | undefined> {
  for (let attempt = 0; ; attempt += 1) {
    const pane = await findPane(tmux, paneId);
    if (pane === undefined || !pane.dead) return pane;
    if (pane.deadStatus !== undefined || pane.deadSignal !== undefined || attempt === 10) return pane;
    const [pid] = await tmux.command(['display-message', '-p', '#{pid}']);
    process.kill(Number(pid), 'SIGCHLD');
    await delay(50);
  }
}

/**
 * The visible screen, one text per row, and before it up to `history` rows that have scrolled out. `escapes` keeps
 * colours and styles as escape sequences.
 */
export function capturePane(
  tmux: TmuxCommands,
  paneId: string,
  options: { readonly styles: 'none' | 'escapes'; readonly history?: number },
): Promise<string[]> {
  const styles = options.styles === 'escapes' ? ['-e'] : [];
  const history = options.history === undefined ? [] : ['-S', `-${options.history}`];
  return tmux.command(['capture-pane', '-p', ...styles, ...history, '-t', paneId]);
}

/** Sends text as it stands, or one key. A pane that a person has scrolled back is first brought to its end. */
export async function sendKeys(
  tmux: TmuxCommands,
  paneId: string,
  keys: { readonly literal: string } | { readonly key: PaneKey },
): Promise<void> {
  const sent = 'literal' in keys ? ['-l', '--', keys.literal] : ['--', keys.key];
  await tmux.commands([
    ['copy-mode', '-q', '-t', paneId],
    ['send-keys', '-t', paneId, ...sent],
  ]);
}

/** When a person last did something in a terminal attached to the session, in seconds since 1970. */
export async function lastClientActivity(tmux: TmuxCommands, sessionId: string): Promise<number | undefined> {
  const format = '#{client_control_mode} #{client_activity}';
  const lines = await tmux.command(['list-clients', '-t', sessionId, '-F', format]);
  const times = lines.flatMap((line) => {
    const [control, time] = line.split(' ');
    return control === '0' && time !== undefined ? [Number(time)] : [];
  });
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Whether tmux itself said that the target does not exist (measured, tmux 3.3a). */
export function isNotFound(error: unknown): boolean {
  return (
    error instanceof BowlineError &&
    error.code === 'tmux-failed' &&
    (/(can't find|no such) (session|window|pane)/.test(error.message) || error.message.includes(anotherPane))
  );
}

/**
 * Fails where the pane is not the one that was seen: ids begin anew with each server, and one that was started meanwhile
 * gives them to panes of other agents.
 */
function onlyOn({ paneId, pid }: KnownPane): readonly string[] {
  return onlyIf(paneId, `#{==:#{pane_pid},${pid}}`, anotherPane);
}

/**
 * A command that fails, and so keeps those behind it from running, unless the format is true of the pane: it sets what is
 * set anyway, else a value that does not exist, `failure`, which stands in the error.
 */
export function onlyIf(paneId: string, format: string, failure: string): readonly string[] {
  return ['set-option', '-p', '-F', '-t', paneId, 'remain-on-exit', `#{?${format},on,${failure}}`];
}

/**
 * tmux closes a pane on its child's death, with what it has not read yet, unless the pane is piped (3.3a: up to 1 of 10
 * short-lived programs lost their last line, measured). {@link endLastWords} takes it back.
 */
function keepLastWords(target: string): readonly string[] {
  return ['pipe-pane', '-t', target, 'exec cat >/dev/null'];
}

/** To be called once a program has come up, or has ended and was read: its output is not piped any more. */
export async function endLastWords(tmux: TmuxCommands, paneId: string): Promise<void> {
  await tmux.command(['pipe-pane', '-t', paneId]);
}

/** tmux runs a command of one word through a shell, and execs two or more (tmux(1), "COMMAND PARSING AND EXECUTION"). */
function withoutShell(argv: readonly string[]): readonly string[] {
  const [program] = argv;
  if (program === undefined || program === '') throw new BowlineError('bad-request', 'There is no program to run.');
  if (argv.length > 1) return argv;
  if (program.includes('=')) {
    throw new BowlineError('bad-request', `${program} cannot be run without arguments: its path holds a "=".`);
  }
  return ['/usr/bin/env', program];
}

function checkedEnvironment(environment: Readonly<Record<string, string>>): [name: string, value: string][] {
  const variables = Object.entries(environment);
  const bad = variables.find(([name]) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (bad !== undefined) {
    throw new BowlineError('bad-request', `"${bad[0]}" cannot be the name of an environment variable. Rename it.`);
  }
  return variables;
}

/** tmux itself would silently take the home directory instead of a missing one. */
async function requireDirectory(directory: string): Promise<void> {
  let found = false;
  try {
    found = isAbsolute(directory) && (await stat(directory)).isDirectory();
  } catch {
    // Missing, or not to be entered: the same for the person.
  }
  if (!found) {
    throw new BowlineError(
      'directory-missing',
      `The directory ${directory} is not there. Create it and resume the agent, or make a new agent in another one.`,
    );
  }
}

function onlyPane(lines: readonly string[] | undefined): PaneInfo {
  const pane = lines === undefined || lines[0] === undefined ? undefined : parsePane(lines[0]);
  if (pane === undefined) throw failed(`an answer that Bowline does not know: ${lines?.[0] ?? ''}`);
  return pane;
}
