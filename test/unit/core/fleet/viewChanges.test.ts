import { deepStrictEqual, equal } from 'node:assert/strict';
import fc from 'fast-check';
import { applyChanges, changesBetween } from '../../../../src/core/fleet/viewChanges.ts';
import { agent, blackout, endpoint, fleet, noon } from '../../webview/fleetViews.ts';

const rows = fc
  .uniqueArray(fc.constantFrom('ada', 'bo', 'cy', 'di', 'ed'))
  .chain((names) =>
    fc.tuple(
      ...names.map((name) => fc.constantFrom('idle', 'busy').map((activity) => agent(name, { activity } as const))),
    ),
  );
const view = fc
  .tuple(rows, fc.constantFrom('1 bound', '2 bound'), fc.array(fc.constantFrom('ada', 'bo'), { maxLength: 2 }))
  .map(([agents, text, dark]) =>
    fleet(agents, {
      status: { text, detail: '', severity: 'calm' },
      blackouts: dark.length === 0 ? [] : [blackout('client gave up', dark)],
    }),
  );

describe('changes between two views', () => {
  it('make the later one of the former one', () => {
    fc.assert(
      fc.property(view, view, (former, next) => {
        const changes = changesBetween(former, next);
        deepStrictEqual(changes === undefined ? former : applyChanges(former, changes), next);
      }),
    );
  });

  it('hold the row that differs and no other, which stays the same object', () => {
    const former = fleet(['ada', 'bo', 'cy'].map((name) => agent(name)));
    const next = fleet(
      ['ada', 'bo', 'cy'].map((name) =>
        agent(name, name === 'bo' ? { endpoints: [endpoint({ roundTripMs: 9 })] } : {}),
      ),
    );
    const changes = changesBetween(former, { ...next, timeline: former.timeline });
    deepStrictEqual(changes, { agents: [next.agents[1]] });
    const after = applyChanges(former, changes);
    deepStrictEqual(
      after.agents.map((row, index) => row === former.agents[index]),
      [true, false, true],
    );
    equal(
      changesBetween(former, { ...fleet(['ada', 'bo', 'cy'].map((name) => agent(name))), timeline: former.timeline }),
      undefined,
    );
  });

  it('hold of the timeline what follows at its end, also when it loses its oldest', () => {
    const entry = (at: number) => ({ at: noon + at, agent: 'ada', text: `event ${at}` });
    const [one, two, three, four] = [entry(1), entry(2), entry(3), entry(4)];
    const from = fleet([], { timeline: [one, two, three] });
    const to = { ...from, timeline: [two, three, four] };
    const changes = changesBetween(from, to);
    deepStrictEqual(changes, { timeline: { added: [four], length: 3 } });
    deepStrictEqual(applyChanges(from, changes), to);
  });

  it('hold the whole timeline where it does not go on from the former one', () => {
    const entry = (at: number) => ({ at: noon + at, agent: 'ada', text: `event ${at}` });
    const first = entry(1);
    const from = fleet([], { timeline: [first, entry(2)] });
    for (const timeline of [[entry(1), entry(2)], [first, entry(3)], []]) {
      const to = { ...from, timeline };
      deepStrictEqual(applyChanges(from, changesBetween(from, to) ?? {}), to);
    }
  });
});
