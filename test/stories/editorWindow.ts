import { waitFor } from '../harness/waitFor.ts';
import type { HostServer } from '../host/server.ts';
import {
  type Browser,
  openView,
  openWorkbench,
  type Page,
  quickInput,
  runCommand,
  statusText,
} from '../host/workbench.ts';

/** Id of the status bar item in the page: publisher, extension, item. */
const statusItem = 'bowline.bowline.fleet';

/** One window of VS Code, used and read as a person does. */
export class EditorWindow {
  private constructor(readonly page: Page) {}

  static async open(browser: Browser, server: HostServer, folder: string): Promise<EditorWindow> {
    return new EditorWindow(await openWorkbench(browser, server, { folder }));
  }

  /** Shows the sidebar with the agents. */
  showBowline(): Promise<void> {
    return openView(this.page, 'Bowline');
  }

  /** New Agent, the name, and the folder of the workspace that has this name. */
  async answerNewAgent(name: string): Promise<void> {
    const { page } = this;
    const { widget, input, rows } = quickInput(page);
    await runCommand(page, 'Bowline: New Agent');
    for (const step of ['1/2', '2/2']) {
      await widget.locator('.quick-input-title', { hasText: step }).waitFor({ timeout: 30_000 });
      await input.fill(name);
      // Enter takes what is marked, and that is drawn a moment after the text.
      if (step === '2/2') await rows.filter({ hasText: name }).and(page.locator('.focused')).waitFor();
      await input.press('Enter');
    }
    await widget.waitFor({ state: 'hidden' });
  }

  /** Runs a palette command and picks the agent that it asks for. */
  async runFor(agent: string, command: string): Promise<void> {
    await runCommand(this.page, command);
    await quickInput(this.page).rows.filter({ hasText: agent }).first().click();
  }

  /** Text of the status bar item. */
  status(): Promise<string> {
    return statusText(this.page, statusItem);
  }

  async waitForStatus(text: RegExp, options: { readonly timeoutMs: number }): Promise<string> {
    let last = '';
    try {
      return await waitFor(
        `status bar ${String(text)}`,
        async () => {
          last = await this.status();
          return text.test(last) ? last : undefined;
        },
        { ...options, everyMs: 100 },
      );
    } catch (error) {
      throw new Error(`the status bar says "${last}", not ${String(text)}`, { cause: error });
    }
  }

  /** Labels and descriptions in the Agents view, from the top. */
  async agentRows(): Promise<readonly string[]> {
    const rows = await this.page.locator('.tree-explorer-viewlet-tree-view .monaco-list-row').allInnerTexts();
    return rows.map((row) => row.replace(/\s+/g, ' ').trim());
  }

  /** What the Binding Health view shows; undefined while it is not there. */
  async healthText(): Promise<string | undefined> {
    for (const frame of this.page.frames()) {
      if (!frame.url().includes('fake.html')) continue;
      return frame.locator('body').innerText({ timeout: 1_000 });
    }
    return undefined;
  }

  /** Waits until the Binding Health view shows a text. */
  async waitForHealthText(text: RegExp, options: { readonly timeoutMs: number }): Promise<void> {
    let last: string | undefined;
    try {
      await waitFor(
        `Binding Health ${String(text)}`,
        async () => {
          last = await this.healthText();
          return last !== undefined && text.test(last);
        },
        { ...options, everyMs: 200 },
      );
    } catch (error) {
      throw new Error(`Binding Health does not show ${String(text)} but:\n${last ?? 'nothing'}`, { cause: error });
    }
  }
}
