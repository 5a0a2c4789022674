import { messageOf } from '../base/errors.ts';

/** The part of node-pty that Bowline uses (its types may not be imported: the module is optional at run time). */
export interface PtyModule {
  spawn(file: string, args: string[], options: PtyOptions): PtyProcess;
}

export interface PtyOptions {
  readonly name: string;
  readonly cols: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: Record<string, string>;
}

export interface PtyProcess {
  readonly pid: number;
  /** Text, decoded from UTF-8 as a stream. */
  onData(listener: (data: string) => void): { dispose(): void };
  onExit(listener: (exit: { exitCode: number; signal?: number | undefined }) => void): { dispose(): void };
  write(data: string): void;
  kill(signal?: string): void;
}

/** Why there is no pseudo terminal, in words for a person. */
export interface PtyUnavailable {
  readonly unavailable: string;
}

/**
 * Loads node-pty through `load`, e.g. `() => require('node-pty')`. The caller owns the loading because each bundle finds
 * the native module elsewhere. Never throws.
 */
export function loadPty(load: () => unknown): PtyModule | PtyUnavailable {
  try {
    const module = load();
    return isPtyModule(module) ? module : { unavailable: 'node-pty has no spawn function' };
  } catch (error) {
    return { unavailable: `node-pty does not load: ${messageOf(error).split('\n')[0] ?? ''}` };
  }
}

function isPtyModule(module: unknown): module is PtyModule {
  return typeof module === 'object' && module !== null && 'spawn' in module && typeof module.spawn === 'function';
}
