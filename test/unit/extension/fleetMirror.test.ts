import { deepStrictEqual, equal } from 'node:assert/strict';
import fc from 'fast-check';
import { reduceAll } from '../../../src/core/fleet/reduce.ts';
import type { FleetEvent } from '../../../src/core/fleet/events.ts';
import { emptyFleet } from '../../../src/core/fleet/state.ts';
import { FleetMirror } from '../../../src/extension/fleetMirror.ts';
import { fleetEventSchema } from '../../../src/protocol/fleetEvent.ts';
import { fleetStateSchema } from '../../../src/protocol/fleetState.ts';

const events: readonly FleetEvent[] = [
  { at: 1, kind: 'epoch started', epoch: { id: 'epoch-1', startedAt: 1, port: 'kept open' } },
  ...['ada', 'bo', 'cy'].map((name, index): FleetEvent => ({
    at: 2 + index,
    kind: 'agent created',
    name,
    configuration: { directory: '/work', extraArguments: [], environment: {}, servers: {} },
  })),
  { at: 9, kind: 'agent removed', name: 'bo' },
  { at: 10, kind: 'hands changed', holder: 'window-1' },
];

function told(sequence: number, count = 1): Parameters<FleetMirror['accept']>[0] {
  const some = events.slice(sequence - 1, sequence - 1 + count);
  return { kind: 'events', sequence, events: some.map((one) => fleetEventSchema.parse(one)) };
}

function snapshot(sequence: number): Parameters<FleetMirror['accept']>[0] {
  return { kind: 'snapshot', sequence, state: fleetStateSchema.parse(reduceAll(events.slice(0, sequence))) };
}

describe('the mirror of the fleet', () => {
  it('is the fleet of the gateway, wherever the snapshot came between the events', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: events.length }), fc.integer({ min: 0, max: 3 }), (at, repeated) => {
        const mirror = new FleetMirror();
        mirror.accept(snapshot(at));
        for (let sequence = Math.max(1, at - repeated); sequence <= events.length; sequence += 1) {
          mirror.accept(told(sequence));
        }
        deepStrictEqual(mirror.state, reduceAll(events));
      }),
    );
  });

  it('takes of several events at once those that it does not know', () => {
    const mirror = new FleetMirror();
    const outcomes = [
      mirror.accept(snapshot(2)),
      mirror.accept(told(1, 4)),
      mirror.accept(told(2, 3)),
      mirror.accept(told(5, 2)),
    ];
    deepStrictEqual([outcomes, mirror.state], [['changed', 'changed', 'ignored', 'changed'], reduceAll(events)]);
  });

  it('stands still after a missed number until a snapshot comes', () => {
    const mirror = new FleetMirror();
    const outcomes = [
      mirror.accept(told(1)),
      mirror.accept(snapshot(2)),
      mirror.accept(told(4)),
      mirror.accept(told(3)),
      mirror.accept(snapshot(5)),
      mirror.accept(told(6)),
    ];
    deepStrictEqual(outcomes, ['ignored', 'changed', 'gap', 'ignored', 'changed', 'changed']);
    deepStrictEqual(mirror.state, reduceAll(events));
  });

  it('keeps the last state when the connection goes, and shows the state file only before the first', () => {
    const mirror = new FleetMirror();
    const fromFile = reduceAll(events.slice(0, 2));
    mirror.remember(fromFile);
    equal(mirror.state, fromFile);
    mirror.accept(snapshot(4));
    mirror.disconnect();
    mirror.remember(emptyFleet);
    deepStrictEqual([mirror.state, mirror.isSynchronised], [reduceAll(events.slice(0, 4)), false]);
  });
});
