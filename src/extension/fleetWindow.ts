import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { messageOf } from '../base/errors.ts';
import { DisposableStore } from '../base/lifecycle.ts';
import type { Connection, FleetView } from '../core/fleet/select.ts';
import type { FleetState } from '../core/fleet/state.ts';
import { GatewayUpdate } from '../node/gatewayUpdate.ts';
import { Hands } from '../node/hands/hands.ts';
import { loadPty } from '../node/pty.ts';
import { defaultStateDirectory, statePaths } from '../node/statePaths.ts';
import { TmuxServer } from '../node/tmux/tmuxServer.ts';
import { type AgentNode, pointedAt } from './agentNodes.ts';
import { AgentsTree } from './agentsTree.ts';
import { Attention } from './attention.ts';
import { AuditDocuments } from './auditDocuments.ts';
import { BindingHealthView } from './bindingHealthView.ts';
import type { CommandId } from './commands/commandIds.ts';
import { runCommand } from './commands/commandTable.ts';
import { ClosedTerminalNotice } from './closedTerminalNotice.ts';
import { ContextKeys } from './contextKeys.ts';
import { FleetPresenter } from './fleetPresenter.ts';
import { FleetWatch } from './fleetWatch.ts';
import { GatewayClient } from './gatewayClient.ts';
import { HandsHost } from './handsHost.ts';
import { ChannelLog } from './log.ts';
import { MutedAgents } from './mutedAgents.ts';
import { requirePty } from './nodePty.ts';
import { PipesNotice } from './pipesNotice.ts';
import { ReportDocuments } from './reportDocuments.ts';
import { SettingsSync, tmuxPathSetting } from './settings.ts';
import { StatusBar } from './statusBar.ts';
import type { StatusLook } from './statusLook.ts';
import { AgentTerminals } from './terminals.ts';
import { Welcome } from './welcome.ts';
import { windowFacts } from './windowFacts.ts';

/** What this window shows, for other extensions and for tests. Read only. */
export interface BowlineWindow {
  readonly window: string;
  readonly state: FleetState;
  readonly view: FleetView;
  readonly connection: Connection;
  /** Undefined while the item is hidden. */
  readonly statusBar: StatusLook | undefined;
  readonly agents: vscode.TreeDataProvider<AgentNode>;
}

const manifestSchema = z.object({ version: z.string() });

/** A window with everything in it. */
export interface RunningWindow {
  readonly shown: BowlineWindow;
  /**
   * Never rejects: an error is told to the person and logged. `selection`: the rows that are selected in the view that the
   * command was chosen in.
   */
  run(id: CommandId, argument: unknown, selection: unknown): Promise<void>;
}

/** The composition root: everything of this process is made here. Without a fleet on this machine nothing is started. */
export async function openFleetWindow(context: vscode.ExtensionContext): Promise<RunningWindow> {
  const store = new DisposableStore();
  context.subscriptions.push(store);
  const log = store.add(new ChannelLog());
  const paths = statePaths(defaultStateDirectory(process.env));
  const window = `window-${randomUUID().slice(0, 8)}`;
  const { version } = manifestSchema.parse(context.extension.packageJSON);
  const update = new GatewayUpdate({
    paths,
    log,
    source: { distDirectory: join(context.extensionPath, 'dist'), version, nodes: [process.execPath] },
    tell: (sentence) => void offerReload(sentence),
  });

  const client = store.add(
    new GatewayClient({
      paths,
      log,
      window,
      // Without trust nothing is executed from this window.
      hands: () => (vscode.workspace.isTrusted ? 'offered' : 'not offered'),
      ensure: (signal) => update.ensure(signal),
    }),
  );
  const presenter = store.add(
    new FleetPresenter(client, Date.now, (error) => {
      log.error('a view failed', { reason: messageOf(error) });
    }),
  );
  const hands = store.add(
    new HandsHost(
      client,
      window,
      () => {
        const tmuxPath = tmuxPathSetting();
        return new Hands({
          stateDirectory: paths.directory,
          ...(tmuxPath !== '' && { tmuxPath }),
          loadPty: () => loadPty(requirePty),
          environment: process.env,
          fleet: () => client.state,
          report: (facts) => {
            client.report(facts);
          },
          log,
        });
      },
      log,
    ),
  );
  const locateTmux = async (): Promise<string> => {
    const server = new TmuxServer({
      stateDirectory: paths.directory,
      tmuxPath: tmuxPathSetting(),
      environment: process.env,
      log,
    });
    return (await server.locate()).file;
  };
  const closed = new ClosedTerminalNotice(
    () => client.state,
    context.globalState,
    (sentence) => {
      void vscode.window.showInformationMessage(sentence);
    },
  );
  const terminals = store.add(
    new AgentTerminals(paths, locateTmux, (name) => {
      closed.closed(name);
    }),
  );
  const muted = new MutedAgents(context.globalState);
  const attention = store.add(new Attention(presenter, client, window, { muted, inUse: () => terminals.inUse }));
  store.add(new ContextKeys(presenter, client));
  const agents = store.add(new AgentsTree(presenter, context.workspaceState));
  const statusBar = store.add(
    new StatusBar(presenter, {
      startProblem: () => client.startProblem?.message,
      handsProblem: () => hands.problem,
    }),
  );
  store.add(
    hands.onStatus(() => {
      statusBar.draw();
    }),
  );
  store.add(
    new PipesNotice(hands, context.globalState, (sentence) => {
      void vscode.window.showInformationMessage(sentence, 'Show Log').then((chosen) => {
        if (chosen !== undefined) log.show();
      });
    }),
  );
  store.add(new SettingsSync(client, log));
  const reports = store.add(new ReportDocuments());
  const audit = store.add(new AuditDocuments(presenter, window));
  const commandContext = {
    ...{ client, presenter, terminals, attention, log, paths, reports, audit, agents },
    ...{ muted, memory: context.globalState },
    windowFacts: windowFacts({ context, window, client, hands }),
  };
  store.add(
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      client.reconnect();
    }),
  );
  store.add(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('bowline.tmuxPath')) hands.renew();
    }),
  );

  // The directory is made by the first command that needs a gateway, in this window or another.
  const watch = store.add(
    new FleetWatch(paths.directory, () => {
      client.start();
    }),
  );
  const welcome = store.add(new Welcome(presenter, client));
  await watch.look();
  welcome.look();
  // Now that it is known whether there is a fleet: until then VS Code shows that the view is on its way.
  store.add(new BindingHealthView(presenter, client, context.extensionUri, log));
  const shown: BowlineWindow = {
    window,
    get state() {
      return client.state;
    },
    get view() {
      return presenter.view;
    },
    get connection() {
      return client.connection;
    },
    get statusBar() {
      return statusBar.shown;
    },
    agents,
  };
  return {
    shown,
    run: (id, argument, selection) => runCommand(commandContext, id, pointedAt(argument, selection)),
  };
}

async function offerReload(sentence: string): Promise<void> {
  const reload = 'Reload Window';
  if ((await vscode.window.showInformationMessage(sentence, reload)) !== reload) return;
  await vscode.commands.executeCommand('workbench.action.reloadWindow');
}
