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
 *
 * Another version takes over when the gateway asks for it by `{kind: 'hand over', version}`: its program is started beside
 * it with BOWLINE_SUCCESSOR, says `{kind: 'ready'}` and waits for `{kind: 'go'}`. The gateway hears `successor ready`, ends
 * its work and says `{kind: 'handed over'}`; then the successor goes on. It is on trial for some seconds: dies it, the
 * former program is started again and hears of it by BOWLINE_TAKEOVER_FAILED (`<version>: <reason>`), else
 * versions/current names it, which is what launcher and hooks use. BOWLINE_HOLDER_VERSION: where this holder runs from.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { candidatePorts, listen, listenerRole, listenForHolder, type ServerHandle } from './socket.ts';
import {
  badOption,
  type HolderRecord,
  identityOf,
  isExecutable,
  isRecord,
  markOf,
  openLog,
  readText,
  replaceFile,
  say,
  sleep,
  sparing,
  startTimeOf,
} from './system.ts';

/** Longer than between two heartbeats: a record that was lost is there again before another holder gives up on it. */
const siblingMs = 5500;
const orphanMs = 1000;
const lateMs = 2000;
const healthyMs = 5000;
const longestDelayMs = 5000;
const stopMs = 5000;
/** A version that failed is not tried again for so long, however many windows ask. */
const failedForMs = 600_000;

interface Successor {
  readonly child: ChildProcess;
  readonly version: string;
  readonly program: string;
  readonly node: string;
  readonly limit: NodeJS.Timeout;
}
/** The program that runs has followed `former` and must show that it lives. */
interface Trial {
  readonly version: string;
  readonly former: string;
  readonly formerNode: string;
  reason?: string;
  confirmation?: NodeJS.Timeout;
}

class Holder {
  private readonly instance = randomBytes(16).toString('hex');
  private readonly startedAt = Date.now();
  private readonly file: string;
  /** Of the record as this holder has written it. */
  private written: string | undefined;
  private port = 0;
  private socket: ServerHandle | undefined;
  private portTaken: number | undefined;
  private child: ChildProcess | undefined;
  private lastExit: string | undefined;
  /** Looks in a row before which nothing was heard of the gateway. */
  private silentLooks = 0;
  private lastLook = 0;
  private looks: NodeJS.Timeout | undefined;
  private failures = 0;
  private stopping = false;
  private node = process.execPath;
  private options: readonly string[] = sparing.options;
  private successor: Successor | undefined;
  private trial: Trial | undefined;
  private lastFailure: string | undefined;
  /** What the next gateway is told, until its first heartbeat. */
  private takeoverFailed: string | undefined;
  private readonly failedAt = new Map<string, number>();

  constructor(
    private readonly directory: string,
    private gateway: string,
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
    const { lastExit, portTaken, takeoverFailed } = this;
    this.child = this.spawn(this.node, this.gateway, {
      BOWLINE_LAST_EXIT: lastExit,
      BOWLINE_PORT_TAKEN: portTaken?.toString(),
      BOWLINE_TAKEOVER_FAILED: takeoverFailed,
    });
    this.countAnew();
    this.tryToWriteRecord();
  }

  private spawn(node: string, program: string, environment: NodeJS.ProcessEnv): ChildProcess {
    const output = openLog(join(this.directory, 'log'), 'gateway.out');
    const started = performance.now();
    const child = spawn(node, [...this.options, program], {
      stdio: ['ignore', output, output, this.socket?.fd, 'ipc'],
      env: {
        ...process.env,
        ...sparing.environment,
        BOWLINE_HOME: this.directory,
        BOWLINE_HOLDER: this.instance,
        BOWLINE_HOLDER_VERSION: basename(dirname(__filename)),
        ...environment,
      },
    });
    if (typeof output === 'number') fs.closeSync(output);
    child.on('message', (message: unknown) => {
      if (child === this.child) this.heard(message);
      else if (child === this.successor?.child) this.successorReady(this.successor);
    });
    const ended = (cause: string): void => {
      if (child === this.successor?.child) this.successorFailed(this.successor, `it ended with ${cause}`);
      else if (child === this.child) this.childEnded(cause, performance.now() - started);
    };
    child.on('exit', (code, signal) => {
      if (code === badOption) this.options = [];
      ended(signal ?? String(code));
    });
    child.on('error', (error) => {
      if (child.pid === undefined) ended(error.message);
    });
    return child;
  }

  private heard(message: unknown): void {
    this.countAnew();
    this.keepRecord();
    this.portTaken = undefined;
    this.takeoverFailed = undefined;
    const { trial } = this;
    if (trial)
      trial.confirmation ??= setTimeout(() => {
        this.confirm(trial);
      }, healthyMs);
    if (typeof message !== 'object' || message === null || !('kind' in message)) return;
    if (message.kind === 'hand over' && 'version' in message) this.startSuccessor(String(message.version));
    else if (message.kind === 'handed over') this.promote();
  }

  private startSuccessor(version: string): void {
    const program = join(this.directory, 'versions', version, 'gateway.js');
    const sinceFailed = performance.now() - (this.failedAt.get(version) ?? -Infinity);
    let refusal: string | undefined;
    if (this.successor || this.trial) refusal = 'another one is taking over';
    else if (!/^[^./][^/]*$/.test(version) || !fs.existsSync(program)) refusal = 'it is not installed';
    else if (sinceFailed < failedForMs) refusal = 'it failed a few minutes ago';
    if (refusal !== undefined) {
      this.tell(this.child, { kind: 'successor failed', version, reason: refusal });
      return;
    }
    say(`version ${version} is to take over`);
    // What the newest window brought: a new version may need a newer Node.
    const node = this.knownNodes()[0] ?? this.node;
    const child = this.spawn(node, program, { BOWLINE_SUCCESSOR: '1', BOWLINE_LAST_EXIT: 'handed over' });
    const limit = setTimeout(() => {
      if (this.successor?.child === child) this.successorFailed(this.successor, 'it did not load in time');
    }, this.heartbeatLimitMs);
    this.successor = { child, version, program, node, limit };
  }

