import { figureOf, formatFigure, ratiosOf } from './report.js';
import type { Outcome } from './rounds.js';
import { median } from './statistics.js';

const escapeXml = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const text = (x: number, y: number, content: string, attributes = '') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escapeXml(content)}</text>`;

const WIDTH = 960;

/** Returns an SVG with a bar for each ratio and a line at its goal, and the latencies by requests in flight below. */
export function renderChart(outcomes: readonly Outcome[]): string {
  const bars = outcomes.map((outcome, index) => ratioBar(outcome, median(ratiosOf(outcome, outcomes)), index));
  const panels = latencyPanels(outcomes, bars.length * BAR.step + 40);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${panels.bottom}" role="img">
<title>Requests per second relative to a baseline, with goals; p50 and p99 latencies by requests in flight</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600 }
.met { fill: #2f7d4f } .missed { fill: #c2571a } .goal { stroke: #24292f; stroke-width: 2 } .axis { stroke: #24292f; fill: none }
.p50, .p99 { fill: none; stroke: #2f7d4f; stroke-width: 2 } .p99 { stroke: #c2571a }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .goal, .axis { stroke: #e6edf3 } }
</style>
${[...bars, ...panels.elements].join('\n')}
</svg>
`;
}

/** In pixels. A bar of full width is a ratio of 1 or more. */
const BAR = { step: 24, height: 16, left: 380, width: 500 };

function ratioBar({ workload, inFlight, goal = 0 }: Outcome, ratio: number, index: number): string {
  const y = index * BAR.step + 8;
  const toX = (value: number) => Math.max(0, Math.min(1, value)) * BAR.width;
  return [
    text(BAR.left - 8, y + 12, `${workload.title}, ${inFlight} in flight`, 'text-anchor="end"'),
    `<rect x="${BAR.left}" y="${y}" width="${toX(ratio).toFixed(1)}" height="${BAR.height}" class="${ratio < goal ? 'missed' : 'met'}"/>`,
    goal > 0 ? `<path d="M${(BAR.left + toX(goal)).toFixed(1)} ${y - 2}v${BAR.height + 4}" class="goal"/>` : '',
    text(BAR.left + BAR.width + 8, y + 12, formatFigure(ratio)),
  ].join('');
}

/** In pixels. */
const PANEL = { columns: 3, width: 320, height: 170, left: 50, plotWidth: 230, plotHeight: 100 };

/** Draws the latencies of each workload that was measured with several numbers of requests in flight, on logarithmic axes. */
function latencyPanels(outcomes: readonly Outcome[], top: number): { elements: string[]; bottom: number } {
  const names = new Set(outcomes.map(({ workload }) => workload.name));
  const groups = [...names].map((name) => outcomes.filter(({ workload }) => workload.name === name));
  const panels = groups.filter((group) => group.length > 1);
  const latencies = panels.flat().flatMap(({ subject }) => subject.flatMap(({ p50, p99 }) => [p50, p99]));
  const range = [Math.min(...latencies), Math.max(...latencies)] as const;
  const elements = panels.map((group, index) => {
    const row = Math.floor(index / PANEL.columns);
    const left = (index % PANEL.columns) * PANEL.width + PANEL.left;
    return latencyPanel(group, left, top + row * PANEL.height + 20, range);
  });
  return { elements, bottom: top + Math.ceil(panels.length / PANEL.columns) * PANEL.height };
}

function latencyPanel(group: readonly Outcome[], left: number, top: number, [min, max]: readonly [number, number]) {
  const { plotWidth, plotHeight } = PANEL;
  const maxInFlight = Math.max(...group.map(({ inFlight }) => inFlight));
  const toX = (inFlight: number) => left + (plotWidth * Math.log(inFlight)) / Math.log(maxInFlight);
  const toY = (ms: number) => top + (plotHeight * Math.log(max / ms)) / Math.log(max / min);
  const line = (name: 'p50' | 'p99') => {
    const ys = group.map(({ subject }) => toY(figureOf(subject, (each) => each[name])));
    const points = group.map(({ inFlight }, index) => `${toX(inFlight).toFixed(1)},${ys[index]?.toFixed(1)}`);
    const label = text(left + plotWidth + 4, (ys.at(-1) ?? 0) + 4, name);
    return `<polyline class="${name}" points="${points.join(' ')}"/>${label}`;
  };
  const ticks = [0.1, 1, 10, 100, 1000].filter((ms) => ms >= min && ms <= max);
  return [
    text(left, top - 6, `${group[0]?.workload.title}, ms`, 'class="title"'),
    `<path class="axis" d="M${left} ${top}v${plotHeight}h${plotWidth}"/>`,
    ...ticks.map((ms) => text(left - 6, toY(ms) + 4, String(ms), 'text-anchor="end"')),
    ...group.map(({ inFlight: n }) => text(toX(n), top + plotHeight + 16, String(n), 'text-anchor="middle"')),
    line('p50'),
    line('p99'),
  ].join('');
}
