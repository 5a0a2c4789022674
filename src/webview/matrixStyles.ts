import { css } from 'lit';

/** The matrix. Widths are those of layout.ts; every row has the same columns, so that cells stand below their names. */
export const matrixStyles = css`
  .legend {
    display: flex;
    flex-wrap: wrap;
    gap: 0 12px;
    padding: 0 12px 4px;
    color: var(--vscode-descriptionForeground);
  }
  .legend li {
    display: flex;
    gap: 4px;
  }

  .matrix {
    padding-bottom: 8px;
  }
  .columns,
  bowline-agent-row {
    display: grid;
    padding: 0 6px 0 10px;
  }
  .matrix.full > :is(.columns, bowline-agent-row) {
    grid-template-columns: minmax(11em, 24em) repeat(var(--columns), 8.75em);
  }
  .matrix.words > :is(.columns, bowline-agent-row) {
    grid-template-columns: minmax(7em, 18em) repeat(var(--columns), 6.5em);
  }
  .matrix.icons > :is(.columns, bowline-agent-row) {
    grid-template-columns: minmax(7em, 20em) repeat(var(--columns), 1.8em);
  }
  .matrix.strip > :is(.columns, bowline-agent-row) {
    grid-template-columns: repeat(var(--columns), minmax(1.5em, 2em));
  }
  .matrix.loose > bowline-agent-row {
    grid-template-columns: repeat(auto-fill, 2em);
  }

  .columns {
    position: sticky;
    top: 0;
    z-index: 1;
    border-bottom: 1px solid var(--border);
    background: var(--ground);
    color: var(--vscode-descriptionForeground);
  }
  .corner,
  .column {
    align-self: end;
    min-width: 0;
    padding: 2px 4px 3px 2px;
    overflow-wrap: anywhere;
  }
  .matrix:is(.icons, .strip) .column {
    padding: 2px 0 4px;
    justify-self: center;
  }
  .matrix:is(.icons, .strip) .column span {
    display: block;
    max-height: 10em;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    writing-mode: vertical-rl;
    transform: rotate(180deg);
  }
  .matrix.strip .corner,
  .matrix.loose .columns {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }

  bowline-agent-row {
    border-bottom: 1px solid var(--row-line);
    --row-line: var(--vscode-contrastBorder, color-mix(in srgb, var(--border) 55%, transparent));
  }
  .many > bowline-agent-row {
    content-visibility: auto;
    contain-intrinsic-size: auto 1.75em;
  }
  .many.strip > bowline-agent-row {
    contain-intrinsic-size: auto 3.4em;
  }
  bowline-agent-row:hover {
    background: var(--vscode-list-hoverBackground);
  }
  bowline-agent-row.selected {
    background: var(--vscode-list-inactiveSelectionBackground);
  }
  .selected :is(.life, .ms) {
    color: inherit;
  }

  .head {
    align-self: center;
    min-width: 0;
    padding: 2px 4px 2px 2px;
    overflow-wrap: anywhere;
    cursor: pointer;
    scroll-margin: 12em 0 4em;
  }
  .matrix:is(.strip, .loose) .head {
    grid-column: 1 / -1;
    padding-bottom: 0;
  }
  .name {
    margin-right: 4px;
    font-weight: 600;
  }
  .life {
    color: var(--vscode-descriptionForeground);
  }
  .first {
    white-space: nowrap;
  }
  .life .codicon[class*='codicon-'] {
    margin-right: 3px;
    vertical-align: -0.17em;
  }

  .cell {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    align-self: center;
    gap: 0 3px;
    min-width: 0;
    margin: 1px 2px 1px 0;
    padding: 1px;
    border: 1px solid transparent;
    border-radius: 3px;
    cursor: pointer;
    scroll-margin: 12em 0 4em;
  }
  .word {
    min-width: 0;
    line-height: 1.2;
  }
  .ms {
    color: var(--vscode-descriptionForeground);
    font-variant-numeric: tabular-nums;
    white-space: nowrap;
  }
  .matrix.words .ms {
    display: none;
  }
  .matrix.words .word {
    flex: 1;
    font-size: 0.9em;
  }
  .matrix:is(.icons, .strip, .loose) .cell {
    justify-content: center;
    margin: 1px;
    padding: 1px 0;
  }
  .matrix:is(.icons, .strip, .loose) :is(.word, .ms) {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .cell.troubled.error {
    border-color: var(--vscode-inputValidation-errorBorder, var(--border));
    background: var(--vscode-inputValidation-errorBackground);
    color: var(--vscode-inputValidation-errorForeground, inherit);
  }
  .cell.troubled.warning {
    border-color: var(--vscode-inputValidation-warningBorder, var(--border));
    background: var(--vscode-inputValidation-warningBackground);
    color: var(--vscode-inputValidation-warningForeground, inherit);
  }
  .matrix.full .cell.troubled .word {
    font-weight: 600;
  }
  :is(.cell, .head)[aria-selected='true'] {
    border-radius: 3px;
    outline: 1px solid var(--vscode-contrastActiveBorder, var(--vscode-focusBorder));
    outline-offset: -1px;
  }
  :is(.cell, .head):focus-visible {
    border-radius: 3px;
    outline: 2px solid var(--vscode-focusBorder);
    outline-offset: -2px;
  }

  .notes {
    grid-column: 1 / -1;
    padding: 0 4px 3px 2px;
    cursor: pointer;
  }
  .notes p {
    display: flex;
    gap: 5px;
  }
  .notes p > span {
    min-width: 0;
  }
`;
