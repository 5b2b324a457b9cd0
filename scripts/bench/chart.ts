import { formatFigure } from './report.js';
import type { Outcome } from './rounds.js';

/** Dimensions in pixels. */
const BAR = { height: 16, gap: 8, left: 400, width: 420 };

const escapeXml = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/**
 * Returns an SVG with one bar per ratio and a line at its goal. The axis ends at 1, or at the largest ratio or goal if it
 * is higher.
 */
export function renderChart(outcomes: readonly Outcome[]): string {
  const goals = outcomes.map(({ goal }) => goal?.min ?? goal?.max ?? 0);
  const axisMax = Math.max(1, ...outcomes.map(({ ratio }) => ratio.median), ...goals);
  const toPixels = (value: number) => (Math.max(0, Math.min(1, value / axisMax)) * BAR.width).toFixed(1);
  const bars = outcomes.map(({ workload, inFlight, ratio, goalMet }, index) => {
    const y = index * (BAR.height + BAR.gap) + BAR.gap;
    const goal = goals[index] ?? 0;
    const textY = y + BAR.height - 4;
    return [
      `<text x="${BAR.left - 8}" y="${textY}" text-anchor="end">${escapeXml(workload.title)}, ${inFlight} in flight</text>`,
      `<rect x="${BAR.left}" y="${y}" width="${toPixels(ratio.median)}" height="${BAR.height}" class="${goalMet === false ? 'short' : 'bar'}"/>`,
      goal > 0
        ? `<path d="M${(BAR.left + Number(toPixels(goal))).toFixed(1)} ${y - 2}v${BAR.height + 4}" class="goal"/>`
        : '',
      `<text x="${BAR.left + BAR.width + 8}" y="${textY}">${formatFigure(ratio.median)}</text>`,
    ].join('');
  });
  const width = BAR.left + BAR.width + 60;
  const height = outcomes.length * (BAR.height + BAR.gap) + BAR.gap;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>Requests per second relative to a baseline; the lines mark goals</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.bar { fill: #2f7d4f } .short { fill: #c2571a } .goal { stroke: #24292f; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .goal { stroke: #e6edf3 } }
</style>
${bars.join('\n')}
</svg>
`;
}
