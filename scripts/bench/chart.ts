import { figure } from './report.js';
import type { Outcome } from './rounds.js';

const BAR = { height: 16, gap: 8, left: 400, width: 420 };

const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A bar for every ratio, from 0 to 1 or to the largest there is, and a mark where its goal lies. */
export function chartOf(outcomes: readonly Outcome[]): string {
  const goals = outcomes.map(({ goal }) => goal?.least ?? goal?.most ?? 0);
  const full = Math.max(1, ...outcomes.map(({ ratio }) => ratio.median), ...goals);
  const x = (value: number) => (Math.max(0, Math.min(1, value / full)) * BAR.width).toFixed(1);
  const bars = outcomes.map(({ work, inFlight, ratio, holds }, index) => {
    const y = index * (BAR.height + BAR.gap) + BAR.gap;
    const goal = goals[index] ?? 0;
    const text = y + BAR.height - 4;
    return [
      `<text x="${BAR.left - 8}" y="${text}" text-anchor="end">${escaped(work.title)}, ${inFlight} in flight</text>`,
      `<rect x="${BAR.left}" y="${y}" width="${x(ratio.median)}" height="${BAR.height}" class="${holds === false ? 'short' : 'bar'}"/>`,
      goal > 0 ? `<path d="M${(BAR.left + Number(x(goal))).toFixed(1)} ${y - 2}v${BAR.height + 4}" class="goal"/>` : '',
      `<text x="${BAR.left + BAR.width + 8}" y="${text}">${figure(ratio.median)}</text>`,
    ].join('');
  });
  const width = BAR.left + BAR.width + 60;
  const height = outcomes.length * (BAR.height + BAR.gap) + BAR.gap;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>Requests per second as a share of a yardstick; the marks are goals</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.bar { fill: #2f7d4f } .short { fill: #c2571a } .goal { stroke: #24292f; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .goal { stroke: #e6edf3 } }
</style>
${bars.join('\n')}
</svg>
`;
}
