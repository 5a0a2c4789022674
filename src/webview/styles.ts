import { css } from 'lit';

/** The page in the colours of the theme, whatever it is: no colour of its own. Lengths fit a view of 200 px. */
export const pageStyles = css`
  body {
    --border: var(
      --vscode-contrastBorder,
      var(--vscode-sideBarSectionHeader-border, var(--vscode-panel-border, transparent))
    );
    margin: 0;
    padding: 0;
    color: var(--vscode-sideBar-foreground, var(--vscode-foreground));
    font-family: var(--vscode-font-family);
    font-size: var(--vscode-font-size);
    line-height: 1.4;
  }
  bowline-binding-health,
  bowline-agent-card {
    display: block;
  }
  h2,
  h3,
  p,
  ul,
  ol {
    margin: 0;
    padding: 0;
    font-size: inherit;
    overflow-wrap: anywhere;
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
    font-size: 16px;
  }
  .quiet,
  .directory,
  .facts,
  .server,
  .life,
  .next,
  .status-detail {
    color: var(--vscode-descriptionForeground);
  }
  .loading,
  .empty {
    padding: 12px 20px;
  }
  .empty h2 {
    margin-bottom: 6px;
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

  .summary {
    padding: 8px 12px;
  }
  .status {
    display: flex;
    gap: 6px;
    font-weight: 600;
  }
  .status-detail {
    padding-left: 22px;
    white-space: pre-line;
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
  .box .next {
    color: inherit;
  }
  .box h2 {
    font-weight: 600;
  }
  .buttons {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    margin-top: 4px;
  }

  .button {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    border: 1px solid var(--vscode-button-border, transparent);
    border-radius: 4px;
    font: inherit;
    cursor: pointer;
  }
  .button.primary,
  .button.secondary {
    max-width: 100%;
    padding: 2px 8px;
  }
  .button.primary {
    background: var(--vscode-button-background);
    color: var(--vscode-button-foreground);
  }
  .button.primary:hover {
    background: var(--vscode-button-hoverBackground);
  }
  .button.secondary {
    background: var(--vscode-button-secondaryBackground);
    color: var(--vscode-button-secondaryForeground);
  }
  .button.secondary:hover {
    background: var(--vscode-button-secondaryHoverBackground);
  }
  .button.icon {
    padding: 2px;
    border-color: transparent;
    background: none;
    color: var(--vscode-icon-foreground, inherit);
  }
  .button.icon:hover {
    background: var(--vscode-toolbar-hoverBackground);
    outline: 1px dashed var(--vscode-toolbar-hoverOutline, transparent);
    outline-offset: -1px;
  }
  .button.icon:active {
    background: var(--vscode-toolbar-activeBackground);
  }
  .button[aria-disabled='true'] {
    opacity: 0.5;
    cursor: default;
  }
  .button:focus-visible,
  .summary:focus-visible,
  .timeline summary:focus-visible,
  .filter input:focus-visible {
    outline: 1px solid var(--vscode-focusBorder);
    outline-offset: -1px;
  }
  .button.primary:focus-visible,
  .button.secondary:focus-visible {
    outline-offset: 2px;
  }

  .filter {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    gap: 6px 12px;
    padding: 0 12px 8px;
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
  .filter label {
    display: flex;
    align-items: center;
    gap: 6px;
  }
  .filter input[type='checkbox'] {
    flex: none;
    margin: 0;
    accent-color: var(--vscode-button-background);
  }

  .card {
    padding: 6px 8px 8px 12px;
    border-top: 1px solid var(--border);
  }
  .many .card {
    content-visibility: auto;
    contain-intrinsic-size: auto 104px;
  }
  .card:hover {
    background: var(--vscode-list-hoverBackground);
  }
  .line {
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: 4px;
    min-height: 22px;
  }
  .line > :first-child {
    min-width: 0;
  }
  .card h3 {
    font-weight: 600;
  }
  .actions {
    display: flex;
    flex: none;
  }
  .title {
    display: flex;
    flex-wrap: wrap;
    column-gap: 8px;
  }
  .marked {
    color: var(--vscode-editorWarning-foreground, inherit);
  }
  /* Right to left, so that a long path is cut at its front: the last folder tells agents apart. */
  .directory {
    overflow: hidden;
    direction: rtl;
    text-align: left;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .endpoint {
    display: flex;
    gap: 6px;
  }
  .endpoint > .codicon {
    margin-top: 3px;
  }
  .endpoint-text {
    flex: 1;
    min-width: 0;
  }
  .state {
    font-weight: 600;
  }
  .facts span {
    display: inline-block;
    max-width: 100%;
  }
  .facts span:not(:last-child)::after {
    content: ' ·';
  }

  .timeline {
    border-top: 1px solid var(--border);
  }
  .timeline summary {
    display: flex;
    align-items: center;
    gap: 2px;
    padding: 3px 8px 3px 2px;
    font-size: 11px;
    font-weight: 700;
    text-transform: uppercase;
    list-style: none;
    cursor: pointer;
  }
  .timeline[open] .codicon-chevron-right {
    transform: rotate(90deg);
  }
  .timeline > .quiet,
  .events {
    padding: 2px 12px 12px;
  }
  .events li {
    display: flex;
    flex-wrap: wrap;
    gap: 0 8px;
    padding: 1px 0;
  }
  .events time {
    color: var(--vscode-descriptionForeground);
    font-variant-numeric: tabular-nums;
  }
  .events li > span {
    flex: 1 1 140px;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .event-agents {
    font-weight: 600;
  }
`;
