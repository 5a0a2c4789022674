import path from 'node:path';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { waitFor } from '../harness/waitFor.ts';
import { findChromium } from './setup.mjs';
import type { HostServer } from './server.ts';

export type { Browser, Locator, Page } from 'playwright-core';

/**
 * Starts Chromium with everything off that would call out. Signals do not end it: the caller tidies up in its own order.
 */
export async function launchBrowser(options: { readonly window: 'headless' | 'visible' }): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('no Chromium found: run `node test/host/setup.mjs --browser`');
  return chromium.launch({
    executablePath,
    headless: options.window === 'headless',
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
}

/** What a window opens; `payload` is obeyed by a server of mode `tests` only. */
export interface WindowOptions {
  /** Absolute path of a folder or a `.code-workspace` file. */
  readonly folder?: string;
  readonly payload?: readonly (readonly [name: string, value: string])[];
  /** 1280x800 unless the browser's window is what a person looks at. */
  readonly size?: 'of the browser';
  /** Called before anything is loaded, for functions that the workbench must find. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** Address that opens a window in any browser. */
export function workbenchUrl(server: HostServer, { folder, payload = [] }: WindowOptions): string {
  const url = new URL(server.url);
  if (folder === undefined) url.searchParams.set('ew', 'true');
  else url.searchParams.set(folder.endsWith('.code-workspace') ? 'workspace' : 'folder', folder);
  if (payload.length > 0) url.searchParams.set('payload', JSON.stringify(payload));
  return url.href;
}

/** The `vscode-remote:` URI of a file on the server's machine. */
export function remoteUri(server: HostServer, file: string): string {
  return `vscode-remote://${server.authority}${encodeURI(path.resolve(file))}`;
}

/** Opens a window in a browser context of its own and waits until the workbench stands. */
export async function openWorkbench(browser: Browser, server: HostServer, options: WindowOptions): Promise<Page> {
  const context = await browser.newContext({
    viewport: options.size === undefined ? { width: 1280, height: 800 } : null,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  await options.prepare?.(page);
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('requestfailed', (request) => said.push(`${request.url()}: ${request.failure()?.errorText ?? 'failed'}`));
  for (let tries = 3; ; tries -= 1) {
    try {
      // On a busy machine the last of its files can take longer than Playwright's 30 s; the workbench is what counts.
      await page.goto(workbenchUrl(server, options), { waitUntil: 'commit', timeout: 60_000 });
      await page.waitForSelector('.monaco-workbench', { timeout: 60_000 });
      return page;
    } catch (error) {
      // Loaded anew, as a person does with a page that stays blank.
      if (tries === 1) throw new Error(`the workbench does not stand:\n${said.join('\n')}`, { cause: error });
    }
  }
}

/** Shows the view container with this title by its activity bar entry. */
export async function openView(page: Page, title: string): Promise<void> {
  const tab = page.locator('.activitybar .action-item', { has: page.locator(`a[aria-label^="${title}"]`) });
  // An extension host on a busy machine takes its time to tell what extensions bring.
  await tab.waitFor({ timeout: 120_000 });
  const classes = (await tab.getAttribute('class')) ?? '';
  if (!/\bchecked\b/.test(classes)) await tab.click();
}

/** The box at the top of the window that commands ask in, the palette among them. */
export function quickInput(page: Page): { readonly widget: Locator; readonly input: Locator; readonly rows: Locator } {
  const widget = page.locator('.quick-input-widget');
  return {
    widget,
    input: widget.locator('.quick-input-box input').first(),
    rows: widget.locator('.quick-input-list .monaco-list-row'),
  };
}

/** Runs a command by its palette title, for example `Bowline: Verify Binding`. Opens the palette anew if it closes. */
export async function runCommand(page: Page, title: string): Promise<void> {
  const { input, rows } = quickInput(page);
  // Exact: the title of another command may begin with it.
  const row = rows.filter({ has: page.getByText(title, { exact: true }) }).first();
  const asked = `>${title}`;
  for (let tries = 3; ; tries -= 1) {
    try {
      await page.keyboard.press('F1');
      await input.waitFor({ state: 'visible', timeout: 20_000 });
      await input.fill(asked, { timeout: 20_000 });
      await row.click({ timeout: 20_000 });
      // The palette takes a click by going away, or by asking what the command asks.
      await waitFor(`the palette to take ${title}`, async () => {
        return !(await input.isVisible()) || (await input.inputValue({ timeout: 1_000 })) !== asked;
      });
      return;
    } catch (error) {
      if (tries === 1) throw error;
    }
  }
}

/** Text of a status bar item, `''` while it is absent; `id` is `<publisher>.<name>.<item id>`. Icons have no text. */
export async function statusText(page: Page, id: string): Promise<string> {
  const item = page.locator(`[id="${id}"]`);
  return (await item.count()) === 0 ? '' : (await item.first().innerText()).trim();
}

/**
 * Waits for a notification that contains `text` and resolves with its message. Opens the notification centre where no
 * toast shows (a server of mode `tests` hides them). Rejects after `timeoutMs` (15 s).
 */
export async function notification(page: Page, text: string, options: { timeoutMs?: number } = {}): Promise<string> {
  const item = page.locator('.notification-list-item', { hasText: text }).first();
  const bell = page.locator('[id="status.notifications"] a');
  const open = page.locator('.notifications-toasts.visible, .notifications-center.visible');
  const limit = Date.now() + (options.timeoutMs ?? 15_000);
  while (Date.now() < limit) {
    if (await item.isVisible()) {
      return (await item.locator('.notification-list-item-message').innerText()).replace(/\s+/g, ' ');
    }
    const unread = await bell.locator('.codicon-bell-dot').isVisible();
    if (unread && (await open.count()) === 0) await bell.click();
    await page.waitForTimeout(100);
  }
  throw new Error(`no notification says ${JSON.stringify(text)}`);
}
