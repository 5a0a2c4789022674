// Loaded before a gateway or a window under test (`node --require`): knows each step by which they act on the world
// outside of their process, and follows the order that is given in BOWLINE_STEPS (see `order.ts`). A process that dies
// between two of its steps left the same world as one that dies before the later one; so these are all moments there are.
import { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import * as z from 'zod/mini';
import { isLiving } from './livingProcess.ts';
import { type Order, orderSchema } from './order.ts';
import { labelsOfText, readWrite } from './stepLabels.ts';

const { BOWLINE_STEPS: directory = '' } = process.env;
const program = path.basename(process.argv[1] ?? '');
const role = program === 'gateway.js' ? 'gateway' : program === 'windowMain.js' ? 'window' : undefined;
const files = { order: path.join(directory, 'order.json'), met: path.join(directory, 'met.json') };
const { readFileSync, readdirSync, appendFileSync, renameSync } = fs;
const kill = process.kill.bind(process);
const spawnSchema = z.object({ args: z.array(z.string()) });
const counts = new Map<string, number>();
let lastOrder = '';

function currentOrder(): Order | undefined {
  let text: string;
  try {
    text = readFileSync(files.order, 'utf8');
  } catch {
    return undefined; // nothing is asked for
  }
  if (text !== lastOrder) {
    lastOrder = text;
    counts.clear();
  }
  return orderSchema.parse(JSON.parse(text));
}

/** To be called right before what the label says. */
function step(label: string): void {
  const order = currentOrder();
  if (order === undefined || role === undefined) return;
  if (order.kind === 'note') {
    appendFileSync(path.join(directory, 'steps'), `${role} ${label}\n`);
    return;
  }
  if (order.role !== role || order.label !== label) return;
  const nth = (counts.get(label) ?? 0) + 1;
  counts.set(label, nth);
  if (nth !== order.nth) return;
  const victim = order.tmuxSocket === undefined ? process.pid : tmuxServer(order.tmuxSocket);
  if (victim === undefined) return;
  renameSync(files.order, files.met);
  kill(victim, 'SIGKILL');
  while (isLiving(victim)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

function tmuxServer(socket: string): number | undefined {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const isServer = (pid: string): boolean => {
    try {
      const isTmux = readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('tmux: server');
      return isTmux && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(socket);
    } catch {
      return false; // ended meanwhile
    }
  };
  const found = pids.find(isServer);
  return found === undefined ? undefined : Number(found);
}

/** The name of a state file without what is different each time; undefined: a log. */
function nameOf(file: unknown): string | undefined {
  const text = String(file);
  if (text.includes('/log/')) return undefined;
  return path
    .basename(text)
    .replace(/[0-9a-f]{18}\.tmp$/, 'tmp')
    .replace(/^journal-\d+/, 'journal')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'ID');
}

function watchFiles(): void {
  const { promises } = fs;
  const { open, rename, link, rm, unlink } = promises;
  const names = new WeakMap<object, string>();
  let isWatched = false;
  promises.open = async (file, flags, mode) => {
    const name = flags === undefined || flags === 'r' ? undefined : nameOf(file);
    const handle = await open(file, flags, mode);
    if (name !== undefined) names.set(handle, name);
    if (!isWatched) watchHandles(handle, names);
    isWatched = true;
    return handle;
  };
  promises.rename = (from, to) => {
    step(`rename to ${nameOf(to) ?? 'log'}`);
    return rename(from, to);
  };
  promises.link = (from, to) => {
    step(`link ${nameOf(to) ?? 'log'}`);
    return link(from, to);
  };
  promises.rm = (file, options) => {
    step(`remove ${nameOf(file) ?? 'log'}`);
    return rm(file, options);
  };
  promises.unlink = (file) => {
    step(`remove ${nameOf(file) ?? 'log'}`);
    return unlink(file);
  };
}

/**
 * In the middle of each write; of a journal, in the middle of each line and behind it. An fsync is no step, because a kill
 * takes nothing from what was written; a file that gets its name later is no other before its first byte than in the middle.
 */
function watchHandles(handle: fs.promises.FileHandle, names: WeakMap<object, string>): void {
  const prototype: unknown = Object.getPrototypeOf(handle);
  if (!isHandlePrototype(prototype)) throw new Error('no file handle');
  const { writeFile } = prototype;
  prototype.writeFile = async function (this: fs.promises.FileHandle, data, ...more) {
    const name = names.get(this);
    if (name === undefined || currentOrder() === undefined) return writeFile.call(this, data, ...more);
    const content = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
    for (const { label, bytes } of labelsOfText(name, content)) {
      const half = bytes.length >> 1;
      await writeFile.call(this, bytes.subarray(0, half));
      step(`half of ${label}`);
      await writeFile.call(this, bytes.subarray(half));
      if (!name.endsWith('.tmp')) step(`written ${label}`);
    }
  };
}

type HandlePrototype = Pick<fs.promises.FileHandle, 'writeFile'>;

function isHandlePrototype(value: unknown): value is HandlePrototype {
  return typeof value === 'object' && value !== null && 'writeFile' in value;
}

/** Answers of the gateway, what goes over the stream in both directions, and what is told to tmux. */
function watchSockets(): void {
  before(http.ServerResponse.prototype, 'end', (response) => {
    if (!(response instanceof http.ServerResponse)) return;
    const request: unknown = response.req;
    if (!(request instanceof http.IncomingMessage)) return;
    const { method = '', url = '' } = request;
    step(`answer ${method} /${url.split('/')[1] ?? ''}`);
  });
  const headers = new WeakMap<net.Socket, Buffer>();
  before(net.Socket.prototype, 'write', (socket, data) => {
    if (!(socket instanceof net.Socket) || (typeof data !== 'string' && !Buffer.isBuffer(data))) return;
    const { labels, header } = readWrite(headers.get(socket), Buffer.from(data));
    if (header === undefined) headers.delete(socket);
    else headers.set(socket, header);
    for (const label of labels) step(label);
  });
}

function watchProcesses(): void {
  process.kill = (pid, signal) => {
    if (signal !== 0) step(`signal ${String(signal)}`);
    return kill(pid, signal);
  };
  before(ChildProcess.prototype, 'spawn', (_child, options) => {
    const parsed = spawnSchema.safeParse(options);
    if (!parsed.success) return;
    const [file = '', ...words] = parsed.data.args;
    const command = words.find((word, index) => /^[a-z-]{4,}$/.test(word) && !words[index - 1]?.startsWith('-'));
    step(`run ${path.basename(file)} ${command ?? ''}`.trim());
  });
}

/** Calls `see` with the object and the first argument before each call of this method. */
function before(prototype: object, name: string, see: (self: unknown, first: unknown) => void): void {
  const original: unknown = Reflect.get(prototype, name);
  if (typeof original !== 'function') throw new Error(`there is no ${name}`);
  Reflect.set(prototype, name, function (this: unknown, ...given: unknown[]): unknown {
    see(this, given[0]);
    return Reflect.apply(original, this, given) as unknown;
  });
}

if (role !== undefined) {
  watchFiles();
  watchSockets();
  watchProcesses();
}
