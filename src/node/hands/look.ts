import { delay } from '../../base/async.ts';
import { isReconnectLine } from '../../core/claude/reconnectLine.ts';
import { readScreen, type ScreenReading } from '../../core/claude/screen.ts';
import type { ScreenShows } from '../../core/fleet/life.ts';
import type { PaneInfo } from '../../core/tmux/formats.ts';
import { capturePane, isNotFound } from '../tmux/paneOperations.ts';
import type { TmuxCommands } from '../tmux/tmuxClient.ts';

const limits = {
  /** A turn that has ended by its hooks still shows for a moment: its Stop hook is part of it. */
  turnSettlesMs: 3_000,
  everyMs: 100,
} as const;

/** Looks at the screen of an agent once. */
export async function lookAtScreen(tmux: TmuxCommands, pane: PaneInfo): Promise<ScreenShows> {
  return showsOf(await readPane(tmux, pane));
}

/**
 * Looks right before the process in a pane is ended for a restart: what forbids that, in a sentence with the next step;
 * undefined: nothing. A screen that cannot be read forbids nothing: its process may hang, and a restart is the way out.
 */
export async function whatForbidsEnding(tmux: TmuxCommands, pane: PaneInfo): Promise<string | undefined> {
  const until = performance.now() + limits.turnSettlesMs;
  for (;;) {
    const reading = await readPane(tmux, pane).catch((error: unknown): ScreenReading => {
      if (isNotFound(error)) return { kind: 'unknown' };
      throw error;
    });
    const shows = showsOf(reading);
    if (shows === 'unsent input') return `unsent input: text stands in its input line. ${next('send it or remove it')}`;
    if (shows === 'permission') return `it waits for permission. ${next('answer the question')}`;
    if (reading.kind !== 'busy') return undefined;
    if (performance.now() >= until) return `turn in progress. Wait for its end, or bypass the guard.`;
    await delay(limits.everyMs);
  }
}

function next(what: string): string {
  return `Attach to it: ${what}, then restart; or bypass the guard.`;
}

async function readPane(tmux: TmuxCommands, pane: PaneInfo): Promise<ScreenReading> {
  return readScreen(await capturePane(tmux, pane.paneId, { styles: 'escapes' }));
}

function showsOf(reading: ScreenReading): ScreenShows {
  switch (reading.kind) {
    case 'input':
    case 'busy':
      return reading.text === '' || isReconnectLine(reading.text) ? 'empty input' : 'unsent input';
    case 'dialog':
      return reading.dialog === 'permission' ? 'permission' : 'dialog';
    case 'unknown':
      return 'unknown';
  }
}
