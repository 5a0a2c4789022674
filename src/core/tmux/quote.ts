import { BowlineError } from '../../base/errors.ts';

/**
 * Writes one argument for the command parser of tmux so that it arrives unchanged: double quotes, and as `\ooo` all
 * that tmux would read otherwise (control characters would also be cut or edited by the terminal of `-CC`).
 * `~` is expanded even in double quotes at their start (measured, tmux 3.3a).
 * This is no protection against formats: what tmux format-expands goes through a user option, see `formats.ts`.
 * Throws `bad-request` for NUL and for halves of surrogate pairs, which no process argument can hold.
 */
export function quoteArgument(text: string): string {
  if (/\0|\p{Surrogate}/u.test(text)) {
    throw new BowlineError(
      'bad-request',
      'A text for tmux holds a NUL character or half a character. Remove it and try again.',
    );
  }
  const escaped = text.replace(/["\\$]/g, '\\$&').replace(/[\u0001-\u001f\u007f~]/g, octal);
  return `"${escaped}"`;
}

/** One line for the control client: the commands run in order, and after a failed one the rest is dropped. */
export function commandLine(commands: readonly (readonly string[])[]): string {
  return commands.map((command) => command.map(quoteArgument).join(' ')).join(' ; ');
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}
