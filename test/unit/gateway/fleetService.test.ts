import assert from 'node:assert/strict';
import { silentLog } from '../../../src/base/log.ts';
import type { Effect } from '../../../src/core/fleet/effects.ts';
import type { FleetEvent } from '../../../src/core/fleet/events.ts';
import { reduceAll } from '../../../src/core/fleet/reduce.ts';
import { emptyFleet } from '../../../src/core/fleet/state.ts';
import { FleetService } from '../../../src/gateway/fleetService.ts';
import type { NumberedEvent } from '../../../src/node/stateFiles.ts';
import { FakeTimers } from '../../harness/gatewayTimers.ts';

const name = 'ada';
const server = 'bowline-self';
const launch = { id: 'ada.1', mode: 'fresh', requestedAt: 1_000, cause: 'person' } as const;
const epoch = { id: 'e1', startedAt: 500, port: 'was closed' } as const;
const configuration = { directory: '/d', extraArguments: [], environment: {}, servers: { [server]: 'on' } } as const;
const begin: readonly FleetEvent[] = [
  { at: 500, kind: 'epoch started', epoch },
  { at: 900, kind: 'agent created', name, configuration },
  { at: 1_000, kind: 'launch requested', name, launch },
];
const process = { tmuxSession: '$1', pane: '%1', pid: 7 };
const launched: FleetEvent = { at: 1_100, kind: 'launched', name, launchId: launch.id, process };

