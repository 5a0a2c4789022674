import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../src/base/errors.ts';
import type { StatePaths } from '../../src/node/statePaths.ts';
import type { DemoFleet } from '../host/demoFleet.ts';
import { quickInput } from '../host/workbench.ts';
import type { EditorWindow } from './editorWindow.ts';

const lastLines = 25;

/** What a person and the logs would tell about a story that has failed, as text. Never rejects. */
export async function lastLook(windows: readonly EditorWindow[], fleet: DemoFleet, paths: StatePaths): Promise<string> {
  const parts: [title: string, text: () => Promise<string>][] = windows.flatMap((window, index) =>
    windowParts(window).map(([title, text]): [string, () => Promise<string>] => [
      `window ${index + 1}, ${title}`,
      text,
    ]),
  );
  parts.push(
    ['agents', async () => JSON.stringify(await fleet.request('GET', '/agents', { timeoutMs: 2_000 }), undefined, 1)],
    ['log of the gateway', async () => lastOf(await readFile(paths.log('gateway'), 'utf8'))],
  );
  for (const file of await extensionLogs(fleet)) {
    parts.push([path.relative(fleet.userDataDirectory, file), async () => lastOf(await readFile(file, 'utf8'))]);
  }
  const texts = parts.map(async ([title, text]) => {
    return `--- ${title}\n${await text().catch((error: unknown) => `(${messageOf(error)})`)}`;
  });
  return (await Promise.all(texts)).join('\n');
}

function windowParts(window: EditorWindow): [title: string, text: () => Promise<string>][] {
  const { page } = window;
  const { widget, input } = quickInput(page);
  const timeout = 2_000;
  return [
    ['status bar', () => window.status()],
    ['agents view', async () => (await window.agentRows()).join('\n')],
    ['notifications', async () => (await page.locator('.notification-list-item').allInnerTexts()).join('\n')],
    [
      'quick input',
      async () =>
        (await widget.isVisible())
          ? `"${await input.inputValue({ timeout })}"\n${await widget.innerText({ timeout })}`
          : 'closed',
    ],
  ];
}

/** Files of the output channel, one for each extension host that ever ran. */
export async function extensionLogs(fleet: Pick<DemoFleet, 'userDataDirectory'>): Promise<readonly string[]> {
  const logs = path.join(fleet.userDataDirectory, 'logs');
  const names = await readdir(logs, { recursive: true }).catch((): string[] => []);
  return names.filter((name) => path.basename(name) === 'Bowline.log').map((name) => path.join(logs, name));
}

function lastOf(text: string): string {
  return text.trimEnd().split('\n').slice(-lastLines).join('\n');
}
