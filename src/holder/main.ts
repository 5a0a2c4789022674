/**
 * The holder: owns the listening socket, never accepts, and runs the gateway as its child on descriptor 3. While the
 * gateway is dead, connections wait in the kernel instead of being refused, and no Claude ever notices.
 *
 *   holder.js <stateDirectory> <gatewayProgram> [heartbeat limit in milliseconds]
 *
 * The listening port is the lock that keeps a state directory to one holder. Exit 0 means "nothing to do any more";
 * anything else asks the launcher's loop to start it again. What the gateway may rely on:
 * - environment: BOWLINE_HOME, BOWLINE_HOLDER (instance of this holder), BOWLINE_LAST_EXIT (signal or code of the
 *   gateway before it), BOWLINE_PORT_TAKEN (the port of earlier runs, now a stranger's; until the first heartbeat);
 * - any ipc message is a heartbeat; exit 0 ends the holder, too; a closed ipc channel means that the holder is gone.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as net from 'node:net';
import { join } from 'node:path';

/** What node:cluster uses to bind without accepting. Undocumented: a test pins it. */
interface ServerHandle {
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

interface Identity {
  readonly pid: number;
  readonly startTime: string;
}
interface HolderRecord extends Identity {
  readonly instance: string;
  readonly child?: Identity;
}

/** Instead of a state directory: the process that only listens, see {@link listen}. */
const listenerRole = '--listen';
const siblingMs = 2000;
const orphanMs = 1000;
const lateTickMs = 3000;
const healthyMs = 5000;
const longestDelayMs = 5000;
const stopMs = 5000;
const largestLog = 1_000_000;

class Holder {
  private readonly instance = randomBytes(16).toString('hex');
  private readonly startedAt = Date.now();
  private readonly file: string;
  private port = 0;
  private socket: ServerHandle | undefined;
  private portTaken: number | undefined;
  private child: ChildProcess | undefined;
  private lastExit: string | undefined;
  private lastHeartbeat = 0;
  private failures = 0;
  private stopping = false;

  constructor(
    private readonly directory: string,
    private readonly gateway: string,
    private readonly heartbeatLimitMs: number,
  ) {
    this.file = join(directory, 'holder.json');
  }

  async run(): Promise<void> {
    const stop = (): void => {
      void this.stop();
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
    process.on('SIGHUP', () => undefined);
    await this.endOrphan();
    await this.claimPort();
    this.writeRecord();
    replaceFile(join(this.directory, 'port'), `${this.port}\n`, 'durable');
    this.startChild();
    this.watch();
  }

  private async claimPort(): Promise<void> {
    const kept = Number(readText(join(this.directory, 'port')));
    const isKept = Number.isInteger(kept) && kept > 0 && kept < 65536;
    for (const port of new Set([...(isKept ? [kept] : []), ...candidatePorts(fs.realpathSync(this.directory))])) {
      // A port in use may belong to a sibling that has not written its file yet.
      for (const limit = performance.now() + siblingMs; performance.now() < limit; await sleep(25)) {
        this.leaveIfAnotherHolds();
        const socket = await listen(port);
        if (socket === undefined) continue;
        this.port = port;
        this.socket = socket;
        return;
      }
      say(`port ${port} is held by another program; trying the next one`);
      if (port === kept) this.portTaken = port;
    }
    throw new Error('no free port on 127.0.0.1');
  }

  private startChild(): void {
    if (this.stopping) return;
    const output = openLog(join(this.directory, 'log'), 'gateway.out');
    const started = performance.now();
    const child = spawn(process.execPath, [this.gateway], {
      stdio: ['ignore', output, output, this.socket?.fd, 'ipc'],
      env: {
        ...process.env,
        BOWLINE_HOME: this.directory,
        BOWLINE_HOLDER: this.instance,
        BOWLINE_LAST_EXIT: this.lastExit,
        BOWLINE_PORT_TAKEN: this.portTaken?.toString(),
      },
    });
    if (typeof output === 'number') fs.closeSync(output);
    this.child = child;
    this.lastHeartbeat = started;
    child.on('message', () => {
      this.lastHeartbeat = performance.now();
      this.portTaken = undefined;
    });
    child.on('exit', (code, signal) => {
      this.childEnded(signal ?? String(code), performance.now() - started);
    });
    child.on('error', (error) => {
      if (child.pid === undefined) this.childEnded(error.message, 0);
    });
    this.tryToWriteRecord();
  }

  private childEnded(cause: string, lifeMs: number): void {
    this.child = undefined;
    if (this.stopping) return;
    if (cause === '0') this.leave(0);
    // An update can remove what this process runs on: the launcher's loop finds the present programs.
    if (!fs.existsSync(process.execPath) || !fs.existsSync(this.gateway)) this.leave(1);
    this.lastExit = cause;
    if (lifeMs > healthyMs) this.failures = 0;
    const delay = this.failures === 0 ? 0 : Math.min(50 * 2 ** this.failures, longestDelayMs);
    this.failures++;
    say(`the gateway ended (${cause}) after ${Math.round(lifeMs)} ms; next start in ${delay} ms`);
    if (delay === 0) this.startChild();
    else
      setTimeout(() => {
        this.startChild();
      }, delay);
  }

  /** Ends a gateway that hangs. When a tick comes late (host asleep, holder stopped), silence proves nothing. */
  private watch(): void {
    let lastTick = performance.now();
    const tick = (): void => {
      const now = performance.now();
      if (now - lastTick > lateTickMs) this.lastHeartbeat = now;
      lastTick = now;
      if (this.stopping) return;
      if (!fs.existsSync(this.directory)) {
        void this.stop();
        return;
      }
      this.leaveIfAnotherHolds();
      if (!this.recorded()) this.tryToWriteRecord();
      if (!this.child || now - this.lastHeartbeat <= this.heartbeatLimitMs) return;
      say(`no heartbeat for ${Math.round(now - this.lastHeartbeat)} ms; ending the gateway`);
      this.lastHeartbeat = now;
      this.child.kill('SIGKILL');
    };
    setInterval(tick, Math.min(1000, this.heartbeatLimitMs / 4));
  }

  private async stop(): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    const child = this.child;
    if (child) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), stopMs);
      await ended;
    }
    this.leave(0);
  }

  private leave(code: 0 | 1): never {
    if (this.recorded()?.instance === this.instance) fs.rmSync(this.file, { force: true });
    process.exit(code);
  }

  /** After the start it can only be true when two holders took two ports at the same moment: the file's owner stays. */
  private leaveIfAnotherHolds(): void {
    const record = this.recorded();
    if (!record || record.instance === this.instance || startTimeOf(record.pid) !== record.startTime) return;
    say(`process ${record.pid} is the holder of this state directory`);
    this.child?.kill('SIGTERM');
    process.exit(0);
  }

  /**
   * A gateway leaves when its holder dies. One that hangs would keep the port, and two must never write one state: it
   * gets a second and is then killed, if it still is the recorded process.
   */
  private async endOrphan(): Promise<void> {
    for (let limit = performance.now() + orphanMs; ; await sleep(25)) {
      const record = this.recorded();
      if (!record?.child || startTimeOf(record.pid) === record.startTime) return;
      if (startTimeOf(record.child.pid) !== record.child.startTime) return;
      if (performance.now() < limit) continue;
      say(`gateway ${record.child.pid} outlived its holder; ending it`);
      process.kill(record.child.pid, 'SIGKILL');
      limit += orphanMs;
    }
  }

  private recorded(): HolderRecord | undefined {
    try {
      const record: unknown = JSON.parse(readText(this.file));
      return isRecord(record) ? record : undefined;
    } catch {
      return undefined;
    }
  }

  private tryToWriteRecord(): void {
    try {
      this.writeRecord();
    } catch (error) {
      say(`cannot write holder.json: ${String(error)}`);
    }
  }

  private writeRecord(): void {
    const self = identityOf(process.pid);
    if (!self) throw new Error('cannot read the start time of this process');
    const child = this.child?.pid === undefined ? undefined : identityOf(this.child.pid);
    const { instance, port, startedAt } = this;
    replaceFile(this.file, `${JSON.stringify({ ...self, instance, port, startedAt, child })}\n`, 'until reboot');
  }
}

