// Page helpers for VS Code's workbench.

/** Clicks an activity-bar entry (by its title) unless it is already the active one. */
export async function openView(page, title) {
  const tab = page.locator('.activitybar .action-item', { has: page.locator(`a[aria-label^="${title}"]`) });
  await tab.waitFor();
  if (!/\bchecked\b/.test((await tab.getAttribute('class')) ?? '')) {
    await tab.click();
  }
}

/** The innermost frame of the visible webview whose body contains `text`. */
export async function webviewFrame(page, text, timeout = 30_000) {
  const end = Date.now() + timeout;
  for (;;) {
    for (const f of page.frames()) {
      // workbench > iframe.webview.ready (index.html) > iframe#active-frame (fake.html)
      if (!f.url().includes('fake.html')) {
        continue;
      }
      try {
        if ((await f.locator('body').innerText({ timeout: 1000 })).includes(text)) {
          return f;
        }
      } catch {
        /* not ready, or gone */
      }
    }
    if (Date.now() > end) {
      throw new Error(
        `no webview with ${JSON.stringify(text)}; frames: ${page
          .frames()
          .map((f) => f.url())
          .join('\n')}`,
      );
    }
    await page.waitForTimeout(100);
  }
}

/** Runs a command by its palette title, e.g. `Demo: Say Hello`. */
export async function runCommand(page, title) {
  const input = page.locator('.quick-input-widget input.input, .quick-input-widget .quick-input-box input');
  await page.keyboard.press('F1');
  await input.first().waitFor({ state: 'visible' });
  await input.first().fill(`>${title}`);
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
  await row.waitFor();
  await row.click();
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
}

/** Text of a status-bar item; id is `<publisher>.<name>.<item id>` (dots and all). */
export async function statusText(page, id) {
  return (await page.locator(`[id="${id}"]`).innerText()).trim();
}

/**
 * Waits for a notification that contains `text`. A toast shows by itself in a normal window; under
 * --enable-smoke-test-driver VS Code hides toasts, so the notification centre is opened instead.
 */
export async function notifications(page, text, timeout = 15_000) {
  const item = page.locator('.notification-list-item', { hasText: text }).first();
  const bell = page.locator('[id="status.notifications"] a');
  const end = Date.now() + timeout;
  while (Date.now() < end) {
    if (await item.isVisible()) {
      return (await item.locator('.notification-list-item-message').innerText()).replace(/\s+/g, ' ');
    }
    if (
      (await bell.locator('.codicon-bell-dot').isVisible()) &&
      !(await page.locator('.notifications-toasts.visible').isVisible()) &&
      !(await page.locator('.notifications-center.visible').isVisible())
    ) {
      await bell.click();
    }
    await page.waitForTimeout(100);
  }
  throw new Error(`no notification with ${JSON.stringify(text)}`);
}
