import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import type { FleetView } from '../../../src/core/fleet/select.ts';
import { changesBetween } from '../../../src/core/fleet/viewChanges.ts';
import type { HostToWebviewMessage, WebviewToHostMessage } from '../../../src/protocol/webview.ts';
import { bindingHealthHtml } from '../../../src/extension/bindingHealthHtml.ts';
import { repository } from '../../host/setup.mjs';
import { launchBrowser } from '../../host/workbench.ts';
import { fleet } from '../../unit/webview/fleetViews.ts';
import { type Theme, themes } from './themes.ts';

type Browser = Awaited<ReturnType<typeof launchBrowser>>;
export type Page = Awaited<ReturnType<Browser['newPage']>>;

export interface OpenOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: keyof typeof themes;
  /** What an earlier page left. */
  readonly state?: unknown;
  /** Sent as soon as the page is ready, as the extension host does. */
  readonly answer?: HostToWebviewMessage;
  /** The document alone. */
  readonly script?: 'none';
}

declare global {
  interface Window {
    /** What the stand-in for VS Code's webview API got, and what the policy stopped. */
    recorded: {
      messages: WebviewToHostMessage[];
      state: unknown;
      violations: string[];
      /** When the answer to `ready` was drawn, in milliseconds since the navigation. */
      answeredAt?: number;
    };
    /** Resolves when all that the page was told is drawn. */
    drawn(): Promise<void>;
    /** Accessible name and outline of what has the focus. */
    focusedLook(): string;
  }
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.ttf': 'font/ttf',
};

/** The built page in a real Chromium, in the document and under the policy of the extension; the host's side is a stand-in. */
export class PageRig {
  private constructor(
    readonly browser: Browser,
    private readonly server: Server,
    private readonly origin: string,
  ) {}

  /** Needs the bundle in `dist`. */
  static async start(): Promise<PageRig> {
    const server = createServer((request, response) => {
      const name = path.basename(new URL(request.url ?? '', origin).pathname);
      const body = name === 'page.html' ? Promise.resolve(html) : readFile(path.join(repository, 'dist', name));
      body.then(
        (content) => response.writeHead(200, { 'content-type': types[path.extname(name)] ?? '' }).end(content),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const origin = `http://127.0.0.1:${address.port}`;
    const html = bindingHealthHtml({
      source: origin,
      nonce: 'test',
      scriptUri: `${origin}/webview.js`,
      codiconUri: `${origin}/codicon.css`,
    });
    return new PageRig(await launchBrowser({ window: 'headless' }), server, origin);
  }

  async open({
    width = 340,
    height = 700,
    theme = 'dark',
    state,
    answer,
    script,
  }: OpenOptions = {}): Promise<OpenPage> {
    const page = await this.browser.newPage({ viewport: { width, height } });
    // What tsx puts around functions, also around those that are sent into the page.
    await page.addInitScript('globalThis.__name = (target) => target');
    await page.addInitScript(prepareWindow, { state, ...(answer !== undefined && { answer }) });
    if (script === 'none') await page.route('**/webview.js', (route) => route.fulfill({ body: '' }));
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

/** What the host tells beside the fleet. */
export type Told = Pick<HostToWebviewMessage, 'opening' | 'probes'>;

export class OpenPage {
  /** What the page was told last. */
  private shown = fleet([]);
  /** What the page complained about. */
  readonly errors: string[] = [];

  constructor(readonly page: Page) {
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.errors.push(message.text());
    });
  }

  /** Sends a whole view as the extension host does, and resolves when it is drawn. */
  readonly show = async (view: FleetView, now: number, told: Told = {}): Promise<void> => {
    this.shown = view;
    await this.send({ kind: 'view', view, now, ...told });
  };

  /** Sends what differs from the view that was shown last, as the extension host does, and resolves when it is drawn. */
  readonly change = async (view: FleetView, now: number, told: Told = {}): Promise<void> => {
    const changes = changesBetween(this.shown, view) ?? {};
    this.shown = view;
    await this.send({ kind: 'changes', changes, now, ...told });
  };

  private async send(message: HostToWebviewMessage): Promise<void> {
    await this.page.evaluate(async (sent) => {
      await new Promise((resolve) => {
        window.addEventListener('message', resolve, { once: true });
        window.postMessage(sent, '*');
      });
      await window.drawn();
    }, message);
  }

  /** Sets the browser's clock, which then stands still; its timers go on. */
  readonly setTime = async (time: number): Promise<void> => {
    await this.page.clock.setFixedTime(time);
  };

  readonly useTheme = async (theme: Theme): Promise<void> => {
    await this.page.evaluate((colours) => {
      const { style } = document.documentElement;
      style.cssText = 'background: var(--vscode-sideBar-background)';
      for (const [name, value] of Object.entries(colours)) style.setProperty(`--vscode-${name}`, value);
    }, theme);
  };

  readonly messages = async (): Promise<readonly WebviewToHostMessage[]> =>
    this.page.evaluate(() => window.recorded.messages);

  /** Commands asked for since the last call. */
  readonly takeCommands = async (): Promise<readonly Extract<WebviewToHostMessage, { kind: 'command' }>[]> =>
    this.page.evaluate(() => window.recorded.messages.splice(0).filter((message) => message.kind === 'command'));

  /** What the page left for the next one. */
  readonly state = async (): Promise<unknown> => this.page.evaluate(() => window.recorded.state);

  readonly violations = async (): Promise<readonly string[]> => this.page.evaluate(() => window.recorded.violations);

  readonly announcements = async (): Promise<readonly string[]> =>
    this.page.getByRole('log').locator('p').allTextContents();

  async close(): Promise<void> {
    await this.page.close();
  }
}

/** Runs in the browser before the page's own script: the host's side (fake: there is no VS Code around the page). */
function prepareWindow({ state, answer }: Pick<OpenOptions, 'state' | 'answer'>): void {
  window.recorded = { messages: [], state, violations: [] };
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    window.recorded.violations.push(`${violatedDirective} ${blockedURI}`);
  });
  Object.assign(window, {
    acquireVsCodeApi: () => ({
      postMessage: (message: WebviewToHostMessage) => {
        window.recorded.messages.push(structuredClone(message));
        if (message.kind !== 'ready' || answer === undefined) return;
        window.addEventListener(
          'message',
          () => void window.drawn().then(() => (window.recorded.answeredAt = performance.now())),
          {
            once: true,
          },
        );
        window.postMessage(answer, '*');
      },
      getState: () => window.recorded.state,
      setState: (next: unknown) => {
        window.recorded.state = structuredClone(next);
      },
    }),
  });
  window.drawn = async () => {
    const page = document.querySelector('bowline-binding-health');
    // Each part is drawn after the one around it.
    for (const part of [page, ...document.querySelectorAll('bowline-matrix, bowline-agent-row, bowline-details')]) {
      if (part !== null && 'updateComplete' in part) await part.updateComplete;
    }
    await new Promise(requestAnimationFrame);
  };
  window.focusedLook = () => {
    const active = document.activeElement ?? document.body;
    const { outlineStyle, outlineColor } = getComputedStyle(active);
    const name = active.getAttribute('aria-label') ?? active.textContent;
    return `${name.replace(/\s+/g, ' ').trim()}, ${outlineStyle} ${outlineColor}`;
  };
}
