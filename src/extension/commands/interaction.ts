import * as vscode from 'vscode';
import { BowlineError, messageOf } from '../../base/errors.ts';
import type { AgentRow } from '../../core/fleet/select.ts';
import type { Command } from '../../protocol/commands.ts';
import { readTarget } from '../agentNodes.ts';
import { orderAgents } from '../agentOrder.ts';
import { agentLook } from '../agentRows.ts';
import { realWorkspaceFolders } from '../agentsTree.ts';
import { launchOutcome } from '../launchOutcome.ts';
import { settingNamedIn } from '../namedSetting.ts';
import { openSetting } from '../openSetting.ts';
import type { PromptProgress, SaveProgress } from '../promptProgress.ts';
import type { CommandContext } from './commandContext.ts';

/** How long a command waits for the gateway, which may have to be started, in milliseconds. */
const connectLimit = 20_000;

/** Makes sure that the gateway answers; shows that it is being started when that takes a moment. */
export async function connect({ client }: CommandContext): Promise<void> {
  if (client.connection.kind === 'connected') return;
  await withProgress('Bowline: starting the gateway', (signal) => client.whenConnected(connectLimit, signal));
}

/** Shows progress with a cancel button while `task` runs; `say` tells how far it is. */
export async function withProgress<T>(
  title: string,
  task: (signal: AbortSignal, say: (message: string) => void) => Promise<T>,
): Promise<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, async (progress, token) => {
    const abort = new AbortController();
    const listener = token.onCancellationRequested(() => {
      abort.abort(new BowlineError('cancelled', 'Cancelled.'));
    });
    try {
      return await task(abort.signal, (message) => {
        progress.report({ message });
      });
    } finally {
      listener.dispose();
    }
  });
}

/** `none`: what is said where there are agents and none fits. */
export interface AgentQuestion {
  readonly title: string;
  readonly fits?: (row: AgentRow) => boolean;
  readonly none?: string;
}

/**
 * The agent that a command is about: the one it was invoked on, else the person's choice. Undefined: the person chose
 * none, or there is none (then that was said).
 */
export async function chooseAgent(
  context: CommandContext,
  argument: unknown,
  question: AgentQuestion,
): Promise<AgentRow | undefined> {
  const { agent: name } = readTarget(argument);
  // While the gateway is away the last known agents will do: attaching needs no gateway, and requests wait for it.
  if (context.presenter.view.agents.length === 0) await connect(context);
  const { agents } = context.presenter.view;
  if (name !== undefined) {
    const row = agents.find((agent) => agent.name === name);
    if (row === undefined) throw new BowlineError('unknown-agent', `There is no agent "${name}" (any more).`);
    return row;
  }
  const fitting = orderAgents(agents.filter(question.fits ?? (() => true)), realWorkspaceFolders());
  if (fitting.length === 0) {
    await sayNoAgents(agents.length, question.none);
    return undefined;
  }
  const items = fitting.map((row) => {
    const look = agentLook(row, context.presenter);
    return { label: row.name, description: look.description, detail: row.directory, row };
  });
  const picked = await vscode.window.showQuickPick(items, { title: question.title, matchOnDescription: true });
  return picked?.row;
}

/** Waits until a launch after the first `launchesBefore` ones is up, needs a person, or ended. Cancelling calls it off. */
export async function awaitLaunch(context: CommandContext, name: string, launchesBefore: number): Promise<void> {
  const { presenter, client } = context;
  const isOpen = (): boolean => {
    const row = presenter.view.agents.find((agent) => agent.name === name);
    return launchOutcome(row, presenter.state.agents[name]?.launchCount, launchesBefore) === 'open';
  };
  await withProgress(`Bowline: starting ${name}`, async (signal) => {
    await untilSettled(context, signal, () => !isOpen());
    if (signal.aborted && isOpen()) await client.request({ kind: 'stop', name });
  });
}

/** Resolves when `isSettled` holds, which is asked at each change of the fleet, and on cancel. */
export function untilSettled(
  { presenter }: CommandContext,
  signal: AbortSignal,
  isSettled: () => boolean,
): Promise<void> {
  if (signal.aborted || isSettled()) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = (): void => {
      listener.dispose();
      signal.removeEventListener('abort', settle);
      resolve();
    };
    const listener = presenter.onDidChange(() => {
      if (isSettled()) settle();
    });
    signal.addEventListener('abort', settle, { once: true });
  });
}

/** What is followed until it is settled. */
export interface Followed {
  readonly title: string;
  readonly request: Command;
  /** Sent when the person cancels while it is still open. */
  readonly cancel: Command;
  readonly progress: () => PromptProgress | SaveProgress;
}

/** Sends a request and shows how far it is; resolves when it is settled or the person cancelled. */
export function follow(
  context: CommandContext,
  { title, request, cancel, progress }: Followed,
): Promise<'settled' | 'cancelled'> {
  return withProgress(title, async (signal, say) => {
    await context.client.request(request);
    await untilSettled(context, signal, () => {
      const now = progress();
      if (now.kind === 'open') say(now.message);
      return now.kind !== 'open';
    });
    if (!signal.aborted || progress().kind !== 'open') return 'settled';
    await context.client.request(cancel);
    return 'cancelled';
  });
}

/** Refuses in an untrusted workspace: an agent would run programs in it. */
export async function isAllowedToLaunch(): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const manage = 'Manage Workspace Trust';
  const chosen = await vscode.window.showWarningMessage(
    'This workspace is not trusted, so Bowline starts no agents from it. Trust it first.',
    manage,
  );
  if (chosen === manage) await vscode.commands.executeCommand('workbench.trust.manage');
  return false;
}

/** Tells a person about an error of a command, once, and logs it. What the person cancelled is no error. */
export function showError(context: CommandContext, command: string, error: unknown): void {
  if (error instanceof BowlineError && error.code === 'cancelled') return;
  const code = error instanceof BowlineError ? error.code : 'internal';
  const cause = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : undefined;
  const stack = code === 'internal' && error instanceof Error ? error.stack : undefined;
  context.log.error(`${command} failed`, { code, reason: messageOf(error), cause, stack });
  const sentence = error instanceof BowlineError ? error.message : `Bowline met an error: ${messageOf(error)}`;
  const setting = settingNamedIn(sentence);
  const settings = 'Open Settings';
  const log = 'Show Log';
  const offers = setting === undefined ? [log] : [settings, log];
  void vscode.window.showErrorMessage(sentence, ...offers).then((chosen) => {
    if (chosen === settings && setting !== undefined) void openSetting(setting);
    if (chosen === log) context.log.show();
  });
}

async function sayNoAgents(known: number, none = 'No agent is in a state for that.'): Promise<void> {
  if (known > 0) {
    void vscode.window.showInformationMessage(none);
    return;
  }
  const create = 'New Agent';
  const chosen = await vscode.window.showInformationMessage('There are no agents yet.', create);
  if (chosen === create) await vscode.commands.executeCommand('bowline.newAgent');
}
