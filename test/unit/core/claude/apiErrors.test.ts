import { deepStrictEqual } from 'node:assert/strict';
import { type ApiErrorKind, isPoisoned, readApiError } from '../../../../src/core/claude/apiErrors.ts';

describe('API errors', () => {
  it('tell a poisoned conversation (case 17)', () => {
    const texts = [
      '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified',
      'API Error: 400 messages.1.content.0: `thinking` blocks cannot be modified',
      'thinking or redacted_thinking blocks in the latest assistant message cannot be modified. These blocks must remain',
      'The final block in an assistant message cannot be `thinking`',
      'Could not process image',
      'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1',
    ];
    const kinds = texts.map((text) => readApiError({ code: 'unknown', text: `API Error: 400 ${text}` }));
    deepStrictEqual(
      kinds.map((kind) => [kind, isPoisoned(kind)]),
      [
        ['poisoned: thinking blocks', true],
        ['poisoned: thinking blocks', true],
        ['poisoned: thinking blocks', true],
        ['poisoned: thinking blocks', true],
        ['poisoned: image', true],
        ['poisoned: tool use without result', true],
      ],
    );
  });

  it('tell it also where Claude words it anew (measured, both versions)', () => {
    const texts = [
      'API Error: an image in the conversation could not be processed and was removed. Double press esc to edit',
      'API Error: 400 due to tool use concurrency issues. Run /rewind to recover the conversation.',
      'API Error: 400 messages.3.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1',
      'API Error: 400 orphaned tool_result in conversation history.',
      'Image was too large. Try resizing the image or using a different approach.',
      'API Error: 400 messages: text content blocks must be non-empty',
    ];
    deepStrictEqual(
      texts.map((text) => readApiError({ code: 'unknown', text })),
      [
        'poisoned: image',
        'poisoned: tool use without result',
        'poisoned: tool use without result',
        'poisoned: tool use without result',
        'other',
        'other',
      ],
    );
  });

  it('tell what a person can do, by text first, then by code', () => {
    const errors: readonly (readonly [unknown, unknown, ApiErrorKind])[] = [
      ['authentication_failed', 'Not logged in · Please run /login', 'login needed'],
      ['authentication_failed', 'something new', 'login needed'],
      ['rate_limit', undefined, 'limit reached'],
      ['server_error', '', 'server trouble'],
      ['unknown', 'API Error: 529 Overloaded', 'server trouble'],
      ['invalid_request', 'Prompt is too long', 'conversation too long'],
      [
        'unknown',
        'API Error: 400 tools.12.custom.name: String should have at most 64 characters',
        'tool name too long',
      ],
      ['unknown', 'I was thinking about blocks of text', 'other'],
      ['toString', undefined, 'other'],
      [undefined, undefined, 'other'],
      [7, {}, 'other'],
    ];
    deepStrictEqual(
      errors.map(([code, text]) => readApiError({ code, text })),
      errors.map(([, , kind]) => kind),
    );
    deepStrictEqual(isPoisoned('login needed'), false);
  });
});
