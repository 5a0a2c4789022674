import { endedPaneText } from '../tmux/formats.ts';
import type { ExitReading } from './facts.ts';

/** The end of a process: the status it exited with or the signal that ended it, and the last lines it printed. */
export interface ProcessEnd {
  readonly status?: number;
  readonly signal?: string;
  /** As on the screen, oldest first. */
  readonly lastLines: readonly string[];
}

/** Lines that Claude prints before it ends by itself (measured, claude 2.1.160 and 2.1.332). */
const lines: readonly (readonly [RegExp, ExitReading])[] = [
  [/^No conversation found\b/, 'conversation not found'],
  [/\bnot logged in\b|run \/login\b|\binvalid api key\b|\bfailed to authenticate\b/i, 'login needed'],
  [/^error: (?:unknown option|option |unknown command|missing required|too many arguments)/, 'configuration error'],
  [/^(?:Error: )?(?:Invalid )?MCP config/i, 'configuration error'],
  // On a machine whose owner prescribes the MCP servers (managed-mcp.json).
  [/^You cannot dynamically configure MCP servers\b/, 'configuration error'],
  [/^Error: (?:Settings file not found|Invalid)/i, 'configuration error'],
  [/(?:command )?not found$|no such file or directory$/i, 'binary missing'],
];

/** The last line of a dialog that was left by its "no" (measured, claude 2.1.332). */
const footer = /^Enter to \w+ · Esc to \w+$/;

/** `sh` and friends say so for a program that is missing (127) or cannot be run (126). */
const missingStatuses = [126, 127];

const longestSentence = 300;

/**
 * What the end of a `claude` process means, and its own last words in one line ('' if it said nothing). A program that
 * tmux itself cannot start ends with status 1 and without a word: look whether it is there before the launch.
 */
export function readExit(end: ProcessEnd): { readonly reading: ExitReading; readonly sentence: string } {
  const said = end.lastLines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !isFromTmux(line) && !footer.test(line));
  // What a signal ended has said nothing: its screen shows what it happened to show.
  if (end.signal !== undefined) return { reading: 'other', sentence: '' };
  const sentence = said.slice(-3).join(' ').slice(0, longestSentence);
  if (end.status === 0) return { reading: 'other', sentence };
  if (end.status !== undefined && missingStatuses.includes(end.status)) return { reading: 'binary missing', sentence };
  const known = said.map((line) => lines.find(([pattern]) => pattern.test(line))?.[1]);
  return { reading: known.findLast((reading) => reading !== undefined) ?? 'other', sentence };
}

function isFromTmux(line: string): boolean {
  return line === endedPaneText || /^Pane is dead\b/.test(line);
}
