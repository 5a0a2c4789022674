import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as net from 'node:net';

/** What node:cluster uses to bind without accepting. Undocumented: a test pins it. */
export interface ServerHandle {
  readonly fd: number;
  getsockname(out: { port?: number }): number;
  listen(backlog: number): number;
  close(): void;
}
function isServerHandle(value: unknown): value is ServerHandle {
  return typeof value === 'object' && value !== null && 'fd' in value && typeof value.fd === 'number' && value.fd >= 0;
}
declare module 'net' {
  function _createServerHandle(address: string, port: number, addressType: 4): ServerHandle | number;
}

/** Instead of a state directory: the process that only listens, see {@link listen}. */
export const listenerRole = '--listen';

/**
 * Only a listening socket excludes others (libuv sets SO_REUSEADDR, so two processes can bind one port), but the event
 * loop of whoever lets a handle listen accepts. So another process does, and is gone before its loop turns: here the
 * handle comes in as node:cluster sends it, and this loop knows nothing of its listening.
 * Resolves with undefined when the port is in use.
 */
export async function listen(port: number): Promise<ServerHandle | undefined> {
  const probe = bind(port);
  if (!probe) return undefined;
  probe.close();
  const listener = spawn(process.execPath, [__filename, listenerRole, String(port)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.once('message', (_message, handle: unknown) => {
      resolve(isServerHandle(handle) ? handle : undefined);
    });
    listener.once('close', () => {
      resolve(undefined);
    });
  });
}

/** Sends and ends in one turn of the loop: it never accepts. */
export function listenForHolder(port: number): never {
  const handle = bind(port);
  // A raw handle is undocumented here, too.
  const send: unknown = Reflect.get(process, 'send');
  if (typeof send === 'function' && handle?.listen(511) === 0) Reflect.apply(send, process, ['listens', handle]);
  process.exit(0);
}

/** Binds 127.0.0.1:port. libuv tells late that a port is in use; until then the handle has no address. */
function bind(port: number): ServerHandle | undefined {
  const handle = net._createServerHandle('127.0.0.1', port, 4);
  if (typeof handle === 'number') return undefined;
  const address: { port?: number } = {};
  if (handle.getsockname(address) === 0 && address.port === port) return handle;
  handle.close();
  return undefined;
}

/** Below the ranges that systems take ephemeral ports from (Linux from 32768, macOS from 49152). */
export function* candidatePorts(directory: string): Generator<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const hash = createHash('sha256').update(`${directory}\n${attempt}`).digest();
    yield 20000 + (hash.readUInt32BE(0) % 12768);
  }
}
