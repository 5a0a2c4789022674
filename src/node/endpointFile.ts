import { open } from 'node:fs/promises';
import * as z from 'zod/mini';
import { messageOf } from '../base/errors.ts';
import { type Endpoint, endpointProtocol, endpointSchema } from '../protocol/endpointFile.ts';
import { allIssues, inEnglish } from '../protocol/issues.ts';
import { isErrorWithCode, writeFileAtomic } from './files.ts';
import type { StatePaths } from './statePaths.ts';

/** What stands in the endpoint file. `unusable` says why in words for the log; it never quotes the content. */
export type EndpointReading =
  | { readonly kind: 'ok'; readonly endpoint: Endpoint }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unusable'; readonly reason: string };

/** Publishes the gateway. Call it only once the gateway answers on `endpoint.port`. */
export async function writeEndpointFile(paths: StatePaths, endpoint: Endpoint): Promise<void> {
  await writeFileAtomic(paths.endpoint, `${JSON.stringify(endpointSchema.parse(endpoint, inEnglish), undefined, 2)}\n`);
}

/**
 * Reads the endpoint file. One that another user owns or that others can read or write is refused: its token may be
 * known, or its port may be a trap.
 */
export async function readEndpointFile(paths: StatePaths): Promise<EndpointReading> {
  let text: string;
  try {
    const file = await open(paths.endpoint, 'r');
    try {
      const status = await file.stat();
      const user = process.getuid?.();
      if (user !== undefined && status.uid !== user) return unusable(`belongs to user ${status.uid}`);
      if ((status.mode & 0o077) !== 0) return unusable(`mode ${(status.mode & 0o777).toString(8)} instead of 600`);
      text = await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    return isErrorWithCode(error, 'ENOENT') ? { kind: 'missing' } : unusable(messageOf(error));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unusable('not JSON');
  }
  const version = z.object({ protocol: z.number() }).safeParse(value);
  if (version.success && version.data.protocol !== endpointProtocol) {
    return unusable(`protocol ${version.data.protocol} instead of ${endpointProtocol}`);
  }
  const parsed = endpointSchema.safeParse(value, inEnglish);
  if (parsed.success) return { kind: 'ok', endpoint: parsed.data };
  return unusable(allIssues(parsed.error, 'root'));
}

function unusable(reason: string): EndpointReading {
  return { kind: 'unusable', reason };
}
