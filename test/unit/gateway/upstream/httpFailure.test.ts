import { deepStrictEqual } from 'node:assert/strict';
import { connectionFailure, readRefusal } from '../../../../src/gateway/upstream/httpFailure.ts';

const url = new URL('http://127.0.0.1:4000/mcp');
const answered = { location: undefined, text: '', url, hadSession: true, isAnswer: false };

describe('failures of an upstream over HTTP', () => {
  it('mean a lost session by status and session, and by words only where a status means more than one thing', () => {
    const kinds = [
      ...[400, 404, 503].flatMap((status) =>
        ['No valid session ID provided', 'Server not initialized', 'Unsupported protocol version', ''].map(
          (text) => [status, text, true] as const,
        ),
      ),
      ...[400, 404, 503, 500].map((status) => [status, 'Session not found', false] as const),
      [500, 'Session not found', true] as const,
    ].map(([status, text, hadSession]) => readRefusal({ ...answered, status, text, hadSession }).kind);
    deepStrictEqual(kinds, [
      ...['session lost', 'session lost', 'request refused', 'request refused'],
      ...['session lost', 'session lost', 'session lost', 'session lost'],
      ...['session lost', 'session lost', 'unknown', 'unknown'],
      ...['request refused', 'refused', 'unknown', 'unknown'],
      'unknown',
    ]);
  });

  it('are the answer where they hold one, unless they say that the session is lost or a login is wanted', () => {
    const kinds = [400, 401, 403, 404, 422, 500].map(
      (status) => readRefusal({ ...answered, status, hadSession: false, isAnswer: true }).kind,
    );
    deepStrictEqual(
      [...kinds, readRefusal({ ...answered, status: 404, isAnswer: true }).kind],
      ['answer', 'login', 'refused', 'answer', 'answer', 'answer', 'session lost'],
    );
  });

  it('are followed to another path, never to another address', () => {
    const read = (location: string | undefined): unknown => {
      const reading = readRefusal({ ...answered, status: 307, location });
      return reading.kind === 'moved' ? reading.to.href : reading.kind;
    };
    deepStrictEqual(
      [read('/mcp/'), read('http://127.0.0.1:4000/x'), read('//evil.example/mcp'), read('http://['), read(undefined)],
      ['http://127.0.0.1:4000/mcp/', 'http://127.0.0.1:4000/x', 'refused', 'refused', 'refused'],
    );
  });

  it('of the connection may pass, those of names and certificates are for a person', () => {
    const of = (code: string): string => connectionFailure(Object.assign(new Error(code), { code })).kind;
    const both = new AggregateError([new Error('connect ::1'), new Error('connect 127.0.0.1')], '');
    deepStrictEqual(
      [
        ...['ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', 'ENOTFOUND', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'EPROTO'].map(of),
        connectionFailure(Object.assign(both, { code: 'ECONNREFUSED' })),
      ],
      [
        ...['unreachable', 'unreachable', 'unreachable', 'refused', 'refused', 'refused'],
        { kind: 'unreachable', reason: 'connect ::1, connect 127.0.0.1' },
      ],
    );
  });
});
