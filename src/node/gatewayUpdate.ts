import { request as httpRequest } from 'node:http';
import { basename } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { Endpoint } from '../protocol/endpointFile.ts';
import { ensureHolder, type EnsureHolderOptions } from './gatewayLauncher.ts';
import { copyPrograms, installPrograms, type ProgramSource, versionNameOf } from './programs.ts';
import { compareVersions, extensionVersionOf } from './programVersions.ts';

/** What a {@link GatewayUpdate} works with. */
export interface GatewayUpdateOptions extends Pick<EnsureHolderOptions, 'paths' | 'log'> {
  /** The programs of this window's extension. */
  readonly source: Omit<ProgramSource, 'paths'>;
  /** Shows a sentence to the person. */
  readonly tell: (sentence: string) => void;
}

const answerMs = 5_000;

/**
 * Starts the gateway for one window, and asks one of an older version to let the window's version take over: newer ones
 * win, whichever window is opened when. Of one version with different contents (a build of the same day) the window
 * that was opened last wins, because each asks once. Windows of an older version go on with the newer gateway.
 */
export class GatewayUpdate {
  private own: string | undefined;
  private hasAsked = false;
  private isFirst = true;
  private toldAbout: string | undefined;

  constructor(private readonly options: GatewayUpdateOptions) {}

  /** As `ensureHolder`. What goes wrong with an update is logged and keeps no window from its fleet. */
  async ensure(signal?: AbortSignal): Promise<Endpoint> {
    const { paths, log, source } = this.options;
    const endpoint = await ensureHolder({
      paths,
      log,
      install: () => installPrograms({ ...source, paths }),
      ...(signal !== undefined && { signal }),
    });
    try {
      await this.compare(endpoint);
    } catch (error) {
      log.warn('the gateway stays at its version', { version: endpoint.version, reason: messageOf(error) });
    }
    this.isFirst = false;
    return endpoint;
  }

  private async compare(endpoint: Endpoint): Promise<void> {
    const { paths, log, source, tell } = this.options;
    this.own ??= await versionNameOf(source);
    const running = endpoint.version;
    if (running === this.own) return;
    const order = compareVersions(this.own, running);
    if (order < 0 && this.toldAbout !== running) {
      this.toldAbout = running;
      const [newer, older] = [extensionVersionOf(running), extensionVersionOf(this.own)];
      log.info('the gateway is newer than this window', { gateway: running, window: this.own });
      tell(
        `Bowline ${newer} runs your agents' gateway, and this window still has ${older}. ` +
          'Reload the window, or update Bowline in this editor; until then it goes on as far as both understand each other.',
      );
    } else if ((order > 0 || (order === 0 && this.isFirst)) && !this.hasAsked) {
      this.hasAsked = true;
      this.own = basename(await copyPrograms({ ...source, paths }));
      await askForTakeover(endpoint, this.own);
      log.info('asked the gateway to let this version take over', { gateway: running, window: this.own });
    }
  }
}

/** Rejects with what the gateway answered; resolves when it has begun. */
function askForTakeover({ port, token }: Endpoint, version: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port, method: 'POST', path: '/takeover', headers, agent: false };
    const outgoing = httpRequest({ ...options, timeout: answerMs }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (body += part));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 202) resolve();
        else reject(new Error(`it answered ${response.statusCode ?? 'nothing'}: ${body.slice(0, 300)}`));
      });
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('it did not answer')));
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify({ version }));
  });
}
