import { readFile } from 'node:fs/promises';
import { changesBetween } from '../../src/core/fleet/viewChanges.ts';
import type { FleetView } from '../../src/core/fleet/select.ts';
import { waitFor } from '../harness/waitFor.ts';
import { type OpenPage, PageRig } from '../integration/webview/pageRig.ts';
import { largest } from '../pictures/scenes.ts';
import { noon } from '../unit/webview/fleetViews.ts';
import { type Figure, median, type Reading } from './figure.ts';

const loads = 9;
const updates = 25;
const samples = 5;
const width = 400;

/** The built and minified Binding Health page in a real Chromium; its window is a stand-in that answers at once. */
export const webview: Figure = {
  name: 'webview',
  measure: async () => {
    const rig = await PageRig.start();
    try {
      return [await firstContent(rig), await oneCell(rig), await memory(rig)];
    } finally {
      await rig.dispose();
    }
  },
};

/** From the first paint until 50 agents with 8 endpoints each are drawn. */
async function firstContent(rig: PageRig): Promise<Reading> {
  const view: FleetView = { ...largest, agents: largest.agents.slice(0, 50) };
  const times: number[] = [];
  const whole: number[] = [];
  for (let load = 0; load < loads; load += 1) {
    const opened = await rig.open({ width, answer: { kind: 'view', view, now: noon } });
    const { painted, drawn } = await waitFor('the page', () =>
      opened.page.evaluate(() => {
        const [paint] = performance.getEntriesByName('first-paint');
        const { answeredAt } = window.recorded;
        return paint !== undefined && answeredAt !== undefined && { painted: paint.startTime, drawn: answeredAt };
      }),
    );
    times.push(Math.max(0, drawn - painted));
    whole.push(drawn);
    await opened.close();
  }
  const remark = `worst ${ms(Math.max(...times))}; ${ms(median(whole))} after the navigation`;
  return { name: 'webview: first paint to 50 agents', value: median(times), unit: 'ms', goal: 150, remark };
}

/** Scripting for a message that changes one cell among 1,600, as Chromium counts it. */
async function oneCell(rig: PageRig): Promise<Reading> {
  const opened = await rig.open({ width });
  await opened.show(largest, noon);
  const session = await opened.page.context().newCDPSession(opened.page);
  await session.send('Performance.enable');
  const scripting = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? NaN) * 1000;
  };
  const times: number[] = [];
  let mistakes = 0;
  let former = largest;
  for (let update = 0; update < updates; update += 1) {
    const next = withProbe(former, (update * 7) % former.agents.length, update % 4, 100 + update);
    const changes = changesBetween(former, next) ?? {};
    former = next;
    const before = await scripting();
    await opened.page.evaluate(
      async (sent) => {
        window.postMessage(sent, '*');
        for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
      },
      { kind: 'changes', changes, now: noon + update },
    );
    times.push((await scripting()) - before);
    const drawn = await opened.page.getByText(`${100 + update} ms`, { exact: true }).count();
    if (drawn === 0) mistakes += 1;
  }
  await opened.close();
  const remark = `worst ${ms(Math.max(...times))}; ${mistakes} not drawn`;
  const name = 'webview: one cell of 1,600, scripting';
  return { name, value: median(times), unit: 'ms', goal: 8, remark, failed: mistakes > 0 };
}

function withProbe(view: FleetView, agent: number, endpoint: number, roundTripMs: number): FleetView {
  return {
    ...view,
    agents: view.agents.map((row, at) =>
      at !== agent
        ? row
        : {
            ...row,
            endpoints: row.endpoints.map((one, column) => (column === endpoint ? { ...one, roundTripMs } : one)),
          },
    ),
  };
}

/** What the renderer of 200 agents with 8 endpoints each has more than one of the same document without the page's script; Linux only. */
async function memory(rig: PageRig): Promise<Reading> {
  const values: number[] = [];
  const heaps: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const empty = await rendererSize(rig, 'without script');
    const full = await rendererSize(rig, 'whole');
    values.push(full.pss - empty.pss);
    heaps.push(full.heap);
  }
  const remark = `worst ${Math.max(...values).toFixed(1)} MB; JavaScript heap ${median(heaps).toFixed(1)} MB`;
  return { name: 'webview: memory, 200 agents of 8', value: median(values), unit: 'MB', goal: 30, remark };
}

/** Proportional set size and JavaScript heap of a page with a renderer of its own, in MB. */
async function rendererSize(
  rig: PageRig,
  what: 'whole' | 'without script',
): Promise<{ readonly pss: number; readonly heap: number }> {
  const opened = await rig.open({ width, ...(what === 'without script' && { script: 'none' as const }) });
  if (what === 'whole') await opened.show(largest, noon);
  const session = await opened.page.context().newCDPSession(opened.page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const heap = (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? NaN) / 1e6;
  const text = await readFile(`/proc/${await rendererOf(rig, opened)}/smaps_rollup`, 'utf8');
  await opened.close();
  return { pss: Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1]) / 1000, heap };
}

/** Pid of the page's renderer: Chromium tells no pid of a page, so it is the one that works while the page does. */
async function rendererOf(rig: PageRig, { page }: OpenPage): Promise<number> {
  const before = new Map((await renderers(rig)).map(({ id, cpuTime }) => [id, cpuTime]));
  await page.evaluate(() => {
    for (const end = performance.now() + 250; performance.now() < end;);
  });
  const worked = (await renderers(rig)).map(({ id, cpuTime }) => ({ id, by: cpuTime - (before.get(id) ?? cpuTime) }));
  const [most] = worked.sort((one, other) => other.by - one.by);
  if (most === undefined) throw new Error('Chromium has no renderer');
  return most.id;
}

async function renderers(rig: PageRig): Promise<readonly { readonly id: number; readonly cpuTime: number }[]> {
  const session = await rig.browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === 'renderer');
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
