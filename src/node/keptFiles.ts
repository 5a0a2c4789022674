import { stat } from 'node:fs/promises';
import type * as z from 'zod/mini';
import { messageOf } from '../base/errors.ts';
import { isErrorWithCode, readJsonFile } from './files.ts';

interface FileReading<T> {
  /** As it was when it could last be read; absent: there is none. */
  readonly value?: T;
  readonly problem?: string;
}

/** In bytes. Claude keeps more than servers in some of them. */
const largestFile = 64 * 1024 * 1024;

/**
 * Files of one shape, and what stood in them. A repository may bring a link to a device that never ends, or to a pipe that
 * nobody writes to, in the place of one.
 */
export class KeptFiles<T> {
  private readonly kept = new Map<string, { readonly signature: string; readonly reading: FileReading<T> }>();

  constructor(private readonly schema: z.core.$ZodType<T>) {}

  /** Never rejects. */
  async read(path: string): Promise<FileReading<T>> {
    const signature = await signatureOf(path);
    if (signature === undefined) {
      this.kept.delete(path);
      return {};
    }
    const kept = this.kept.get(path);
    if (kept?.signature === signature) return kept.reading;
    const reading = await this.readAnew(path, kept?.reading);
    this.kept.set(path, { signature, reading });
    return reading;
  }

  private async readAnew(path: string, former: FileReading<T> | undefined): Promise<FileReading<T>> {
    const problem = (reason: string): FileReading<T> => ({
      ...(former?.value !== undefined && { value: former.value }),
      problem: `it cannot be read (${reason})`,
    });
    try {
      const status = await stat(path);
      if (!status.isFile()) return problem('it is no regular file');
      if (status.size > largestFile) return problem(`it has more than ${largestFile} bytes`);
      const reading = await readJsonFile(path, this.schema);
      if (reading.kind === 'missing') return {};
      return reading.kind === 'ok' ? { value: reading.value } : problem(reading.reason);
    } catch (error) {
      return problem(messageOf(error));
    }
  }
}

/** Differs whenever the file was written; undefined: there is none. */
async function signatureOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    return isErrorWithCode(error, 'ENOENT') || isErrorWithCode(error, 'ENOTDIR') ? undefined : messageOf(error);
  }
}