  private successorReady({ limit }: Successor): void {
    clearTimeout(limit);
    this.tell(this.child, { kind: 'successor ready' });
  }

  /** Before its turn: the gateway may still serve, or be past its last word; then the next one tells it. */
  private successorFailed({ child, version, limit }: Successor, reason: string): void {
    clearTimeout(limit);
    this.successor = undefined;
    child.kill('SIGKILL');
    this.noteFailure(version, reason);
    this.tell(this.child, { kind: 'successor failed', version, reason });
  }

  /** The gateway is done with state and socket: its successor goes on, or its own program again. */
  private promote(): void {
    const { successor } = this;
    this.child = undefined;
    this.failures = 0;
    if (!successor) {
      this.takeoverFailed = this.lastFailure;
      this.startChild();
      return;
    }
    const { child, version, program, node, limit } = successor;
    clearTimeout(limit);
    this.successor = undefined;
    this.trial = { version, former: this.gateway, formerNode: this.node };
    this.gateway = program;
    this.node = node;
    this.child = child;
    this.countAnew();
    this.tell(child, { kind: 'go' });
    this.tryToWriteRecord();
  }

  private confirm(trial: Trial): void {
    if (this.trial !== trial) return;
    this.trial = undefined;
    try {
      replaceFile(join(this.directory, 'versions', 'current'), `${trial.version}\n`, 'durable');
      say(`version ${trial.version} has taken over`);
    } catch (error) {
      say(`cannot write versions/current: ${String(error)}`);
    }
  }

  private fallBack({ version, former, formerNode, reason, confirmation }: Trial, cause: string): void {
    clearTimeout(confirmation);
    this.trial = undefined;
    this.noteFailure(version, reason ?? `it ended with ${cause}`);
    this.takeoverFailed = this.lastFailure;
    this.gateway = former;
    this.node = formerNode;
  }

  private noteFailure(version: string, reason: string): void {
    say(`version ${version} could not take over: ${reason}`);
    this.failedAt.set(version, performance.now());
    this.lastFailure = `${version}: ${reason}`;
  }

  private tell(child: ChildProcess | undefined, message: object): void {
    // Its end is heard of by itself.
    if (child?.connected) child.send(message, () => undefined);
  }

  /** Nodes that windows have made known and that exist, newest first. */
  private knownNodes(): string[] {
    const lines = readText(join(this.directory, 'versions', 'nodes')).split('\n');
    return lines.filter((path) => path.startsWith('/') && isExecutable(path));
  }

  private childEnded(cause: string, lifeMs: number): void {
    this.child = undefined;
    if (this.stopping) return;
    if (cause === '0') this.leave(0);
    this.lastExit = cause;
    if (this.trial) this.fallBack(this.trial, cause);
    else if (this.successor) {
      // It died on the way: what it has written counts. A successor that still loads finds the word when it is ready.
      this.promote();
      return;
    }
    // An update of the editor removes what this process runs on.
    if (!isExecutable(this.node)) this.node = [process.execPath, ...this.knownNodes()].find(isExecutable) ?? '';
    // The launcher's loop knows more places, and the version that is installed now.
    if (this.node === '' || !fs.existsSync(this.gateway)) this.leave(1);
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

  /**
   * Looks twice in a heartbeat limit, and not at all while heartbeats come: the second look in silence ends a gateway that
   * hangs. When a look comes late (host asleep, holder stopped), silence proves nothing.
   */
  private watch(): void {
    const everyMs = this.heartbeatLimitMs / 2;
    this.lastLook = performance.now();
    this.looks = setInterval(() => {
      const sinceLast = performance.now() - this.lastLook;
      this.lastLook += sinceLast;
      this.silentLooks = sinceLast > everyMs + lateMs ? 0 : this.silentLooks + 1;
      this.keepRecord();
      if (this.stopping || !this.child || this.silentLooks < 2) return;
      say(`no heartbeat for ${this.heartbeatLimitMs} ms; ending the gateway`);
      this.silentLooks = 0;
      if (this.trial) this.trial.reason = 'it gave no sign of life';
      this.child.kill('SIGKILL');
    }, everyMs);
  }

  /** The gateway has just begun, or was heard. */
  private countAnew(): void {
    this.silentLooks = 0;
    this.lastLook = performance.now();
    this.looks?.refresh();
  }

  private keepRecord(): void {
    if (this.stopping || this.isRecordInPlace()) return;
    if (!fs.existsSync(this.directory)) {
      void this.stop();
      return;
    }
    this.leaveIfAnotherHolds();
    this.tryToWriteRecord();
  }

  private async stop(): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    this.successor?.child.kill('SIGKILL');
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

  /** Another holder replaces the file; whoever writes into it changes its time. */
  private isRecordInPlace(): boolean {
    return this.written !== undefined && markOf(this.file) === this.written;
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
    const text = `${JSON.stringify({ ...self, instance, port, startedAt, child })}\n`;
    this.written = replaceFile(this.file, text, 'until reboot');
  }
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
