import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { stop } from 'esbuild';
import { bundlePrograms } from '../harness/bundle.ts';

/** Bundles programs into a temporary directory, by the names of their files; resolves with where each one is. */
export async function bundled<Name extends string>(
  files: Readonly<Record<Name, string>>,
): Promise<(name: Name) => string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'programs-'));
  await bundlePrograms({ entryPoints: files, directory });
  await stop();
  return (name) => path.join(directory, `${name}.js`);
}

/** A program of the bench that listens on a port of 127.0.0.1, which it prints. */
export class PortProgram {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  static async start(file: string, args: readonly string[] = []): Promise<PortProgram> {
    const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const port = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => {
        reject(new Error(`${file} ended with ${code}`));
      });
      child.stdout.once('data', (text: Buffer) => {
        resolve(Number(text.toString()));
      });
    });
    return new PortProgram(child, port);
  }

  async dispose(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}
