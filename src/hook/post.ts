import { request } from 'node:http';
import type { HookReport } from '../protocol/hookReport.ts';

/**
 * `taken`: on disk at the gateway. `refused`: the gateway does not know this agent or this kind of report, and will not
 * later. `away`: nobody, somebody else, or no answer in time.
 */
export type PostOutcome = { readonly kind: 'taken' } | { readonly kind: 'refused' | 'away'; readonly reason: string };

/** Posts a report with the agent's key. Settles within `limitMs`; never rejects. */
export function postReport(
  target: { readonly port: number; readonly agent: string; readonly key: string },
  report: HookReport,
  limitMs: number,
): Promise<PostOutcome> {
  return new Promise((resolve) => {
    const body = JSON.stringify(report);
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: target.port,
        path: `/agents/${target.agent}/session`,
        method: 'POST',
        headers: {
          authorization: `Bearer ${target.key}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        let answer = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          if (answer.length < 10_000) answer += part;
        });
        response.on('end', () => {
          resolve(outcomeOf(response.statusCode ?? 0, answer));
        });
        response.on('error', (error) => {
          resolve({ kind: 'away', reason: error.message });
        });
      },
    );
    const limit = setTimeout(() => outgoing.destroy(new Error('no answer in time')), Math.max(1, limitMs));
    limit.unref();
    outgoing.on('error', (error) => {
      resolve({ kind: 'away', reason: error.message });
    });
    outgoing.end(body);
  });
}

/**
 * A stranger on the gateway's port may answer anything: only the gateway's own errors are believed. A wrong key (403) is
 * not final: the spool needs none, and the file system vouches for it.
 */
function outcomeOf(status: number, answer: string): PostOutcome {
  if (status === 204) return { kind: 'taken' };
  const reason = `status ${status}`;
  const isFinal = status >= 400 && status < 500 && status !== 403 && /^\{"error":\{"code":"/.test(answer);
  return { kind: isFinal ? 'refused' : 'away', reason };
}
