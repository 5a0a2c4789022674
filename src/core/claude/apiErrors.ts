/**
 * What an API error means for the conversation. A *poisoned* conversation answers every turn with the same error, also
 * after a resume; the others pass or need a person.
 */
export type ApiErrorKind =
  | 'poisoned: thinking blocks'
  | 'poisoned: image'
  | 'poisoned: tool use without result'
  | 'conversation too long'
  | 'tool name too long'
  | 'login needed'
  | 'limit reached'
  | 'server trouble'
  | 'other';

/** Comes back on every turn until the tool is gone, in whatever conversation. */
export const toolNameTooLong: ApiErrorKind = 'tool name too long';

/**
 * Public reports: claude-code 63147, 10199 (thinking), 1747 (image), 473 (tool use), 19882 (tool name). Claude words some
 * anew (measured, claude 2.1.160 and 2.1.332): an image that "was removed", "tool use concurrency issues"; 2.1.332 also
 * "orphaned tool_result".
 */
const texts: readonly (readonly [RegExp, ApiErrorKind])[] = [
  [
    /`?(?:redacted_)?thinking`? (?:or `?redacted_thinking`? )?blocks\b.*cannot be modified/is,
    'poisoned: thinking blocks',
  ],
  [/final block in an assistant message cannot be `?thinking/i, 'poisoned: thinking blocks'],
  [/could not process image|image in the conversation could not be processed/i, 'poisoned: image'],
  [
    /`?tool_use`? ids were found without `?tool_result`? blocks|400 due to tool use concurrency issues/i,
    'poisoned: tool use without result',
  ],
  [
    /unexpected `?tool_use_id`? found in `?tool_result`? blocks|orphaned tool_result in conversation/i,
    'poisoned: tool use without result',
  ],
  [/prompt is too long|exceed(?:s|ed)? (?:the )?context (?:limit|window)/i, 'conversation too long'],
  [/tools?\.\d+\..*name.*(?:at most|64 characters|string_above_max|should match pattern)/is, toolNameTooLong],
  [/not logged in|please run \/login|invalid api key|oauth token (?:has )?(?:expired|been revoked)/i, 'login needed'],
  [/usage limit|limit reached|hit your limit|rate[_ ]limit/i, 'limit reached'],
  [/overloaded|internal server error|API Error: 5\d\d\b/i, 'server trouble'],
];

/** Codes of the StopFailure hook (listed in its own help, claude 2.1.332). The text says more, so it is asked first. */
const codes: Readonly<Record<string, ApiErrorKind>> = {
  authentication_failed: 'login needed',
  oauth_org_not_allowed: 'login needed',
  billing_error: 'limit reached',
  rate_limit: 'limit reached',
  server_error: 'server trouble',
};

/** Reads the code and the text of a failed turn, from the StopFailure hook or from the transcript. */
export function readApiError(error: { readonly code?: unknown; readonly text?: unknown }): ApiErrorKind {
  const { code, text } = error;
  const byText = typeof text === 'string' ? texts.find(([pattern]) => pattern.test(text))?.[1] : undefined;
  const byCode = typeof code === 'string' && Object.hasOwn(codes, code) ? codes[code] : undefined;
  return byText ?? byCode ?? 'other';
}

/** Whether the error comes back on every turn of this conversation. */
export function isPoisoned(kind: string): boolean {
  return kind.startsWith('poisoned: ');
}
