import { createHmac } from 'node:crypto';
import { canonicalPrompt } from '../core/claude/promptText.ts';

/** Tells whether two prompts of an agent are the same; without the agent's key it says nothing of the text. */
export function promptDigest(text: string, key: string): string {
  return createHmac('sha256', key).update(canonicalPrompt(text)).digest('base64url');
}
