import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { format } from 'node:util';
import type { Page } from 'playwright-core';
import * as z from 'zod/mini';
import { after, startServer, type HostServer } from './server.ts';
import { launchBrowser, openWorkbench, remoteUri } from './workbench.ts';

/** What is tested; all paths are absolute. */
export interface ExtensionTests {
  readonly extensions: readonly string[];
  /** A CommonJS module whose `run()` rejects when a test failed. */
  readonly entry: string;
  readonly folder?: string;
  readonly userDataDirectory: string;
  readonly extensionsDirectory: string;
}

const startLimit = 120_000;
const runLimit = 600_000;

const resultSchema = z.object({ ok: z.boolean() });

interface Outcome {
  readonly code: number;
  readonly reason: string;
}

/**
 * Runs a test entry inside the extension host of a browser-served VS Code, prints what it prints, and resolves with an
 * exit code: 0 only when its `run()` resolved, 1 when it rejected or the host died under it, 124 after 2 minutes without
 * a start or 10 without an end, 130 after a signal.
 */
export async function runExtensionTests(tests: ExtensionTests): Promise<number> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'vsh-'));
  const output = path.join(directory, 'output');
  const result = path.join(directory, 'result.json');
  const workbenchLog: string[] = [];
  let end: (outcome: Outcome) => void = () => undefined;
  const ended = new Promise<Outcome>((resolve) => (end = resolve));
  const onSignal = (): void => {
    end({ code: 130, reason: 'interrupted' });
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, onSignal);
  let printed = 0;
  const print = (): void => {
    if (!existsSync(output)) return;
    const text = readFileSync(output);
    process.stdout.write(text.subarray(printed));
    printed = text.length;
  };
  const printer = setInterval(print, 100);
  void after(startLimit, undefined).then(() => {
    if (!existsSync(output)) end({ code: 124, reason: `the tests did not start within ${startLimit} ms` });
  });
  void after(runLimit, { code: 124, reason: `the tests did not end within ${runLimit} ms` }).then(end);

  let server: HostServer | undefined;
  let browser: Awaited<ReturnType<typeof launchBrowser>> | undefined;
  let outcome: Outcome;
  try {
    server = await startServer({
      ...tests,
      mode: 'tests',
      environment: { BOWLINE_HOST_ENTRY: tests.entry, BOWLINE_HOST_OUTPUT: output, BOWLINE_HOST_RESULT: result },
    });
    void server.ended.then((reason) => {
      end({ code: 1, reason });
    });
    browser = await launchBrowser({ window: 'headless' });
    browser.on('disconnected', () => {
      end({ code: 1, reason: 'the browser ended' });
    });
    await openWorkbench(browser, server, {
      ...(tests.folder === undefined ? {} : { folder: tests.folder }),
      payload: payload(tests, server),
      prepare: (page) => watch(page, workbenchLog, end),
    });
    outcome = await judge(await ended, result);
  } catch (error) {
    outcome = { code: 1, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  clearInterval(printer);
  print();
  for (const signal of signals) process.removeListener(signal, onSignal);
  if (outcome.reason !== '') {
    console.error(`${outcome.reason}\n${workbenchLog.join('\n')}\n--- server\n${server?.log().slice(-4000) ?? ''}`);
  }
  await browser?.close();
  await server?.dispose();
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  return outcome.code;
}

function payload(tests: ExtensionTests, server: HostServer): [string, string][] {
  return [
    ...tests.extensions.map((directory): [string, string] => [
      'extensionDevelopmentPath',
      remoteUri(server, directory),
    ]),
    ['extensionTestsPath', remoteUri(server, path.join(__dirname, 'testsEntry.cjs'))],
    ['skipWelcome', 'true'],
    ['skipReleaseNotes', 'true'],
  ];
}

/** The workbench calls these two functions of its page when it was started for tests. */
async function watch(page: Page, log: string[], end: (outcome: Outcome) => void): Promise<void> {
  const keep = (line: string): void => {
    log.push(line.split('\n')[0] ?? '');
    if (log.length > 200) log.shift();
  };
  await page.exposeFunction('codeAutomationLog', (type: string, values: unknown[]) => {
    keep(`[workbench ${type}] ${format(...values)}`);
  });
  await page.exposeFunction('codeAutomationExit', (code: number) => {
    end({ code, reason: '' });
  });
  page.on('pageerror', (error) => {
    keep(`[page error] ${error.message}`);
  });
  page.on('crash', () => {
    end({ code: 1, reason: 'the page crashed' });
  });
}

/** The result file outranks what VS Code says: it calls a dead extension host a success. */
async function judge(said: Outcome, resultFile: string): Promise<Outcome> {
  if (existsSync(resultFile)) {
    const result = resultSchema.parse(JSON.parse(await readFile(resultFile, 'utf8')));
    return { code: result.ok ? 0 : 1, reason: '' };
  }
  if (said.reason !== '') return said;
  return { code: 1, reason: 'the extension host ended before the tests did' };
}
