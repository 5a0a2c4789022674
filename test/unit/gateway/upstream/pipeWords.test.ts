import assert from 'node:assert/strict';
import { type Log, type LogFields, silentLog } from '../../../../src/base/log.ts';
import { upstreamDefinition } from '../../../../src/gateway/upstream/definition.ts';
import { PipeWords } from '../../../../src/gateway/upstream/pipeWords.ts';

describe('what a server says besides its messages', () => {
  let now: number;
  let logged: [string, LogFields | undefined][];
  let words: PipeWords;

  beforeEach(() => {
    now = 1000;
    logged = [];
    const keep = (message: string, fields?: LogFields): void => {
      logged.push([message, fields]);
    };
    const log: Log = { ...silentLog, info: keep, warn: keep };
    const definition = upstreamDefinition({
      kind: 'stdio',
      command: 'server',
      args: ['--api-token', 'hidden-one', '--secret=hidden-two', '--port', '8080808'],
      environment: { PATH: '/usr/bin', HOME: '/home/ada', DATABASE: 'hidden-three' },
      directory: '/',
    });
    words = new PipeWords({ definition, name: { agent: 'ada', server: 'notes' }, log, clock: () => now });
  });

  it('is in the log without the secrets of its definition', () => {
    words.line(`hidden-one and hidden-two, hidden-three at /home/ada/x on 8080808 ${'long '.repeat(500)}`);
    words.dropped('is not JSON');
    const texts = logged.map(([message, fields]) => [message, String(fields?.['text']).slice(0, 54)]);
    assert.deepStrictEqual(texts, [
      ['an upstream server says', '<text> and <text>, <text> at ~/x on 8080808 long long '],
      ['what an upstream server sent is dropped: it', 'is not JSON'],
    ]);
    assert.ok(String(logged[0]?.[1]?.['text']).length <= 1000);
  });

  it('is limited, and what is left out is counted', () => {
    for (let line = 0; line < 10_000; line++) words.line(`line ${line}`);
    const lines = logged.length;
    now += 60_000;
    words.line('later');
    assert.deepStrictEqual(
      { lines, then: logged.slice(lines) },
      {
        lines: 100,
        then: [
          ['an upstream server said more than is kept', { agent: 'ada', server: 'notes', lines: 9900 }],
          ['an upstream server says', { agent: 'ada', server: 'notes', text: 'later' }],
        ],
      },
    );
  });

  it('is the reason of an end that follows soon, the error before the rest', () => {
    const silent = words.withLastWords('its process ended with code 1');
    for (const line of ["Error: Cannot find module 'x'", '    at Module._resolve', '', 'Node.js v20.19.0']) {
      words.line(line);
    }
    const soon = words.withLastWords('its process ended with code 1');
    now += 3001;
    assert.deepStrictEqual(
      [silent, soon, words.withLastWords('it ended')],
      ['its process ended with code 1', "its process ended with code 1: Error: Cannot find module 'x'", 'it ended'],
    );
  });
});
