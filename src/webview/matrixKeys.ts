/** Where a key of the grid goes: rows and columns counted from 0; column 0 is that of the names. */
export function keyTarget(
  key: string,
  held: { readonly ctrlKey: boolean },
  from: { readonly row: number; readonly column: number },
  size: { readonly rows: number; readonly columns: number; readonly page: number },
): { readonly row: number; readonly column: number } | undefined {
  const { row, column } = from;
  const [lastRow, lastColumn] = [size.rows - 1, size.columns - 1];
  switch (key) {
    case 'ArrowDown':
      return { row: Math.min(row + 1, lastRow), column };
    case 'ArrowUp':
      return { row: Math.max(row - 1, 0), column };
    case 'ArrowRight':
      return { row, column: Math.min(column + 1, lastColumn) };
    case 'ArrowLeft':
      return { row, column: Math.max(column - 1, 0) };
    case 'PageDown':
      return { row: Math.min(row + size.page, lastRow), column };
    case 'PageUp':
      return { row: Math.max(row - size.page, 0), column };
    case 'Home':
      return { row: held.ctrlKey ? 0 : row, column: 0 };
    case 'End':
      return { row: held.ctrlKey ? lastRow : row, column: lastColumn };
    default:
      return undefined;
  }
}
