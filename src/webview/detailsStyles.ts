import { css } from 'lit';

/** The details of what is selected, below its row or beside the matrix. */
export const detailsStyles = css`
  .details {
    display: grid;
    gap: 6px;
    padding: 6px 10px 10px 12px;
  }
  .below .details {
    border-bottom: 1px solid var(--border);
    border-left: 2px solid var(--vscode-focusBorder);
    padding-left: 10px;
  }
  .details-head {
    display: flex;
    align-items: start;
    justify-content: space-between;
    gap: 4px;
  }
  .details h2 {
    min-width: 0;
  }
  .details h3 {
    margin-top: 4px;
  }
  .verdict {
    display: flex;
    gap: 5px;
  }
  .verdict > span:last-child {
    min-width: 0;
  }
  .details dl {
    display: grid;
    gap: 1px;
  }
  .details dl > div {
    display: grid;
    grid-template-columns: 7em minmax(0, 1fr);
    gap: 0 8px;
  }
  .details dt {
    color: var(--vscode-descriptionForeground);
    overflow-wrap: anywhere;
  }
  @media (max-width: 260px) {
    .details dl > div {
      grid-template-columns: 5.6em minmax(0, 1fr);
      gap: 0 4px;
    }
  }
  .probes svg {
    display: block;
    width: 100%;
    max-width: 30em;
  }
  .probes .bar {
    fill: var(--vscode-charts-blue, var(--vscode-focusBorder));
  }
  .probes .axis {
    stroke: var(--vscode-descriptionForeground);
    stroke-width: 1;
    opacity: 0.6;
  }
  .probes .lost {
    fill: var(--vscode-errorForeground, currentColor);
    font-size: 11px;
    font-weight: 700;
  }
  .probes figcaption {
    display: flex;
    flex-wrap: wrap;
    gap: 0 10px;
    color: var(--vscode-descriptionForeground);
    font-variant-numeric: tabular-nums;
  }
  .probes .strong {
    color: var(--vscode-foreground);
  }
`;
