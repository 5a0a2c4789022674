import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { type HookReport, hookReportSchema } from '../protocol/hookReport.ts';
import { sendEmpty, sendError } from './http/answers.ts';
import { readBody } from './http/body.ts';
import { bearerToken } from './http/checks.ts';
import { FailureLimit } from './http/failureLimit.ts';
import { keyShown } from './http/strangers.ts';
import type { AgentKeys, Clock, FleetPort } from './ports.ts';
import { ReportOrigins } from './reportOrigins.ts';

/** What {@link HookIntake} works with. */
export interface HookIntakeOptions {
  readonly fleet: FleetPort;
  readonly keys: AgentKeys;
  readonly clock: Clock;
  readonly log: Log;
}

const largestReport = 64 * 1024;

/** Takes what Claude's hooks tell: `POST /agents/<name>/session`, with that agent's own key as bearer. */
export class HookIntake {
  private readonly origins: ReportOrigins;
  private readonly failures = new FailureLimit();

  constructor(private readonly options: HookIntakeOptions) {
    this.origins = new ReportOrigins(options);
  }

  /**
   * Answers 204 when the report is on disk, or is of another process under the same launch, whose reports do not count; 403
   * for a key that is not this agent's, 400 for a damaged report. On 500 the hook keeps the report in its spool. Never
   * rejects.
   */
  async handle(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const key = bearerToken(request.headers.authorization);
    if (key === undefined || this.options.keys.ownerOf(key) !== name) {
      const wait = this.failures.failed(Object.hasOwn(this.options.fleet.state.agents, name) ? name : '');
      const sentence = 'The key is missing, or it is not the key of this agent.';
      if (wait !== undefined) {
        sendError(response, 429, 'too-many-failures', sentence, { 'retry-after': wait });
        return;
      }
      this.options.log.warn('a hook report with a wrong key was refused', { agent: name.slice(0, 64) });
      sendError(response, 403, 'key-wrong', sentence);
      return;
    }
    keyShown(request);
    const reading = await readBody(request, { limit: largestReport });
    if (reading.kind === 'aborted') return;
    const report = reading.kind === 'ok' ? parse(reading.body) : undefined;
    if (report === undefined) {
      this.options.log.warn('a damaged hook report was refused', { agent: name });
      sendError(response, 400, 'bad-request', 'This is no report of a hook.');
      return;
    }
    try {
      const counts = await this.origins.counts(name, report);
      if (counts) await this.options.fleet.reportDurably(hookEvent(name, report));
      sendEmpty(response, 204);
    } catch (error) {
      sendError(response, 500, 'internal', `The report cannot be kept (${messageOf(error)}).`);
    }
  }
}

/** The fact in a hook's report. */
export function hookEvent(name: string, report: HookReport): Parameters<FleetPort['report']>[0] {
  const { at, launchId, hook, id } = report;
  return { at, kind: 'hook reported', name, launchId, hook, ...(id !== undefined && { reportId: id }) };
}

function parse(body: Buffer): HookReport | undefined {
  try {
    return hookReportSchema.safeParse(JSON.parse(body.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
