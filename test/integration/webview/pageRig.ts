import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import type { FleetView } from '../../../src/core/fleet/select.ts';
import type { HostToWebviewMessage, WebviewToHostMessage } from '../../../src/protocol/webview.ts';
import { repository } from '../../host/setup.mjs';
import { launchBrowser } from '../../host/workbench.ts';
import { type Theme, themes } from './themes.ts';

type Browser = Awaited<ReturnType<typeof launchBrowser>>;
export type Page = Awaited<ReturnType<Browser['newPage']>>;

export interface OpenOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: keyof typeof themes;
  /** What an earlier page left. */
  readonly state?: unknown;
}

/** What the stand-in for VS Code's webview API recorded. */
interface Recorded {
  readonly messages: readonly WebviewToHostMessage[];
  readonly state: unknown;
  readonly violations: readonly string[];
}

declare global {
  interface Window {
    recorded: { messages: WebviewToHostMessage[]; state: unknown; violations: string[] };
  }
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.ttf': 'font/ttf',
};

/** The built page in a real Chromium, served with the policy of a VS Code webview; the host's side is a stand-in. */
export class PageRig {
  private constructor(
    private readonly browser: Browser,
    private readonly server: Server,
    private readonly origin: string,
  ) {}

  /** Needs the bundle in `dist`. */
  static async start(): Promise<PageRig> {
    const server = createServer((request, response) => {
      const name = path.basename(new URL(request.url ?? '', origin).pathname);
      const body =
        name === 'page.html' ? Promise.resolve(pageHtml(origin)) : readFile(path.join(repository, 'dist', name));
      body.then(
        (content) => response.writeHead(200, { 'content-type': types[path.extname(name)] ?? '' }).end(content),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const origin = `http://127.0.0.1:${address.port}`;
    return new PageRig(await launchBrowser({ window: 'headless' }), server, origin);
  }

  async open({ width = 340, height = 700, theme = 'dark', state }: OpenOptions = {}): Promise<OpenPage> {
    const page = await this.browser.newPage({ viewport: { width, height } });
    // What tsx puts around functions, also around those that are sent into the page.
    await page.addInitScript('globalThis.__name = (target) => target');
    await page.addInitScript((kept) => {
      window.recorded = { messages: [], state: kept, violations: [] };
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
        window.recorded.violations.push(`${violatedDirective} ${blockedURI}`);
      });
      Object.assign(window, {
        acquireVsCodeApi: () => ({
          postMessage: (message: WebviewToHostMessage) => window.recorded.messages.push(message),
          getState: () => window.recorded.state,
          setState: (next: unknown) => (window.recorded.state = next),
        }),
      });
    }, state);
    const opened = new OpenPage(page);
    await page.goto(`${this.origin}/page.html`);
    await opened.useTheme(themes[theme]);
    return opened;
  }

  async dispose(): Promise<void> {
    await this.browser.close();
    await new Promise((resolve) => {
      this.server.close(resolve);
      this.server.closeAllConnections();
    });
  }
}

export class OpenPage {
  readonly errors: string[] = [];

  constructor(readonly page: Page) {
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.errors.push(message.text());
    });
  }

  /** Sends a view as the extension host does, and resolves when it is drawn. */
  async show(view: FleetView, now: number): Promise<void> {
    const message: HostToWebviewMessage = { kind: 'view', view, now };
    await this.page.evaluate(async (sent) => {
      window.postMessage(sent, '*');
      const nextFrame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));
      await new Promise((resolve) => setTimeout(resolve));
      for (let frame = 0; frame < 4; frame++) await nextFrame();
    }, message);
  }

  async useTheme(theme: Theme): Promise<void> {
    await this.page.evaluate((colours) => {
      const { style } = document.documentElement;
      for (const [name, value] of Object.entries(colours)) style.setProperty(`--vscode-${name}`, value);
      style.setProperty('background', 'var(--vscode-background)');
    }, theme);
  }

  async recorded(): Promise<Recorded> {
    return this.page.evaluate(() => window.recorded);
  }

  /** Commands asked for since the last call. */
  async takeCommands(): Promise<readonly WebviewToHostMessage[]> {
    return this.page.evaluate(() => window.recorded.messages.splice(0).filter(({ kind }) => kind === 'command'));
  }

  async close(): Promise<void> {
    await this.page.close();
  }
}

/** The page as the extension serves it: everything forbidden but its own script, styles and font. */
function pageHtml(origin: string): string {
  const policy = `default-src 'none'; script-src 'nonce-test'; style-src ${origin}; font-src ${origin};`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <title>Binding Health</title>
    <link rel="stylesheet" href="codicon.css">
  </head>
  <body>
    <bowline-binding-health></bowline-binding-health>
    <script nonce="test" src="webview.js"></script>
  </body>
</html>`;
}
