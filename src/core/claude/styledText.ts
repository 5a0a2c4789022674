/** One character of a captured screen, with the attributes that carry meaning in Claude's input line. */
export interface Cell {
  readonly character: string;
  /** Faint: a suggestion in the input line, not text that somebody typed. */
  readonly dim: boolean;
  /** Reversed: the cursor that Claude draws itself. */
  readonly reverse: boolean;
}

// CSI sequences, OSC sequences (hyperlinks) and shifts between character sets, as `tmux capture-pane -e` writes them.
const escapes = /\u001b\[([0-9;:]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u000e\u000f]/g;

/** Splits captured lines into cells. Attributes go on from line to line until they are reset (measured, tmux 3.3a). */
export function readStyledLines(lines: readonly string[]): readonly (readonly Cell[])[] {
  let style = { dim: false, reverse: false };
  return lines.map((line) => {
    const cells: Cell[] = [];
    let from = 0;
    const take = (to: number): void => {
      for (const character of line.slice(from, to)) cells.push({ character, ...style });
    };
    for (const match of line.matchAll(escapes)) {
      take(match.index);
      from = match.index + match[0].length;
      if (match[2] === 'm') style = afterSgr(style, match[1] ?? '');
    }
    take(line.length);
    return cells;
  });
}

function afterSgr(style: { dim: boolean; reverse: boolean }, parameters: string): { dim: boolean; reverse: boolean } {
  let { dim, reverse } = style;
  const codes = parameters.split(/[;:]/).map(Number);
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    // A colour brings its own numbers: `5;n` or `2;r;g;b`.
    if (code === 38 || code === 48 || code === 58) index += codes[index + 1] === 5 ? 2 : 4;
    if (code === 0 || code === 22) dim = false;
    if (code === 0 || code === 27) reverse = false;
    if (code === 2) dim = true;
    if (code === 7) reverse = true;
  }
  return { dim, reverse };
}
