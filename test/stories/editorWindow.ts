import { waitFor } from '../harness/waitFor.ts';
import type { HostServer } from '../host/server.ts';
import {
  type Browser,
  type Locator,
  notification,
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
    // Exact: a directory may hold the name, too.
    const label = this.page.getByText(agent, { exact: true });
    await quickInput(this.page).rows.filter({ has: label }).first().click();
  }

  /** Waits for a notification that contains `text`; resolves with its buttons. */
  async offers(text: string, options: { readonly timeoutMs: number }): Promise<readonly string[]> {
    await notification(this.page, text, options);
    return this.buttons(text).allInnerTexts();
  }

  /** Presses a button of the notification that contains `text`. */
  async take(text: string, button: string, options: { readonly timeoutMs: number }): Promise<void> {
    await notification(this.page, text, options);
    await this.buttons(text).filter({ hasText: button }).click();
  }

  /** Text of the modal question. */
  async dialog(options: { readonly timeoutMs: number }): Promise<string> {
    const dialog = this.page.locator('.monaco-dialog-box');
    await dialog.waitFor({ timeout: options.timeoutMs });
    return dialog.innerText();
  }

  /** Answers the modal question with a button. */
  async answerDialog(button: string): Promise<void> {
    const dialog = this.page.locator('.monaco-dialog-box');
    await dialog.locator('.monaco-button', { hasText: button }).click();
    await dialog.waitFor({ state: 'hidden' });
  }

  /** Only lines in sight are in the page: goes through the document in the editor page by page, again and again. */
  async waitForDocument(text: RegExp, options: { readonly timeoutMs: number }): Promise<void> {
    const lines = this.page.locator('.editor-instance .view-lines');
    await lines.first().waitFor();
    let pages = 0;
    await waitFor(
      `an editor with ${String(text)}`,
      async () => {
        const shown = (await lines.allInnerTexts()).join('\n').replace(/\u00a0/g, ' ');
        if (text.test(shown)) return true;
        await lines.first().click();
        await this.page.keyboard.press(pages % 10 === 0 ? 'Control+Home' : 'PageDown');
        pages += 1;
        return false;
      },
      { ...options, everyMs: 300 },
    );
  }

  async restartExtensionHost(): Promise<void> {
    await runCommand(this.page, 'Developer: Restart Extension Host');
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

  /** Shows the MCP servers of an agent below it in the Agents view. */
  async expandAgent(name: string): Promise<void> {
    const row = this.page.locator('.tree-explorer-viewlet-tree-view .monaco-list-row', { hasText: name }).first();
    await row.locator('.monaco-tl-twistie').click();
  }

  /** Waits until the Agents view has a row with a text. */
  async waitForAgentRow(text: RegExp, options: { readonly timeoutMs: number }): Promise<void> {
    let last: readonly string[] = [];
    try {
      await waitFor(
        `a row ${String(text)}`,
        async () => {
          last = await this.agentRows();
          return last.some((row) => text.test(row));
        },
        { ...options, everyMs: 100 },
      );
    } catch (error) {
      throw new Error(`the Agents view has no row ${String(text)} but:\n${last.join('\n')}`, { cause: error });
    }
  }

  /** What the Binding Health view shows; undefined while it is not there. */
  async healthText(): Promise<string | undefined> {
    for (const frame of this.page.frames()) {
      if (!frame.url().includes('fake.html')) continue;
      return frame.locator('body').innerText({ timeout: 1_000 });
    }
    return undefined;
  }

  /** The lines of the timeline in the Binding Health view, newest first; opens it, and scrolls to the first with `to`. */
  async timeline(to: string, options: { readonly timeoutMs: number }): Promise<readonly string[]> {
    return waitFor(
      'the timeline',
      async () => {
        const frame = this.page.frames().find((one) => one.url().includes('fake.html'));
        const details = frame?.locator('details.timeline');
        if (details === undefined) return undefined;
        if ((await details.getAttribute('open', { timeout: 1_000 })) === null) {
          await details.locator('summary').click({ timeout: 1_000 });
        }
        const lines = await details.locator('li').allInnerTexts();
        const line = details.locator('li', { hasText: to }).first();
        await line.evaluate(
          (element) => {
            element.scrollIntoView();
          },
          undefined,
          { timeout: 1_000 },
        );
        return lines.length > 0 ? lines.map((line) => line.replace(/\s+/g, ' ')) : undefined;
      },
      { ...options, everyMs: 200 },
    );
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

  private buttons(text: string): Locator {
    return this.page.locator('.notification-list-item', { hasText: text }).first().locator('.monaco-button');
  }
}
