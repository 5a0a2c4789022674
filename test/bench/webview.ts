import { readFile } from 'node:fs/promises';
import { changesBetween } from '../../src/core/fleet/viewChanges.ts';
import type { FleetView } from '../../src/core/fleet/select.ts';
import { waitFor } from '../harness/waitFor.ts';
import { PageRig } from '../integration/webview/pageRig.ts';
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
  let former = largest;
  for (let update = 0; update < updates; update += 1) {
    const next = withProbe(former, (update * 7) % former.agents.length, update % 8, 10 + update);
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
  }
  await opened.close();
  const remark = `worst ${ms(Math.max(...times))}`;
  return { name: 'webview: one cell of 1,600, scripting', value: median(times), unit: 'ms', goal: 8, remark };
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

/** Proportional set size and JavaScript heap, in MB, of a page with a renderer of its own. */
async function rendererSize(
  rig: PageRig,
  what: 'whole' | 'without script',
): Promise<{ readonly pss: number; readonly heap: number }> {
  const former = await renderers(rig);
  const opened = await rig.open({
    width,
    ...(what === 'without script' && { script: 'none' as const }),
  });
  if (what === 'whole') await opened.show(largest, noon);
  const session = await opened.page.context().newCDPSession(opened.page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const heap = (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? NaN) / 1e6;
  const own = (await renderers(rig)).filter((pid) => !former.includes(pid));
  let pss = 0;
  for (const pid of own) {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
    pss += Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1]) / 1000;
  }
  await opened.close();
  return { pss, heap };
}

async function renderers(rig: PageRig): Promise<readonly number[]> {
  const session = await rig.browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
