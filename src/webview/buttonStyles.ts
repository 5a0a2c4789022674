import { css } from 'lit';

/** Buttons as VS Code's own, and the ring around what has the focus. */
export const buttonStyles = css`
  .buttons {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    margin: 4px 0;
  }
  .button {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    border: 1px solid var(--vscode-button-border, transparent);
    border-radius: 4px;
    font: inherit;
    text-align: left;
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
    background: var(--vscode-button-hoverBackground, var(--vscode-button-background));
  }
  .button.secondary {
    background: var(--vscode-button-secondaryBackground, transparent);
    color: var(--vscode-button-secondaryForeground);
  }
  .button.secondary:hover {
    background: var(--vscode-button-secondaryHoverBackground, transparent);
  }
  .button.icon {
    flex: none;
    padding: 1px 2px;
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
  .link {
    padding: 0;
    border: none;
    border-radius: 2px;
    background: none;
    color: inherit;
    font: inherit;
    font-weight: 600;
    text-align: left;
    text-decoration: underline;
    overflow-wrap: anywhere;
    cursor: pointer;
  }
  .button:focus-visible,
  .link:focus-visible,
  .summary:focus-visible,
  .timeline summary:focus-visible,
  .details h2:focus-visible,
  input:focus-visible {
    outline: 1px solid var(--vscode-focusBorder);
    outline-offset: -1px;
  }
  .button.primary:focus-visible,
  .button.secondary:focus-visible,
  .link:focus-visible {
    outline-offset: 2px;
  }
`;
