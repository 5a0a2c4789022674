/** Limits of {@link waitFor}, in milliseconds. */
export interface WaitOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/**
 * Calls `probe` until it returns something other than `undefined`, `null` or `false`, and resolves with that.
 * Errors of the probe count as "not yet". Rejects after `timeoutMs` (10 s) and names `description` and the last error.
 */
export async function waitFor<T>(
  description: string,
  probe: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  options: WaitOptions = {},
): Promise<T> {
  const limit = Date.now() + (options.timeoutMs ?? 10_000);
  let lastError: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== null && value !== false) return value;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > limit) {
      throw new Error(`timed out waiting for ${description}`, { cause: lastError });
    }
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 25));
  }
}
