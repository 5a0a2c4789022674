import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';

/** Bundles the bare server as the gateway is bundled. */
export async function bundleBareServer(): Promise<{ readonly file: string; dispose(): Promise<void> }> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'bowline-bare-'));
  const file = path.join(directory, 'bareServer.js');
  await build({
    entryPoints: [path.join(__dirname, '../harness/bareServerMain.ts')],
    outfile: file,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'error',
    define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
  });
  return { file, dispose: () => rm(directory, { recursive: true, force: true }) };
}

/** Milliseconds from the start of the bare server to its first answer. */
export async function bareStart(file: string): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const port = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.stdout.once('data', (text: Buffer) => {
        resolve(Number(text.toString()));
      });
    });
    await new Promise<void>((resolve, reject) => {
      get({ host: '127.0.0.1', port, agent: false }, (response) => {
        response.resume().once('end', resolve);
      }).once('error', reject);
    });
    return performance.now() - started;
  } finally {
    await end(child);
  }
}

/** A Node process that does nothing. */
export function startIdleNode(): { readonly pid: number; dispose(): Promise<void> } {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 60_000)'], { stdio: 'ignore' });
  if (child.pid === undefined) throw new Error('node does not start');
  return { pid: child.pid, dispose: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
