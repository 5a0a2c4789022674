import * as z from 'zod/mini';

const locationSchema = z.catch(z.enum(['panel', 'editor', 'beside']), 'panel');

export type TerminalLocation = z.infer<typeof locationSchema>;

/** Where terminals of agents open; what cannot be read counts as `panel`. */
export function readTerminalLocation(value: unknown): TerminalLocation {
  return locationSchema.parse(value);
}

const colors = ['Blue', 'Green', 'Magenta', 'Cyan', 'Yellow', 'Red'] as const;

/** The id of a theme colour, the same for a name in every window and every theme. */
export function agentColor(name: string): string {
  const sum = Array.from(name).reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973, 7);
  return `terminal.ansi${colors[sum % colors.length] ?? 'Blue'}`;
}
