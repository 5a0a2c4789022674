import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** What {@link scopeStandIn} adds to the environment of what runs in its scope. */
export const scopeMark = 'STANDS_IN_FOR_SCOPE=1';

/**
 * Variables of a session whose `systemd-run` is a stand-in: it takes `true`, and then runs each command with a mark in
 * its environment, or `refuses` every other one.
 */
export async function scopeStandIn(
  directory: string,
  then: 'runs' | 'refuses',
): Promise<{ readonly PATH: string; readonly XDG_RUNTIME_DIR: string }> {
  await mkdir(directory, { recursive: true });
  const file = path.join(directory, 'systemd-run');
  const end = then === 'runs' ? `exec env ${scopeMark} "$@"` : 'echo refused >&2; exit 1';
  const lines = ['#!/bin/sh', 'while [ "$1" != -- ]; do shift; done', 'shift', '[ "$1" = true ] && exit 0', end];
  await writeFile(file, `${lines.join('\n')}\n`);
  await chmod(file, 0o755);
  return { PATH: `${directory}:${process.env['PATH'] ?? ''}`, XDG_RUNTIME_DIR: directory };
}
