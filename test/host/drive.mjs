// Drives the workbench as a person would: activity bar, webview, palette, status bar, screenshot.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { codeCli, launchBrowser, openWorkbench, remoteUri, startServer, tempDir } from './vshost.mjs';
import { notifications, openView, runCommand, statusText, webviewFrame } from './workbench.mjs';

const ext = path.resolve(process.argv[2] ?? '../ext');
const shot = process.argv[3] ?? '../shot.png';
const vsix = process.argv[4]; // install this first and run as a user would; nothing: load from source
const t0 = Date.now();
const at = (what) => console.log(`${String(Date.now() - t0).padStart(6)} ms  ${what}`);
const dirs = { userDataDir: tempDir(), extensionsDir: tempDir() };
if (vsix) {
  at((await codeCli(['--install-extension', path.resolve(vsix)], dirs)).trim().split('\n').pop());
  at(`list: ${(await codeCli(['--list-extensions', '--show-versions'], dirs)).trim().split('\n').pop()}`);
}
const server = await startServer({ ...dirs, driver: !vsix, verbose: !!process.env.VSHOST_VERBOSE });
at(`server up, pid ${server.pid}, port ${server.port}`);
const browser = await launchBrowser();
try {
  const { page } = await openWorkbench(browser, server, {
    folder: path.join(ext, 'workspace'),
    payload: vsix
      ? []
      : [
          ['extensionDevelopmentPath', remoteUri(server, ext)],
          ['skipWelcome', 'true'],
        ],
  });
  at('workbench visible');
  const status = page.locator('#lab\\.vshost-demo\\.demo\\.status');
  await status.waitFor({ timeout: 30_000 });
  at(`status bar: ${await statusText(page, 'lab.vshost-demo.demo.status')}`);
  await openView(page, 'Demo');
  const frame = await webviewFrame(page, 'Demo panel is alive');
  at(`webview: ${await frame.locator('#title').innerText()} / ${await frame.locator('p').innerText()}`);
  // the same frame by structure, when only one webview is open
  assert.equal(
    await page.frameLocator('iframe.webview.ready').frameLocator('#active-frame').locator('#title').innerText(),
    'Demo panel is alive',
  );
  await frame.locator('#go').click();
  await frame.locator('#count', { hasText: '1' }).waitFor();
  assert.match(await statusText(page, 'lab.vshost-demo.demo.status'), /Demo: 1/);
  at(`after the button: ${await statusText(page, 'lab.vshost-demo.demo.status')}`);
  await runCommand(page, 'Demo: Say Hello');
  await page.locator('#lab\\.vshost-demo\\.demo\\.status', { hasText: 'Demo: 2' }).waitFor();
  assert.equal(await frame.locator('#count').innerText(), '2');
  at(
    `after the palette: ${await statusText(page, 'lab.vshost-demo.demo.status')}, webview count ${await frame.locator('#count').innerText()}`,
  );
  await status.click();
  await page.locator('#lab\\.vshost-demo\\.demo\\.status', { hasText: 'Demo: 3' }).waitFor();
  at(`after clicking the status item: ${await statusText(page, 'lab.vshost-demo.demo.status')}`);
  await runCommand(page, 'Demo: Run Pty');
  at(`notification: ${await notifications(page, 'Pty said')}`);
  await page.screenshot({ path: shot });
  at(`screenshot ${shot}`);
} finally {
  await browser.close();
  await server.stop();
  for (const d of Object.values(dirs)) {
    rmSync(d, { recursive: true, force: true });
  }
}
at('closed');
