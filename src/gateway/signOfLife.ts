import { stat, utimes } from 'node:fs/promises';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { readEndpointFile, writeEndpointFile } from '../node/endpointFile.ts';
import type { StatePaths } from '../node/statePaths.ts';
import type { Endpoint } from '../protocol/endpointFile.ts';

/**
 * Publishes the gateway. The time of the endpoint file's last change tells the next run of the gateway how long this one lived. Brings the file
 * back if somebody removed, opened to others or damaged it; it is read anew only when it is not as this process left it.
 */
export class SignOfLife {
  private left: string | undefined;
  private begun = false;

  constructor(
    private readonly paths: StatePaths,
    private readonly endpoint: Endpoint,
    private readonly log: Log,
  ) {}

  /**
   * Writes the file. Call it once the gateway answers on its port. Never rejects: a gateway that a full disk keeps from it
   * serves all who know it by the file of the run before, whose port and token are the same, and tries again at each sign.
   */
  async begin(): Promise<void> {
    this.begun = true;
    await this.write();
  }

  /** To be called at intervals. Never rejects. */
  async give(): Promise<void> {
    if (!this.begun) return;
    const { paths, log } = this;
    try {
      const { ino, mode, uid, mtimeMs } = await stat(paths.endpoint);
      const mark = (time: number): string => [ino, mode, uid, time].join(' ');
      if (mark(mtimeMs) !== this.left) await this.check();
      const now = new Date();
      await utimes(paths.endpoint, now, now);
      this.left = mark(now.getTime());
    } catch (error) {
      this.left = undefined;
      log.warn('the endpoint file is not as it was; writing it again', { reason: messageOf(error) });
      await this.write();
    }
  }

  /** Resolves when the file names this gateway, mended first if it must be; rejects with what is wrong with it. */
  async confirm(): Promise<void> {
    await this.give();
    if ((await this.problem()) === undefined) return;
    await writeEndpointFile(this.paths, this.endpoint);
    const problem = await this.problem();
    if (problem !== undefined) throw new Error(`the endpoint file ${this.paths.endpoint} ${problem}`);
  }

  private async problem(): Promise<string | undefined> {
    const reading = await readEndpointFile(this.paths);
    if (reading.kind === 'missing') return 'is missing';
    if (reading.kind === 'unusable') return `cannot be used: ${reading.reason}`;
    const { gateway, port } = reading.endpoint;
    const isOwn = gateway.instance === this.endpoint.gateway.instance && port === this.endpoint.port;
    return isOwn ? undefined : 'names another gateway';
  }

  private async check(): Promise<void> {
    const problem = await this.problem();
    if (problem !== undefined) throw new Error(`it ${problem}`);
  }

  private async write(): Promise<void> {
    await writeEndpointFile(this.paths, this.endpoint).catch((error: unknown) => {
      this.log.error('the endpoint file cannot be written', { reason: messageOf(error) });
    });
  }
}
