import { withTimeout } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import { redactor } from '../../core/diagnostics/redact.ts';
import { type DoctorLine, doctorReport, type DoctorSubject, doctorSubjects, inOrder } from '../../core/doctor/line.ts';
import { knownSecrets } from '../diagnosticSecrets.ts';
import * as looks from './looks.ts';

export interface DoctorOptions extends looks.Patient {
  /** For the report: lines about the machine and the editor. */
  readonly facts: readonly string[];
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Told which checks are still open. */
  readonly say: (message: string) => void;
  /** Of each check, in milliseconds (10 s). */
  readonly limitMs?: number;
}

export interface DoctorResult {
  /** The gravest first. */
  readonly lines: readonly DoctorLine[];
  /** Redacted, for somebody else. */
  readonly report: string;
}

const checks: Readonly<Record<DoctorSubject, (patient: looks.Patient, signal: AbortSignal) => Promise<DoctorLine>>> = {
  tmux: looks.lookForTmux,
  claude: looks.lookForClaude,
  login: looks.lookAtLogin,
  trust: looks.lookAtTrust,
  'MCP configuration': looks.lookAtServers,
  gateway: looks.lookAtGateway,
  'node-pty': looks.lookAtPty,
  directories: looks.lookAtDirectories,
  PATH: looks.lookAtPath,
};

/**
 * Looks at everything that agents need, all at once, each within its time; one that takes longer tells so. Changes nothing,
 * and starts neither a gateway nor a tmux server. Rejects with the reason of `signal` when it is aborted.
 */
export async function examine(options: DoctorOptions): Promise<DoctorResult> {
  const { signal, say, limitMs = 10_000 } = options;
  signal.throwIfAborted();
  const open = new Set<DoctorSubject>(doctorSubjects);
  const end = new AbortController();
  const tell = (): void => {
    say(open.size === 0 ? 'taking out what is secret' : `waiting for ${[...open].join(', ')}`);
  };
  const check = async (subject: DoctorSubject): Promise<DoctorLine> => {
    try {
      const late = (): Error => new Error(`it took longer than ${limitMs / 1_000} s`);
      return await withTimeout(checks[subject](options, end.signal), limitMs, late);
    } catch (error) {
      const text = `This could not be found out: ${messageOf(error).replace(/\.$/, '')}.`;
      return { subject, verdict: 'unknown', text, fixes: [] };
    } finally {
      open.delete(subject);
      tell();
    }
  };
  tell();
  try {
    const lines = inOrder(await unlessAborted(Promise.all(doctorSubjects.map(check)), signal));
    const secrets = await knownSecrets(options.paths, options.state, options.environment);
    signal.throwIfAborted();
    return { lines, report: redactor(secrets)(doctorReport(lines, options.now(), options.facts)) };
  } finally {
    end.abort();
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error('cancelled'));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