describe('FleetService', () => {
  let timers: FakeTimers;
  let now: number;
  let added: NumberedEvent[];
  /** How many of them were there at each commit. */
  let commits: number[];
  let refusal: Error | undefined;
  let service: FleetService;
  let events: NumberedEvent[];
  let effects: string[][];
  beforeEach(() => {
    timers = new FakeTimers();
    now = 1_000;
    added = [];
    commits = [];
    refusal = undefined;
    events = [];
    effects = [];
    service = new FleetService({
      state: emptyFleet,
      clock: () => now,
      log: silentLog,
      after: timers.after,
      journal: {
        add: (event) => {
          added.push(event);
        },
        commit: () => {
          commits.push(added.length);
          return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
        },
      },
    });
    service.onEvent((event) => events.push(event));
    service.onEffects((set) => effects.push(set.map(({ id }: Effect) => id)));
    service.start();
  });
  afterEach(() => {
    service.dispose();
  });

  it('numbers what changed the state, and only that: a mirror that folds the same is equal', () => {
    for (const event of begin) service.report(event);
    service.report({ at: 1_001, kind: 'agent removed', name: 'nobody' });
    assert.deepStrictEqual(
      { sequences: events.map(({ sequence }) => sequence), mirror: reduceAll(events.map(({ event }) => event)) },
      { sequences: [1, 2, 3], mirror: service.state },
    );
  });

  it('plans at once for the answer that a launch waits for, and soon for the one that changes nothing', () => {
    const subject = { name, server, launchId: launch.id } as const;
    const session = 'digest';
    const client = { name: 'claude-code', version: '2.1.332', protocolVersion: '2025-11-25' };
    const hook = { event: 'SessionStart', sessionId: 's1', transcriptExists: false } as const;
    for (const event of [...begin, launched]) service.report(event);
    now = 2_000;
    service.report({ at: now, kind: 'hook reported', name, launchId: launch.id, hook });
    service.report({ ...subject, at: now, kind: 'mcp initialized', session, client });
    service.report({ ...subject, at: now, kind: 'mcp tools listed', session });
    service.report({ ...subject, at: now, kind: 'mcp stream opened', session });
    service.report({ ...subject, at: now, kind: 'probe answered', sentAt: now, roundTripMs: 1 });
    const verified = events.at(-1)?.event.kind;
    now += 30_000;
    service.report({ ...subject, at: now, kind: 'probe answered', sentAt: now, roundTripMs: 1 });
    assert.deepStrictEqual([verified, timers.delays().includes(50)], ['launch verified', true]);
  });

  it('takes what a clock that was ahead told as happening now', () => {
    for (const event of begin) service.report({ ...event, at: event.at + 3_600_000 });
    assert.deepStrictEqual(
      [events.map(({ event }) => event.at), service.state.agents[name]?.createdAt],
      [[now, now, now], now],
    );
  });

  it('gives the journal every event before it is told: the same numbers, and they make up the state', () => {
    const early: number[] = [];
    service.onEvent(({ sequence }) => early.push(added.filter((one) => one.sequence === sequence).length));
    for (const event of begin) service.report(event);
    assert.deepStrictEqual(
      { added, early, state: reduceAll(added.map(({ event }) => event)) },
      { added: events, early: [1, 1, 1], state: service.state },
    );
  });

  it('tells once that the disk refuses and once that it takes everything again, and goes on meanwhile', async () => {
    refusal = new Error('no space');
    for (const event of begin) await assert.rejects(service.reportDurably(event), /no space/);
    const told = (): string[] => service.state.notices.map(({ code, severity }) => `${code} ${severity}`);
    const during = { told: told(), agents: Object.keys(service.state.agents) };
    refusal = undefined;
    await service.flush();
    assert.deepStrictEqual(
      { during, after: told() },
      {
        during: { told: ['state-not-written error'], agents: [name] },
        after: ['state-not-written error', 'state-written info'],
      },
    );
  });

  it('tells each new set of effects once', () => {
    for (const event of begin) service.report(event);
    service.report({ at: 1_050, kind: 'host resumed' });
    service.report(launched);
    assert.deepStrictEqual(effects, [['launch:ada.1'], []]);
  });

  it('tells every listener the same order, also what a listener reports', () => {
    const first: number[] = [];
    const second: number[] = [];
    service.onEvent(({ sequence, event }) => {
      first.push(sequence);
      if (event.kind === 'epoch started') {
        service.report({ at: 501, kind: 'noticed', notice: { at: 501, code: 'x', sentence: 'x', severity: 'info' } });
      }
    });
    service.onEvent(({ sequence }) => second.push(sequence));
    service.report({ at: 500, kind: 'epoch started', epoch });
    assert.deepStrictEqual(
      [first, second],
      [
        [1, 2],
        [1, 2],
      ],
    );
  });

  it('wakes by itself when time alone changes the plan: an agent that never connected becomes an incident', () => {
    for (const event of [...begin, launched]) service.report(event);
    now = 1_100 + 60_000;
    timers.fire();
    assert.deepStrictEqual(
      {
        incident: service.state.agents[name]?.incidents[server]?.cause,
        told: events.some(({ event }) => event.kind === 'incident opened'),
      },
      { incident: 'never connected', told: true },
    );
  });

  it('resolves a durable report when a state with it was saved, all at once in few writes', async () => {
    const reports = begin.map((event) => service.reportDurably(event));
    await Promise.all(reports);
    assert.deepStrictEqual(
      { last: commits.at(-1) === added.length, writes: commits.length <= 2 },
      { last: true, writes: true },
    );
  });

  it('writes probes and proofs only with something that matters', async () => {
    for (const event of [...begin, launched]) service.report(event);
    await service.flush();
    const endpoint = { name, server, launchId: launch.id };
    service.report({ at: 1_200, kind: 'mcp proof seen', ...endpoint, session: 's' });
    service.report({ at: 1_200, kind: 'probe failed', ...endpoint, sentAt: 1_200 });
    const lazy = timers.delays().includes(60_000);
    service.report({ at: 1_200, kind: 'mcp tools listed', ...endpoint, session: 's' });
    assert.deepStrictEqual(
      { lazy, durable: timers.delays().includes(150), stillLazy: timers.delays().includes(60_000) },
      { lazy: true, durable: true, stillLazy: false },
    );
  });
});
