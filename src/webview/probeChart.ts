import { html, nothing, svg, type TemplateResult } from 'lit';
import type { ProbeSample } from '../protocol/webview.ts';
import { probeFigures } from './probeFigures.ts';
import { clockTime } from './relativeTime.ts';

/** Slots of the chart: the newest probe is at its right end, however many there are. */
const slots = 40;
const height = 36;
/** The scale ends here or at the worst: answers take 2 - 6 ms, and a chart that fills itself with those would look like trouble. */
const calmScaleMs = 20;

/** The probe times of an endpoint as bars; one that was not answered is a cross. */
export function probeChart(probes: readonly ProbeSample[], now: number): TemplateResult | typeof nothing {
  const figures = probeFigures(probes);
  const [first] = probes;
  if (figures === undefined || first === undefined || probes.length < 2) return nothing;
  const { latest, median, worst, unanswered } = figures;
  const scale = Math.max(calmScaleMs, worst);
  const lost = unanswered === 0 ? '' : `, ${unanswered} not answered`;
  return html`<figure class="probes">
    <svg
      role="img"
      aria-label="The last ${probes.length} probes: latest ${latest} ms, median ${median} ms, worst ${worst} ms${lost}"
      height=${height}
    >
      ${probes.slice(-slots).map((probe, index, shown) => bar(probe, slots - shown.length + index, scale))}
      <line class="axis" x1="0" x2="100%" y1=${height - 0.5} y2=${height - 0.5} />
    </svg>
    <figcaption>
      <span>median ${median} ms</span> <span>worst ${worst} ms</span>
      ${unanswered === 0 ? nothing : html`<span class="strong">${unanswered} not answered</span>`}
      <span>since ${clockTime(first.at, now)}</span>
    </figcaption>
  </figure>`;
}

function bar({ ms }: ProbeSample, slot: number, scale: number): TemplateResult {
  const width = 100 / slots;
  const x = slot * width + width * 0.15;
  if (ms === undefined) {
    const middle = `${(slot + 0.5) * width}%`;
    return svg`<text class="lost" x=${middle} y=${height - 4} text-anchor="middle">×</text>`;
  }
  const tall = Math.max(2, (ms / scale) * (height - 4));
  return svg`<rect class="bar" x="${x}%" width="${width * 0.7}%" y=${height - tall} height=${tall} />`;
}
