import { createRequire } from 'node:module';
import path from 'node:path';
import * as z from 'zod/mini';
import type { Log } from '../../src/base/log.ts';
import { GatewayClient } from '../../src/extension/gatewayClient.ts';
import { HandsHost } from '../../src/extension/handsHost.ts';
import { ensureHolder, type EnsureHolderOptions } from '../../src/node/gatewayLauncher.ts';
import { Hands } from '../../src/node/hands/hands.ts';
import { installPrograms } from '../../src/node/programs.ts';
import { loadPty } from '../../src/node/pty.ts';
import { type StatePaths, statePaths } from '../../src/node/statePaths.ts';

/** What a window brings to the fleet. */
export interface RigWindow {
  readonly client: GatewayClient;
  readonly hands: HandsHost;
}

export interface RigWindowOptions {
  readonly stateDirectory: string;
  /** The clone, with its build in `dist`. */
  readonly repository: string;
  /** The name under which it joins. */
  readonly window: string;
  readonly hands: 'offered' | 'not offered';
  /** Of the process that hosts the hands. */
  readonly environment: Readonly<Record<string, string>>;
  readonly transport: 'pty' | 'pipes';
  /** What holder, gateway and hooks run on; this process's Node by default. */
  readonly node?: string;
  readonly log: Log;
}

/** What `windowMain.ts` is told. */
export const windowArgumentsSchema = z.object({
  stateDirectory: z.string(),
  repository: z.string(),
  window: z.string(),
  environment: z.record(z.string(), z.string()),
  transport: z.enum(['pty', 'pipes']),
  node: z.exactOptional(z.string()),
  logFile: z.string(),
});

/** Client and hands as the extension makes them, without VS Code. */
export function createRigWindow(options: RigWindowOptions): RigWindow {
  const { window, log, environment } = options;
  const paths = statePaths(options.stateDirectory);
  const client = new GatewayClient({
    paths,
    log,
    window,
    hands: () => options.hands,
    ensure: (signal) => ensureHolder({ ...holderOptions({ ...options, paths }), signal }),
  });
  const require = createRequire(path.join(options.repository, 'package.json'));
  const hands = new HandsHost(
    client,
    window,
    () =>
      new Hands({
        stateDirectory: paths.directory,
        environment,
        ...(options.transport === 'pty' && { loadPty: () => loadPty(() => require('node-pty')) }),
        fleet: () => client.state,
        report: (facts) => {
          client.report(facts);
        },
        log,
      }),
    log,
  );
  return { client, hands };
}

/** How the rig's windows start holder and gateway. */
export function holderOptions({
  paths,
  repository,
  node = process.execPath,
  log,
}: Pick<RigWindowOptions, 'repository' | 'node' | 'log'> & { readonly paths: StatePaths }): EnsureHolderOptions {
  const install = (): Promise<string> =>
    installPrograms({
      distDirectory: path.join(repository, 'dist'),
      version: 'test',
      paths,
      nodes: [node],
    });
  return { paths, install, log };
}
