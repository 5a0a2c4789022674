import { join } from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import type { DiagnosticsInput } from '../core/diagnostics/report.ts';
import type { GatewayClient } from './gatewayClient.ts';
import type { HandsHost } from './handsHost.ts';

/** What only this window can tell in a report. */
export interface WindowFacts {
  readonly facts: () => DiagnosticsInput['facts'];
  readonly logFiles: readonly string[];
}

const manifestSchema = z.object({
  version: z.string(),
  contributes: z.object({ configuration: z.object({ properties: z.record(z.string(), z.unknown()) }) }),
});

export function windowFacts(options: {
  readonly context: vscode.ExtensionContext;
  readonly window: string;
  readonly client: GatewayClient;
  readonly hands: HandsHost;
}): WindowFacts {
  const { context, window, client, hands } = options;
  const manifest = manifestSchema.parse(context.extension.packageJSON);
  return {
    facts: () => [
      {
        title: 'This window',
        lines: [
          `Bowline ${manifest.version}, ${vscode.env.appName} ${vscode.version}, ${vscode.env.remoteName ?? 'local'}`,
          `Name: ${window}; workspace ${vscode.workspace.isTrusted ? 'trusted' : 'not trusted'}`,
          `Start of the gateway: ${client.startProblem?.message ?? 'no problem'}`,
          `Hands here: ${hands.problem ?? 'no problem'}`,
        ],
      },
      {
        title: 'Settings that differ from their defaults',
        lines: Object.keys(manifest.contributes.configuration.properties).flatMap(changedSetting),
      },
    ],
    // The channel "Bowline" writes there.
    logFiles: [join(context.logUri.fsPath, 'Bowline.log')],
  };
}

/** Of variables, and of whatever else is an object, the names only. */
function changedSetting(name: string): readonly string[] {
  const value: unknown = vscode.workspace.getConfiguration().get(name);
  const standard: unknown = vscode.workspace.getConfiguration().inspect(name)?.defaultValue;
  if (JSON.stringify(value) === JSON.stringify(standard)) return [];
  const shown = typeof value === 'object' && value !== null ? Object.keys(value) : value;
  return [`${name}: ${JSON.stringify(shown)}`];
}
