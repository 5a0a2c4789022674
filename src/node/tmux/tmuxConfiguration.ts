import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { endedPaneText } from '../../core/tmux/formats.ts';
import { commandLine } from '../../core/tmux/quote.ts';

/** The session that the control client attaches to. No agent can have this name: theirs begin with a letter or digit. */
export const keeperSession = '_bowline';

/** Command line of the keeper's process: more than one word, so that tmux runs it without a shell. */
export const keeperCommand = ['tail', '-f', '/dev/null'] as const;

/**
 * What Bowline's tmux server is set to, as tmux commands. All can be repeated on a running server.
 * `-q` stands where an option is younger than tmux 3.2. No prefix key: Ctrl+B belongs to Claude.
 */
export function serverConfiguration(options: { readonly defaultTerminal: string }): string[][] {
  return [
    ['set-option', '-s', 'exit-empty', 'off'],
    ['set-option', '-s', 'exit-unattached', 'off'],
    ['set-option', '-s', 'escape-time', '10'],
    ['set-option', '-s', 'focus-events', 'on'],
    ['set-option', '-s', 'extended-keys', 'on'],
    ['set-option', '-s', 'set-clipboard', 'on'],
    ['set-option', '-s', 'default-terminal', options.defaultTerminal],
    // An index of its own: appending would add the entry again at each connect.
    ['set-option', '-s', 'terminal-features[90]', '*:extkeys:RGB:focus:title'],
    ['set-option', '-s', 'terminal-overrides[90]', '*:Tc'],
    ['set-option', '-g', 'default-size', '200x50'],
    ['set-option', '-g', 'destroy-unattached', 'off'],
    ['set-option', '-g', 'detach-on-destroy', 'on'],
    ['set-option', '-g', 'history-limit', '10000'],
    ['set-option', '-g', 'mouse', 'on'],
    ['set-option', '-g', 'status', 'off'],
    ['set-option', '-g', 'prefix', 'None'],
    ['set-option', '-g', 'prefix2', 'None'],
    ['set-option', '-g', 'set-titles', 'on'],
    ['set-option', '-g', 'set-titles-string', '#{session_name}: #{pane_title}'],
    ['set-option', '-gw', 'remain-on-exit', 'on'],
    ['set-option', '-gwq', 'remain-on-exit-format', endedPaneText],
    ['set-option', '-gw', 'allow-rename', 'off'],
    ['set-option', '-gw', 'automatic-rename', 'off'],
    // Its menu can kill or respawn the pane behind Bowline's back.
    ['unbind-key', '-n', 'MouseDown3Pane'],
    ['set-environment', '-g', 'COLORTERM', 'truecolor'],
  ];
}

/** The configuration as a file for `tmux -f`. */
export function configurationFile(options: { readonly defaultTerminal: string }): string {
  const lines = serverConfiguration(options).map((command) => commandLine([command]));
  return ['# Written by Bowline at each start; changes here are lost.', ...lines, ''].join('\n');
}

/** `tmux-256color` when the terminfo of this machine has it, else `screen-256color`. */
export function defaultTerminal(environment: Readonly<Record<string, string | undefined>>): string {
  const places = [
    environment['TERMINFO'],
    environment['HOME'] === undefined ? undefined : join(environment['HOME'], '.terminfo'),
    '/etc/terminfo',
    '/lib/terminfo',
    '/usr/share/terminfo',
    '/usr/lib/terminfo',
    '/usr/local/share/terminfo',
    '/opt/homebrew/share/terminfo',
  ];
  // macOS names the folders by the character's code.
  const found = places.some(
    (place) => place !== undefined && ['t', '74'].some((d) => existsSync(join(place, d, 'tmux-256color'))),
  );
  return found ? 'tmux-256color' : 'screen-256color';
}
