import { chmod } from 'node:fs/promises';
import { release, type as systemName } from 'node:os';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { type DoctorFix, doctorSummary, fixLabel } from '../../core/doctor/line.ts';
import { realWorkspaceFolders } from '../agentsTree.ts';
import { type DoctorAction, doctorItems } from '../doctorItems.ts';
import { loadReports } from '../loadReports.ts';
import { requirePty } from '../nodePty.ts';
import { openSetting } from '../openSetting.ts';
import { readSettings } from '../settingsReading.ts';
import type { CommandContext } from './commandContext.ts';
import type { CommandId } from './commandIds.ts';
import { withProgress } from './interaction.ts';
import { writeReport } from './writeReport.ts';

/** A script names the file that the report is to be written to; then nothing is asked. */
const targetSchema = z.object({ file: z.string().check(z.startsWith('/')) });

interface Examination {
  readonly lines: Parameters<typeof doctorItems>[0];
  readonly report: string;
}

/** Looks at everything that agents need, and shows it with what can be done about it. Needs no gateway, and starts none. */
export async function doctor(context: CommandContext, argument: unknown): Promise<void> {
  const target = targetSchema.safeParse(argument);
  if (target.success) {
    const { report } = await examineAll(context);
    await writeReport(vscode.Uri.file(target.data.file), report);
    return;
  }
  for (let next: Next = 'again'; next === 'again';) {
    const examination = await examineAll(context);
    do next = await show(context, examination);
    while (next === 'the same again');
  }
}

function examineAll({ client, presenter, paths, windowFacts }: CommandContext): Promise<Examination> {
  return withProgress('Bowline Doctor', async (signal, say) => {
    const { examine } = await loadReports();
    const configuration = vscode.workspace.getConfiguration('bowline');
    const { startProblem } = client;
    const [window] = windowFacts.facts();
    return examine({
      ...{ paths, signal, say, state: presenter.state, environment: process.env, now: Date.now },
      settings: readSettings((name) => configuration.get<unknown>(name)).settings,
      gateway: {
        connection: client.connection,
        wanted: client.isStarted ? 'yes' : 'no',
        ...(startProblem !== undefined && { startProblem: startProblem.message }),
      },
      workspace: vscode.workspace.isTrusted ? 'trusted' : 'not trusted',
      folders: realWorkspaceFolders(),
      loadPty: requirePty,
      facts: [`System: ${systemName()} ${release()} ${process.arch}`, ...(window?.lines ?? [])],
    });
  });
}

type Item = vscode.QuickPickItem & { readonly fixes?: readonly DoctorFix[]; readonly action?: DoctorAction };

/** What becomes of the list; `again`: with new lines, because something was mended or the person wants it so. */
type Next = 'again' | 'the same again' | 'over';

async function show(context: CommandContext, { lines, report }: Examination): Promise<Next> {
  const items = doctorItems(lines).map((item): Item => {
    switch (item.kind) {
      case 'heading':
        return { label: item.label, kind: vscode.QuickPickItemKind.Separator };
      case 'line':
        return { label: item.label, description: item.description, detail: item.detail, fixes: item.fixes };
      case 'action':
        return { label: item.label, action: item.action, alwaysShow: true };
    }
  });
  const picked = await vscode.window.showQuickPick(items, {
    title: `Bowline Doctor: ${doctorSummary(lines)}`,
    placeHolder: 'Choose a line to mend it',
    matchOnDescription: true,
    matchOnDetail: true,
    ignoreFocusOut: true,
  });
  if (picked === undefined) return 'over';
  switch (picked.action) {
    case undefined:
      break;
    case 'copy the report':
      await vscode.env.clipboard.writeText(report);
      vscode.window.setStatusBarMessage('$(copy) The report is on the clipboard. Secrets are taken out.', 8_000);
      return 'over';
    case 'open the report':
      await context.reports.show('Bowline Doctor', report);
      return 'over';
    case 'run again':
      return 'again';
  }
  if (picked.fixes?.length === 0) {
    // A list shows the beginning of a line only.
    await vscode.window.showInformationMessage(picked.label.replace(/^\$\([a-z-]+\) /, ''), {
      modal: true,
      ...(picked.detail !== undefined && { detail: picked.detail }),
    });
    return 'the same again';
  }
  const fix = await chooseFix(picked.fixes ?? [], picked.detail ?? '');
  if (fix === undefined) return 'the same again';
  return (await mend(context, fix)) === 'mended' ? 'again' : 'over';
}

async function chooseFix(fixes: readonly DoctorFix[], title: string): Promise<DoctorFix | undefined> {
  const [first, ...others] = fixes;
  if (others.length === 0) return first;
  const items = fixes.map((fix) => ({ label: fixLabel(fix), fix }));
  return (await vscode.window.showQuickPick(items, { title: 'Bowline Doctor', placeHolder: title }))?.fix;
}

/** `left`: the person goes on elsewhere. */
async function mend({ client, log }: CommandContext, fix: DoctorFix): Promise<'mended' | 'left'> {
  switch (fix.kind) {
    case 'open setting':
      await openSetting(fix.setting);
      return 'left';
    case 'open page':
      await vscode.env.openExternal(vscode.Uri.parse(fix.address));
      return 'left';
    case 'open file':
      await vscode.window.showTextDocument(vscode.Uri.file(fix.path));
      return 'left';
    case 'type in terminal': {
      const terminal = vscode.window.createTerminal({ name: fix.label });
      terminal.show();
      terminal.sendText(fix.line, false);
      return 'left';
    }
    case 'start gateway':
      await withProgress('Bowline: starting the gateway', (signal) => client.whenConnected(startLimit, signal));
      return 'mended';
    case 'show log':
      log.show();
      return 'left';
    case 'manage trust':
      await vscode.commands.executeCommand('workbench.trust.manage');
      return 'left';
    case 'MCP servers':
      await vscode.commands.executeCommand('bowline.mcpServers' satisfies CommandId);
      return 'left';
    case 'make private':
      await chmod(fix.path, 0o700);
      return 'mended';
    case 'use PATH': {
      const configuration = vscode.workspace.getConfiguration('bowline');
      const environment = { ...configuration.get<Record<string, unknown>>('environment'), PATH: fix.value };
      await configuration.update('environment', environment, vscode.ConfigurationTarget.Global);
      return 'mended';
    }
  }
}

/** In milliseconds. */
const startLimit = 20_000;