/**
 * Only a listening socket excludes others (libuv sets SO_REUSEADDR, so two processes can bind one port), but the event
 * loop of whoever lets a handle listen accepts. So another process does, and is gone before its loop turns: here the
 * handle comes in as node:cluster sends it, and this loop knows nothing of its listening.
 * Resolves with undefined when the port is in use.
 */
async function listen(port: number): Promise<ServerHandle | undefined> {
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
function listenForHolder(port: number): never {
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
function* candidatePorts(directory: string): Generator<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const hash = createHash('sha256').update(`${directory}\n${attempt}`).digest();
    yield 20000 + (hash.readUInt32BE(0) % 12768);
  }
}

function identityOf(pid: number): Identity | undefined {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

/** The same text as in node/processIdentity.ts; undefined for a process that is gone. */
function startTimeOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `proc:${boot}:${String(fields[19])}`;
    }
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
    const output = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env, encoding: 'utf8' });
    const [state, ...start] = output.trim().split(/\s+/);
    return state === undefined || state.startsWith('Z') ? undefined : `ps:${start.join(' ')}`;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is HolderRecord {
  return isIdentity(value) && 'instance' in value && (!('child' in value) || isIdentity(value.child));
}

function isIdentity(value: unknown): value is Identity {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('startTime' in value)) return false;
  return Number.isSafeInteger(value.pid) && typeof value.startTime === 'string';
}

function readText(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Siblings wait for holder.json, which means nothing after a crash of the machine: it does not wait for the disk. */
function replaceFile(path: string, text: string, life: 'durable' | 'until reboot'): void {
  const temporary = `${path}.${randomBytes(9).toString('hex')}.tmp`;
  try {
    fs.writeFileSync(temporary, text, { flag: 'wx', mode: 0o600, flush: life === 'durable' });
    fs.renameSync(temporary, path);
  } finally {
    fs.rmSync(temporary, { force: true });
  }
}

/** A full disk must not keep the gateway from running: then its output is dropped. */
function openLog(directory: string, name: string): number | 'ignore' {
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const descriptor = fs.openSync(join(directory, name), 'a', 0o600);
    if (fs.fstatSync(descriptor).size > largestLog) fs.ftruncateSync(descriptor);
    return descriptor;
  } catch (error) {
    say(`cannot open ${name}: ${String(error)}`);
    return 'ignore';
  }
}

function say(sentence: string): void {
  try {
    fs.writeSync(2, `${new Date().toISOString()} holder ${process.pid}: ${sentence}\n`);
  } catch {
    // Nobody reads it: the port matters more than the word about it.
  }
}

function sleep(milliseconds: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const [, , directory, gateway, limit] = process.argv;
if (directory === listenerRole) {
  listenForHolder(Number(gateway));
} else {
  if (directory === undefined || gateway === undefined) {
    say('usage: holder.js <stateDirectory> <gatewayProgram>');
    process.exit(2);
  }
  new Holder(directory, gateway, Number(limit ?? 10_000)).run().catch((error: unknown) => {
    say(String(error));
    process.exit(1);
  });
}
