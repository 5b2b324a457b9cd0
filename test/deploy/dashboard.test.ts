import { readFileSync } from 'node:fs';
import t from 'tap';
import { needsProgram } from '../support/processes.js';
import { scrape } from '../support/prometheus.js';
import { unknownNames } from '../support/promql.js';
import { sendTraffic, startTestService } from '../support/service.js';
import { freshDataDirectory } from '../support/stores.js';
import { until } from '../support/until.js';
import { startPrometheus } from './programs.js';

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
  /** The panels of a collapsed row. */
  panels?: Panel[];
}

const COLUMNS = 24;

// The stores are embedded. They have all metrics except those of Redis, which no query uses.
const service = await startTestService(t, { DATA_DIR: await freshDataDirectory(t) });
await sendTraffic(service);

const topLevel: Panel[] = JSON.parse(readFileSync('scripts/deploy/grafana/dashboard.json', 'utf8')).panels;
const panels = topLevel.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
const graphs = panels.filter(({ type }) => type !== 'row');
const queries = graphs.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));

t.test('every query names metrics and labels that a running service has', async (t) => {
  const exposition = await scrape(service.opsUrl);
  for (const { title, expr } of queries) t.same(unknownNames(expr, exposition), [], title);
});

t.test('every query selects the job, and every legend uses only labels that its query groups by', async (t) => {
  for (const { title, expr, legendFormat } of queries) {
    const selectors = expr.match(/\{[^}]*\}/g) ?? [];
    t.ok(selectors.length > 0, title);
    for (const selector of selectors) t.match(selector, /^\{job="social-posting"/, title);
    const [, grouping = ''] = /\bby \(([^)]*)\)/.exec(expr) ?? [];
    const labels = grouping.split(/,\s*/);
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) t.ok(labels.includes(label), title);
  }
});

t.test('Prometheus returns data for every query', needsProgram('prometheus'), async (t) => {
  const query = await startPrometheus(t, service.opsUrl);
  const scrapes = async () => Number((await query('min(count_over_time(batch_size_count[1h]))'))[0]?.value[1] ?? 0);
  // A rate needs two scrapes of the same series.
  await until(async () => (await scrapes()) >= 2);
  for (const { title, expr } of queries) {
    const series = await query(expr.replaceAll('$__rate_interval', '1h'));
    t.ok(series.length > 0, title);
    for (const { value } of series) t.match(value[1], /^(NaN|-?[\d.e+-]+)$/, title);
  }
});

t.test('panels have different ids, and do not overlap', async (t) => {
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = (panel: Panel) => {
    const { x, y, w, h } = panel.gridPos;
    t.ok(x + w <= COLUMNS, panel.title);
    return Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`);
  };
  // Panels of collapsed rows take space only when their row is expanded, which moves the others down.
  const taken = topLevel.flatMap(cells);
  t.equal(new Set(taken).size, taken.length);
  for (const { title, panels: nested = [] } of topLevel) {
    const within = nested.flatMap(cells);
    t.equal(new Set(within).size, within.length, title);
  }
});
