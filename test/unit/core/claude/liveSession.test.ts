import { deepStrictEqual } from 'node:assert/strict';
import { readLiveSession, readSessionClaim } from '../../../../src/core/claude/liveSession.ts';
import { recordOf } from '../../../../src/core/claude/fields.ts';
import { fixture, versions } from './fixtures.ts';

describe('live-session files', () => {
  for (const version of versions) {
    it(`are read from claude ${version}`, () => {
      const read = (name: string): unknown => {
        const session = readLiveSession(JSON.parse(fixture(version, 'sessions', `${name}.json`)));
        if (session === undefined) return undefined;
        const { pid, sessionId, startedAt, updatedAt, ...rest } = session;
        return { ...rest, numbers: pid > 1 && startedAt > 1.7e12 && updatedAt > 1.7e12, id: sessionId.length };
      };
      const common = { directory: '/home/user/project', version, numbers: true, id: 36 };
      deepStrictEqual(['idle', 'busy', 'waiting'].map(read), [
        { ...common, status: 'idle' },
        { ...common, status: 'busy' },
        { ...common, status: 'waiting', waitingFor: 'permission prompt' },
      ]);
    });
  }

  for (const version of versions) {
    it(`tell what a process of claude ${version} works on, also without a status`, () => {
      const file = recordOf(JSON.parse(fixture(version, 'sessions', 'waiting.json'))) ?? {};
      const { status: _status, waitingFor: _for, ...young } = file;
      const claims = [file, young].map((value) => {
        const claim = readSessionClaim(value);
        if (claim === undefined) return undefined;
        const { pid, sessionId, processStart = '', startedAt, ...rest } = claim;
        return {
          ...rest,
          seen: pid > 1 && sessionId.length === 36 && /^\d+$/.test(processStart) && startedAt !== undefined,
        };
      });
      const common = { directory: '/home/user/project', version, kind: 'interactive', entrypoint: 'cli', seen: true };
      deepStrictEqual(claims, [{ ...common, status: 'waiting', waitingFor: 'permission prompt' }, common]);
    });
  }

  it('of another form are not read', () => {
    const good = { pid: 7, sessionId: 'a', cwd: '/', version: '1.0.0', status: 'idle', startedAt: 1, updatedAt: 2 };
    const bad = [
      { ...good, status: 'new' },
      { ...good, pid: '7' },
      { ...good, pid: 0 },
      { ...good, sessionId: undefined },
      { ...good, cwd: '' },
      { ...good, updatedAt: 'now' },
      [good],
      'token',
      null,
    ];
    deepStrictEqual(
      [good, ...bad].map((value) => readLiveSession(value)?.status),
      ['idle', ...bad.map(() => undefined)],
    );
  });
});
