import { css } from 'lit';

/** The page in the colours of the theme, whatever it is: no colour of its own. Lengths fit a view of 200 px. */
export const pageStyles = css`
  body {
    --border: var(
      --vscode-contrastBorder,
      var(--vscode-sideBarSectionHeader-border, var(--vscode-panel-border, transparent))
    );
    --ground: var(--vscode-sideBar-background, var(--vscode-editor-background));
    margin: 0;
    padding: 0;
    color: var(--vscode-sideBar-foreground, var(--vscode-foreground));
    font-family: var(--vscode-font-family);
    font-size: var(--vscode-font-size);
    line-height: 1.4;
  }
  bowline-binding-health,
  bowline-matrix,
  bowline-details {
    display: block;
  }
  h2,
  h3,
  p,
  ul,
  ol,
  dl,
  dd,
  figure {
    margin: 0;
    padding: 0;
    font-size: inherit;
    overflow-wrap: anywhere;
  }
  h2,
  h3,
  .strong {
    font-weight: 600;
  }
  ul,
  ol {
    list-style: none;
  }
  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .codicon[class*='codicon-'] {
    flex: none;
    width: 1em;
    font-size: 1.23em;
    line-height: 1.14;
  }
  .quiet,
  .of,
  .status-detail {
    color: var(--vscode-descriptionForeground);
  }
  .tone-good {
    color: var(--vscode-testing-iconPassed, var(--vscode-foreground));
  }
  .tone-quiet {
    color: var(--vscode-descriptionForeground);
  }
  .tone-warning {
    color: var(--vscode-editorWarning-foreground, var(--vscode-foreground));
  }
  .tone-error {
    color: var(--vscode-errorForeground, var(--vscode-foreground));
  }
  .loading,
  .empty {
    padding: 12px 20px;
  }
  .empty {
    display: grid;
    gap: 8px;
  }

  .summary {
    padding: 8px 8px 6px 12px;
  }
  .line {
    display: flex;
    align-items: start;
    justify-content: space-between;
    gap: 6px;
  }
  .status {
    display: flex;
    gap: 6px;
    min-width: 0;
    font-weight: 600;
  }
  .status-detail {
    padding-left: 22px;
    white-space: pre-line;
  }

  .layout.beside {
    display: grid;
    grid-template-columns: minmax(0, 1fr) 22em;
  }
  .layout.beside > .side {
    border-left: 1px solid var(--border);
  }
  .layout.beside > .side > div {
    position: sticky;
    top: 0;
    max-height: 100vh;
    overflow-y: auto;
  }

  .box {
    display: flex;
    gap: 6px;
    margin: 0 8px 8px;
    padding: 8px;
    border: 1px solid;
    border-radius: 4px;
  }
  .box.error {
    border-color: var(--vscode-inputValidation-errorBorder, var(--border));
    background: var(--vscode-inputValidation-errorBackground);
    color: var(--vscode-inputValidation-errorForeground, inherit);
  }
  .box.warning {
    border-color: var(--vscode-inputValidation-warningBorder, var(--border));
    background: var(--vscode-inputValidation-warningBackground);
    color: var(--vscode-inputValidation-warningForeground, inherit);
  }
  .box-text {
    display: grid;
    gap: 4px;
    min-width: 0;
  }
  .names {
    display: flex;
    flex-wrap: wrap;
    gap: 0 10px;
  }

  .check {
    display: flex;
    align-items: start;
    gap: 6px;
  }
  .check input {
    flex: none;
    margin: 0.15em 0 0;
    accent-color: var(--vscode-button-background);
  }
  .filter {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    gap: 6px 12px;
    padding: 0 12px 6px;
  }
  .filter input[type='search'] {
    box-sizing: border-box;
    width: 100%;
    padding: 3px 6px;
    border: 1px solid var(--vscode-input-border, var(--border));
    border-radius: 2px;
    background: var(--vscode-input-background);
    color: var(--vscode-input-foreground);
    font: inherit;
  }
  .filter input::placeholder {
    color: var(--vscode-input-placeholderForeground);
  }

  .timeline {
    border-top: 1px solid var(--border);
  }
  .timeline summary {
    display: flex;
    align-items: center;
    gap: 2px;
    padding: 3px 8px 3px 2px;
    font-size: 0.85em;
    font-weight: 700;
    text-transform: uppercase;
    list-style: none;
    cursor: pointer;
  }
  .timeline summary .codicon {
    font-size: 1.45em;
  }
  .timeline[open] .codicon-chevron-right {
    transform: rotate(90deg);
  }
  .timeline > .quiet,
  .timeline > .check,
  .timeline > .events {
    padding: 2px 12px 6px;
  }
  .events li {
    display: grid;
    grid-template-columns: auto auto minmax(0, 1fr);
    gap: 0 6px;
    padding: 1px 0;
  }
  .events time {
    color: var(--vscode-descriptionForeground);
    font-variant-numeric: tabular-nums;
  }
  .event {
    overflow-wrap: anywhere;
  }
  @media (max-width: 260px) {
    .events li {
      grid-template-columns: auto minmax(0, 1fr);
    }
    .event {
      grid-column: 2;
    }
  }
`;
