import { html, type TemplateResult } from 'lit';
import type { Action, CommandMessage } from './actions.ts';

export type Post = (message: CommandMessage) => void;

/**
 * A button for an action. One that cannot be done now stays reachable, so that the focus is not lost and its reason can
 * be read.
 */
export function actionButton(action: Action, look: 'icon' | 'primary' | 'secondary', post: Post): TemplateResult {
  const { command, label, description, icon, refusal } = action;
  const press = (): void => {
    if (refusal === undefined) for (const message of action.messages) post(message);
  };
  return html`<button
    type="button"
    class="button ${look}"
    data-command=${command}
    title=${refusal ?? label}
    aria-label=${refusal === undefined ? description : `${description}. ${refusal}`}
    aria-disabled=${refusal === undefined ? 'false' : 'true'}
    @click=${press}
  >
    <span class="codicon codicon-${icon}" aria-hidden="true"></span>${look === 'icon' ? '' : label}
  </button>`;
}
