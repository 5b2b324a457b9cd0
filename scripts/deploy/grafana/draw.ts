import type { Panel } from './panels.js';

/** A line of a panel: times in seconds since the start of the picture, null where there is no value. */
export interface Line {
  name: string;
  points: readonly (readonly [seconds: number, value: number | null])[];
}

/** A period that is shaded in all panels. */
interface Period {
  from: number;
  to: number;
  label: string;
}

interface Picture {
  seconds: number;
  periods: readonly Period[];
  panels: readonly (Panel & { lines: readonly Line[] })[];
}

/** In pixels. A unit of `gridPos` is CELL wide or high. */
const CELL = { width: 56, height: 26 };
const MARGIN = { left: 62, right: 16, top: 32, bottom: 56 };
const HEADER_HEIGHT = 64;
const WIDTH = 24 * CELL.width;
const CHARACTER_WIDTH = 6.6;

const COLORS = ['#3b82c4', '#e08a2e', '#3f9e62', '#c9517f', '#8f68d0', '#c2a11c', '#2aa3a3', '#b0583a'];

const escapeXml = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const text = (x: number, y: number, content: string, attributes = '') =>
  `<text x="${Math.round(x)}" y="${Math.round(y)}"${attributes && ` ${attributes}`}>${escapeXml(content)}</text>`;

