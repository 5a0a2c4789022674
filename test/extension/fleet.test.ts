import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { isErrorWithCode } from '../../src/node/files.ts';
import type { PromptRecord } from '../../src/core/fleet/agent.ts';
import type { BowlineWindow } from '../../src/extension/fleetWindow.ts';
import { endpointSchema, holderFileSchema } from '../../src/protocol/endpointFile.ts';
import { waitFor } from '../harness/waitFor.ts';
import { agentThat, bowlineWindow, setting, treeRows } from './bowlineWindow.ts';

const state = process.env['BOWLINE_HOME'] ?? '';

/** One fleet, from the first agent to the last; each test goes on where the one before ended. */
describe('a fleet in a window', function () {
  this.timeout(60_000); // longer than the waits below, which say what did not happen

  let window: BowlineWindow;
  let workspace: string;
  let program: string;

  before(async () => {
    window = await bowlineWindow();
    workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
    // A fake claude that lives and never connects: what the real one does is tested elsewhere.
    program = path.join(path.dirname(workspace), 'fake-claude');
    await writeFile(program, '#!/bin/sh\nexec sleep 3600\n');
    await chmod(program, 0o755);
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    const log = await readFile(path.join(state, 'log/gateway.jsonl'), 'utf8').catch(String);
    console.log(JSON.stringify(window.view, undefined, 1), log.split('\n').slice(-40).join('\n'));
  });

  /** Kills what runs for the fleet besides the window. A gateway whose holder is gone may end by itself first. */
  async function kill(...victims: ('holder' | 'gateway')[]): Promise<void> {
    const holder = holderFileSchema.parse(JSON.parse(await readFile(path.join(state, 'holder.json'), 'utf8')));
    const pids = { holder: holder.pid, gateway: holder.child?.pid };
    for (const pid of victims.map((victim) => pids[victim])) {
      try {
        if (pid !== undefined) process.kill(pid, 'SIGKILL');
      } catch (error) {
        if (!isErrorWithCode(error, 'ESRCH')) throw error;
      }
    }
  }

  function terminals(): vscode.Terminal[] {
    return vscode.window.terminals.filter(({ name, exitStatus }) => name === 'ada' && exitStatus === undefined);
  }

  it('says clearly that the program of a new agent is missing', async () => {
    await setting('claudePath', '/nowhere/claude');
    await vscode.commands.executeCommand('bowline.newAgent', { name: 'ada', directory: workspace });
    const ada = await agentThat(window, 'ada', 'dead', ({ life }) => life === 'dead');
    assert.match(ada.detail, /binary missing: .*\/nowhere\/claude/);
    await waitFor('the status bar', () => window.statusBar?.text === '$(warning) 1 needs you: ada');
    assert.deepStrictEqual(
      [window.state.hands?.holder, window.statusBar?.background, await treeRows(window)],
      [window.window, 'warning', [['ada', 'dead · workspace', 'error', 'agent-stopped']]],
    );
  });

  it('starts the agent when the setting is mended', async () => {
    await setting('claudePath', program);
    await waitFor('the setting', () => window.state.settings.claudePath === program);
    void vscode.commands.executeCommand('bowline.start', { agent: 'ada' }); // ends when it is bound
    await agentThat(window, 'ada', 'running', ({ life }) => life === 'verifying');
    assert.deepStrictEqual(await treeRows(window), [
      ['ada', 'verifying, pending · workspace', 'loading~spin', 'agent-running'],
    ]);
    assert.doesNotMatch(window.statusBar?.accessibleLabel ?? '', /over pipes/);
  });

  it('attaches once: a second click focuses the terminal', async () => {
    await vscode.commands.executeCommand('bowline.attach', { agent: 'ada' });
    const [first] = await waitFor('the terminal', () => terminals().length > 0 && terminals());
    const another = vscode.window.createTerminal({ name: 'another' });
    another.show();
    await another.processId; // a terminal takes the focus when its process is there
    await first?.processId;
    await waitFor('the other terminal', () => vscode.window.activeTerminal?.name === 'another');
    await vscode.commands.executeCommand('bowline.attach', { agent: 'ada' });
    await waitFor('the focus', () => vscode.window.activeTerminal === first);
    assert.deepStrictEqual(terminals().length, 1);
  });

  it('opens a new terminal after the first was closed', async () => {
    terminals()[0]?.dispose();
    await waitFor('the end of the terminal', () => terminals().length === 0);
    await vscode.commands.executeCommand('bowline.attach', 'ada');
    await waitFor('the terminal', () => terminals().length === 1);
  });

  it('is back after the gateway was killed, with the agent as it was', async () => {
    const epoch = window.state.epoch?.id;
    await kill('gateway');
    await waitFor('the loss', () => window.connection.kind === 'away');
    const shown = [window.statusBar?.text, Object.keys(window.state.agents)];
    await waitFor('the gateway', () => window.connection.kind === 'connected' && window.state.epoch?.id !== epoch);
    assert.deepStrictEqual(
      [shown, window.state.epoch?.port, window.state.agents['ada']?.life.kind],
      [['$(sync~spin) reconnecting', ['ada']], 'kept open', 'running'],
    );
  });

  it('is back after holder and gateway were killed', async () => {
    const epoch = window.state.epoch?.id;
    await kill('holder', 'gateway');
    await waitFor('the gateway', () => window.connection.kind === 'connected' && window.state.epoch?.id !== epoch, {
      timeoutMs: 20_000,
    });
    await waitFor('the hands', () => window.state.hands?.holder === window.window);
    assert.deepStrictEqual(window.state.agents['ada']?.life.kind, 'running');
  });

  it('shows agents of this workspace first', async () => {
    const elsewhere = path.join(path.dirname(workspace), 'aa');
    await mkdir(elsewhere);
    void vscode.commands.executeCommand('bowline.newAgent', { name: 'aa', directory: elsewhere });
    await agentThat(window, 'aa', 'running', ({ life }) => life === 'verifying');
    const rows = await treeRows(window);
    assert.deepStrictEqual(
      rows.map((row) => (Array.isArray(row) ? (row[0] as unknown) : row)),
      ['ada', 'aa'],
    );
  });

  it('filters and groups the Agents view, and marks in the editor area the terminal of an agent', async () => {
    await vscode.commands.executeCommand('bowline.filterAgents', { filter: 'aa pending' });
    const filtered = await treeRows(window);
    await vscode.commands.executeCommand('bowline.clearAgentFilter');
    await vscode.commands.executeCommand('bowline.groupAgents', { grouping: 'workspace' });
    const grouped = await treeRows(window);
    await vscode.commands.executeCommand('bowline.groupAgents', { grouping: 'none' });
    assert.deepStrictEqual(
      [filtered.length, grouped],
      [
        1,
        [
          ['workspace', '1', undefined, 'group'],
          ['Other Directories', '1', undefined, 'group'],
        ],
      ],
    );
    // New Agent opens one by itself, in the panel.
    const ofAa = (): vscode.Terminal[] =>
      vscode.window.terminals.filter(({ name, exitStatus }) => name === 'aa' && exitStatus === undefined);
    await waitFor('the first terminal', () => ofAa().length === 1);
    ofAa()[0]?.dispose();
    await waitFor('its end', () => ofAa().length === 0);
    await setting('terminalLocation', 'beside');
    await Promise.all(['aa', 'aa'].map((agent) => vscode.commands.executeCommand('bowline.attach', { agent })));
    const tabs = (): readonly vscode.Tab[] => vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    await waitFor('the terminal in the editor area', () =>
      tabs().some(({ input }) => input instanceof vscode.TabInputTerminal),
    );
    const { length } = ofAa();
    await setting('terminalLocation', undefined);
    ofAa()[0]?.dispose();
    await waitFor('the end of the terminal', () => ofAa().length === 0);
    assert.deepStrictEqual([length, window.state.agents['aa']?.life.kind], [1, 'running']);
  });

  it('queues a prompt of several lines from an editor, and says in the command that nothing was sent when the agent is stopped', async () => {
    await vscode.commands.executeCommand('bowline.sendPrompt', { agent: 'aa', draft: 'first line' });
    const editor = await waitFor('the editor', () => vscode.window.activeTextEditor);
    await editor.edit((edit) => {
      edit.insert(new vscode.Position(0, 10), '\nsecond line');
    });
    const sent = vscode.commands.executeCommand('bowline.sendPromptDocument');
    const prompt = (): PromptRecord | undefined => window.state.agents['aa']?.prompts?.at(-1);
    await waitFor('the prompt', () => prompt()?.state.kind === 'queued');
    const { characters, by } = prompt() ?? {};
    await vscode.commands.executeCommand('bowline.stop', { agent: 'aa' });
    await sent;
    assert.deepStrictEqual(
      [characters, by, prompt()?.state.kind, editor.document.isClosed],
      [22, window.window, 'failed', false],
    );
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await agentThat(window, 'aa', 'stopped', ({ life }) => life === 'stopped');
  });

  function audit(): string {
    return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'bowline-audit')?.getText() ?? '';
  }

  it('shows what was done to an agent, and compares the fleet with its record', async () => {
    await vscode.commands.executeCommand('bowline.showAudit', { agent: 'ada' });
    await vscode.commands.executeCommand('bowline.reconcileFleet');
    const { done } = window.state.reconciliation ?? {};
    assert.match(audit(), /^# Audit of ada\n[^]*: launch requested, now launching: fresh\. By this window\.\n/);
    assert.deepStrictEqual([done?.differences, done?.problem], [0, undefined]);
  });

  it('stops an agent, whose terminal then ends', async () => {
    await vscode.commands.executeCommand('bowline.stop', { agent: 'ada' });
    await agentThat(window, 'ada', 'stopped', ({ life }) => life === 'stopped');
    await waitFor('the end of the terminal', () => terminals().length === 0);
  });

  it('tells the stop in the audit that is open, and exports diagnostics without the token', async () => {
    await waitFor('the stop in the audit', () => audit().includes(': stop requested, now stopping: released. By this'));
    const file = path.join(path.dirname(workspace), 'diagnostics.md');
    await vscode.commands.executeCommand('bowline.exportDiagnostics', { file });
    const report = await readFile(file, 'utf8');
    const { token } = endpointSchema.parse(JSON.parse(await readFile(path.join(state, 'endpoint.json'), 'utf8')));
    const wanted = [
      '## This window',
      '## Agent ada',
      'bowline.claudePath: ',
      '## End of gateway.jsonl',
      '## End of Bowline.log',
    ];
    assert.deepStrictEqual([wanted.filter((part) => !report.includes(part)), report.includes(token)], [[], false]);
  });
});
