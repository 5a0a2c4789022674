import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { prepareDemoFleet, type DemoClaude, type DemoFleet } from './demoFleet.ts';
import { startServer } from './server.ts';
import { findDesktopCode, repository } from './setup.mjs';
import { launchBrowser, openWorkbench, workbenchUrl } from './workbench.ts';

/** An open VS Code. */
interface OpenWindow {
  /** What a person must know about it. */
  readonly message: string;
  /** How long the extension in it may take to start the gateway. */
  readonly startLimitMs: number;
  /** Resolves when the person has closed it. */
  readonly closed: Promise<unknown>;
  dispose(): Promise<void>;
}

/**
 * Opens a real VS Code with Bowline and two agents and resolves, after the window is closed or a signal came, when all
 * of it is gone again.
 */
export async function runDemo(claude: DemoClaude): Promise<void> {
  const interrupted = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
  });
  const fleet = await prepareDemoFleet(claude);
  let window: OpenWindow | undefined;
  try {
    // The extension starts the gateway by itself where there is a state directory.
    await mkdir(fleet.stateDirectory, { mode: 0o700 });
    const opened = await Promise.race([openWindow(fleet), interrupted.then(() => undefined)]);
    if (opened === undefined) return;
    window = opened;
    console.log(
      `${window.message}\nState directory of this demo: ${fleet.stateDirectory}\nCtrl+C ends the demo and everything that it started.`,
    );
    const created = fleet.createAgents({ timeoutMs: window.startLimitMs }).then(
      () => {
        console.log(`Agents: ${fleet.agents.map(({ name }) => name).join(', ')}`);
      },
      (error: unknown) => {
        console.error('The agents could not be created:', error);
      },
    );
    await Promise.race([interrupted, window.closed]);
    void created; // while the window closes, it may still wait for a gateway
  } finally {
    console.log('Closing the demo');
    await window?.dispose();
    await fleet.dispose();
  }
}

async function openWindow(fleet: DemoFleet): Promise<OpenWindow> {
  const code = findDesktopCode();
  return code === undefined ? openServed(fleet) : openDesktop(fleet, code);
}

async function openDesktop(fleet: DemoFleet, code: string): Promise<OpenWindow> {
  const settings = path.join(fleet.userDataDirectory, 'User/settings.json');
  await mkdir(path.dirname(settings), { recursive: true });
  await writeFile(settings, JSON.stringify(fleet.settings, null, 2));
  const child = spawn(
    code,
    [
      ...[`--extensionDevelopmentPath=${repository}`, '--user-data-dir', fleet.userDataDirectory],
      ...['--skip-welcome', '--disable-workspace-trust', '--new-window', '--wait', fleet.workspace],
    ],
    { env: { ...process.env, ...fleet.environment }, stdio: 'ignore' },
  );
  const closed = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.once('error', (error) => {
      console.error(`${code} could not be started: ${error.message}`);
      resolve();
    });
  });
  return {
    message: 'Bowline is open in VS Code.',
    startLimitMs: 120_000,
    closed,
    dispose: () => Promise.resolve(), // its processes name the demo's directory and end with it
  };
}

async function openServed(fleet: DemoFleet): Promise<OpenWindow> {
  const server = await startServer({ ...fleet, mode: 'plain' });
  const url = workbenchUrl(server, { folder: fleet.workspace });
  if (process.platform === 'darwin') spawn('open', [url], { stdio: 'ignore' });
  else if (process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']) {
    const browser = await launchBrowser({ window: 'visible' });
    const closed = new Promise((resolve) => browser.once('disconnected', resolve));
    const page = await openWorkbench(browser, server, { folder: fleet.workspace, size: 'of the browser' });
    page.once('close', () => void browser.close());
    return {
      message: `Bowline is open in a browser window (${url}).`,
      startLimitMs: 120_000,
      closed,
      dispose: async () => {
        await browser.close();
        await server.dispose();
      },
    };
  }
  return {
    message: `Open VS Code with Bowline in a browser on this machine: ${url}`,
    startLimitMs: Infinity,
    closed: server.ended,
    dispose: () => server.dispose(),
  };
}