/** Returns an SVG of all panels, where `gridPos` places them. */
export function drawPicture({ panels, periods, seconds }: Picture): string {
  const height = HEADER_HEIGHT + CELL.height * Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  const start = 16 + 'Social posting service'.length * 11;
  const notes = periods.map(({ label }, index) => {
    const x = start + 30 + index * 200;
    return `<rect class="p${index}" x="${x}" y="24" width="14" height="14"/>${text(x + 22, 36, label)}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>The panels of the dashboard, drawn from a run under load</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #3d444d } .h { font-size: 20px; font-weight: 600 } .row { font-size: 15px; font-weight: 600 }
.t { font-weight: 600; fill: #1f2328 } .e { text-anchor: end } .m { text-anchor: middle }
.box { fill: none; stroke: #8b949e; stroke-opacity: .35 } .grid { stroke: #8b949e; stroke-opacity: .25; fill: none }
.p0 { fill: #d1242f; fill-opacity: .13 } .p1 { fill: #8250df; fill-opacity: .15 } .l { fill: none; stroke-width: 1.6; stroke-linejoin: round }
@media (prefers-color-scheme: dark) { text { fill: #b6bec7 } .t { fill: #f0f6fc } .p0, .p1 { fill-opacity: .25 } }
</style>
${text(8, 38, 'Social posting service', 'class="h"')}${notes.join('')}
${panels.map((panel) => (panel.type === 'row' ? drawRow(panel) : drawPanel(panel, periods, seconds))).join('\n')}
</svg>
`;
}

const drawRow = ({ title, collapsed, gridPos }: Panel) =>
  text(8, HEADER_HEIGHT + (gridPos.y + 0.75) * CELL.height, `${collapsed ? '▸' : '▾'} ${title}`, 'class="row"');

function drawPanel(
  { title, fieldConfig, gridPos, lines }: Picture['panels'][number],
  periods: readonly Period[],
  seconds: number,
) {
  const { unit = 'short', max } = fieldConfig?.defaults ?? {};
  const [boxX, boxY] = [gridPos.x * CELL.width + 4, HEADER_HEIGHT + gridPos.y * CELL.height + 2];
  const [boxWidth, boxHeight] = [gridPos.w * CELL.width - 8, gridPos.h * CELL.height - 6];
  const [left, top] = [boxX + MARGIN.left, boxY + MARGIN.top];
  const [width, height] = [boxWidth - MARGIN.left - MARGIN.right, boxHeight - MARGIN.top - MARGIN.bottom];
  const peak = ({ points }: Line) => Math.max(0, ...points.map(([, value]) => value ?? 0));
  const highest = max ?? roundUp(Math.max(...lines.map(peak)), unit);
  const toX = (time: number) => left + (width * time) / seconds;
  const toY = (value: number) => top + height - (height * value) / highest;
  const ticks = max === undefined ? [0, highest / 2, highest] : [0, max];
  const times = Array.from({ length: Math.floor(seconds / 60) + 1 }, (_, minute) => minute);
  // The most important lines last, above the others.
  const sorted = [...lines].sort((a, b) => peak(b) - peak(a));
  const shown = max === undefined ? sorted : [...lines];
  return [
    `<rect class="box" x="${boxX}" y="${boxY}" width="${boxWidth}" height="${boxHeight}" rx="3"/>`,
    text(boxX + 10, boxY + 17, title, 'class="t"'),
    ...periods.map(({ from, to }, index) => {
      const x = toX(from).toFixed(1);
      return `<rect class="p${index}" x="${x}" y="${top}" width="${(toX(to) - toX(from)).toFixed(1)}" height="${height}"/>`;
    }),
    ...ticks.map((value) => text(left - 6, toY(value) + 4, formatValue(value, unit, highest), 'class="e"')),
    `<path class="grid" d="${ticks.map((value) => `M${left} ${toY(value).toFixed(1)}h${width}`).join('')}"/>`,
    ...times.map((minute) => text(toX(minute * 60), top + height + 15, `${minute}:00`, 'class="m"')),
    ...shown.map((line, index) => drawLine(line, colorOf(index), toX, toY)).reverse(),
    ...drawLegend(shown, boxX + 10, boxY + boxHeight - 22, boxWidth - 20),
  ].join('');
}

/** Lines beyond the colors are gray. */
const colorOf = (index: number) => COLORS[index] ?? '#8b949e';

function drawLine({ points }: Line, color: string, toX: (time: number) => number, toY: (value: number) => number) {
  let pen = 'M';
  const path = points.map(([time, value]) => {
    if (value === null) {
      pen = 'M';
      return '';
    }
    const step = `${pen}${toX(time).toFixed(0)} ${toY(value).toFixed(1)}`;
    pen = 'L';
    return step;
  });
  return `<path class="l" stroke="${color}" d="${path.join('')}"/>`;
}

/** Returns a legend of at most two lines of text; the rest is counted. */
function drawLegend(lines: readonly Line[], left: number, top: number, width: number): string[] {
  const items: string[] = [];
  let [x, y] = [0, 0];
  for (const [index, { name }] of lines.entries()) {
    const itemWidth = 16 + name.length * CHARACTER_WIDTH + 10;
    const reserve = y > 0 && index < lines.length - 1 ? 60 : 0;
    if (x > 0 && x + itemWidth + reserve > width) {
      if (y > 0) return [...items, text(left + x, top + y + 4, `+ ${lines.length - index} more`)];
      [x, y] = [0, 15];
    }
    items.push(`<rect x="${Math.round(left + x)}" y="${top + y - 2}" width="10" height="3" fill="${colorOf(index)}"/>`);
    items.push(text(left + x + 15, top + y + 4, name));
    x += itemWidth;
  }
  return items;
}

/** Returns the next round number: 1, 2, 3, 4, 5, 6 or 8, times a power of ten, or of two for bytes. */
function roundUp(value: number, unit: string): number {
  if (value <= 0) return unit === 'bytes' ? 2 ** 20 : 1;
  const power = unit === 'bytes' ? 2 ** Math.floor(Math.log2(value)) : 10 ** Math.floor(Math.log10(value));
  const factor = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((each) => each * power >= value) ?? 10;
  return factor * power;
}

function formatValue(value: number, unit: string, highest: number): string {
  const round = (number: number) => String(Number(number.toPrecision(3)));
  if (value === 0) return '0';
  if (unit === 's') return highest >= 1 ? `${round(value)} s` : `${round(value * 1000)} ms`;
  if (unit === 'percentunit') return `${round(value * 100)} %`;
  if (unit === 'bytes') return highest >= 2 ** 30 ? `${round(value / 2 ** 30)} GiB` : `${round(value / 2 ** 20)} MiB`;
  return /ps$|^ops$/.test(unit) ? `${round(value)}/s` : round(value);
}
