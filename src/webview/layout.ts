/**
 * How much a cell of the matrix says: `full`, icon, state and probe time; `words`, icon and state; `icons`, the icon alone,
 * under a name that stands upright; `strip`, the same on a line of its own below the agent; `loose`, a strip of several
 * lines without names above it.
 */
export type Density = 'full' | 'words' | 'icons' | 'strip' | 'loose';

export interface Layout {
  readonly density: Density;
  /** Where the details of what is selected and the timeline are. */
  readonly details: 'beside' | 'below';
}

/** Widths in em of the font of the theme. The styles of the matrix and of `.beside` have the same ones. */
const widths = {
  padding: 1.25,
  details: 22,
  full: { name: 11, cell: 8.75 },
  words: { name: 7, cell: 6.5 },
  icons: { name: 7, cell: 1.8 },
  strip: { name: 0, cell: 1.5 },
} as const;

const richest = ['full', 'words', 'icons', 'strip'] as const;
/** Below this nothing stands beside the matrix. */
const besideFrom = 50;

/** The layout for a page that is `width` em wide and has so many columns of endpoints. */
export function chooseLayout(width: number, columns: number): Layout {
  const alone = densityFor(width, columns);
  const narrowed = densityFor(width - widths.details, columns);
  const isReadable = narrowed === alone || narrowed === 'full' || narrowed === 'words';
  return width >= besideFrom && isReadable
    ? { density: narrowed, details: 'beside' }
    : { density: alone, details: 'below' };
}

function densityFor(width: number, columns: number): Density {
  const fits = richest.find(
    (density) => widths.padding + widths[density].name + columns * widths[density].cell <= width,
  );
  return fits ?? 'loose';
}
