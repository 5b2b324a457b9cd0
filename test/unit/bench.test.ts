import { readFileSync } from 'node:fs';
import t from 'tap';
import { renderChart } from '../../scripts/bench/chart.js';
import { findDifference } from '../../scripts/bench/check.js';
import { formatGoal, goalOf, isGoalMet } from '../../scripts/bench/goals.js';
import { updateSpeedSection } from '../../scripts/bench/readme.js';
import { failuresOf, formatFigure, renderPage, renderReadmeLine, tableRow } from '../../scripts/bench/report.js';
import type { Outcome } from '../../scripts/bench/rounds.js';
import { median, percentile, rotate, spreadOf } from '../../scripts/bench/statistics.js';
import { selectWorkloads, WORKLOADS, type Workload } from '../../scripts/bench/workloads.js';

t.test('computes statistics', async (t) => {
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 2, 3]), 2.5);
  t.equal(percentile([1, 2, 3, 4, 5], 0.99), 4.96);
  t.equal(percentile([7], 0.99), 7);
  t.ok(Number.isNaN(median([])));
  t.same(spreadOf([10, 9, 100]), { median: 10, min: 9, max: 100 });
  t.same(
    [0, 1, 2].map((round) => rotate(['a', 'b'], round)),
    [
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'b'],
    ],
  );
});

t.test('has the documented goals', async (t) => {
  const table = ['feed', 'post', 'like', 'me', 'login', 'image-up', 'image-down'].map((work) => [
    work,
    ...[1, 32, 128].map((inFlight) => goalOf('services', work, inFlight)?.min),
  ]);
  t.same(table, [
    ['feed', 0.03, 0.2, 0.4],
    ['post', 0.03, 0.2, 0.35],
    ['like', 0.02, 0.15, 0.25],
    ['me', 0.6, 0.8, 0.8],
    ['login', 0.85, 0.9, 0.9],
    ['image-up', 0.6, 0.6, 0.6],
    ['image-down', 0.6, 0.6, 0.6],
  ]);
  t.equal(goalOf('services', 'feed', 128)?.stretch, 0.6);
  t.equal(goalOf('embedded', 'feed', 1), undefined);
  for (const inFlight of [32, 128]) t.same(goalOf('embedded', 'feed', inFlight), { min: 0.25, maxTailRatio: 4 });
  for (const stack of ['embedded', 'services'] as const) {
    for (const { name, inFlight } of WORKLOADS.filter(
      ({ dataset, baselineLabel }) => dataset !== 'base' || !baselineLabel.startsWith('B'),
    )) {
      for (const each of inFlight) t.ok(goalOf(stack, name, each), `${name} has a goal on ${stack}`);
    }
  }
});

t.test('compares goals with the median, and with the tail if required', async (t) => {
  const spread = (median: number) => ({ median, min: 0, max: 10 });
  const latency = { p50: 2, p99: 8 };
  t.equal(isGoalMet({ min: 0.5 }, spread(0.5), latency), true);
  t.equal(isGoalMet({ min: 0.5 }, spread(0.49), latency), false);
  t.equal(isGoalMet({ max: 1.1 }, spread(1.2), latency), false);
  t.equal(isGoalMet({ min: 0.5, maxTailRatio: 4 }, spread(0.5), latency), true);
  t.equal(isGoalMet({ min: 0.5, maxTailRatio: 4 }, spread(0.5), { p50: 2, p99: 8.1 }), false);
  t.equal(isGoalMet(undefined, spread(1), latency), undefined);
  t.equal(formatGoal({ min: 0.4, stretch: 0.6 }), '≥ 0.4 (stretch: 0.6)');
  t.equal(formatGoal({ min: 0.25, maxTailRatio: 4 }), '≥ 0.25 and p99 ≤ 4 × p50');
  t.equal(formatGoal(undefined), '–');
});

t.test('selects workloads by name, with the baselines that they need', async (t) => {
  t.equal(new Set(WORKLOADS.map(({ name }) => name)).size, WORKLOADS.length);
  t.notOk(
    selectWorkloads(undefined).some(({ name }) => name === 'memory'),
    'the long one only if selected',
  );
  t.equal(selectWorkloads(undefined).length, WORKLOADS.length - 1);
  t.same(
    selectWorkloads('popular-post').map(({ name, inFlight }) => [name, inFlight]),
    [
      ['post', [128]],
      ['popular-post', [128]],
    ],
  );
  t.same(selectWorkloads('nothing'), []);
  for (const { name, relativeTo } of WORKLOADS) {
    if (relativeTo === undefined) continue;
    const names = WORKLOADS.map((work) => work.name);
    t.ok(
      names.indexOf(relativeTo) >= 0 && names.indexOf(relativeTo) < names.indexOf(name),
      `${name} comes after ${relativeTo}`,
    );
  }
});

t.test('reports where a response differs', async (t) => {
  const right = [
    { id: 1, like_count: 3 },
    { id: 2, like_count: 0 },
  ];
  t.equal(findDifference(structuredClone(right), right), undefined);
  t.equal(findDifference([right[0], { id: 2, like_count: 1 }], right), 'body.1.like_count is 1, expected 0');
  t.equal(findDifference([right[1], right[0]], right), 'body.0.id is 2, expected 1');
  t.equal(findDifference([right[0]], right), 'body.1 is undefined, expected {"id":2,"like_count":0}');
  t.equal(findDifference([...right, 3], right), 'body.2 is 3, expected undefined');
  t.equal(findDifference([{ ...right[0], text: 'x' }, right[1]], right), 'body.0.text is "x", expected undefined');
});

const measured = {
  rate: 1234.5,
  p50: 1.25,
  p99: 4.5,
  cpuMs: 0.21,
  rssBytes: 2 ** 20 * 200,
  generatorCpuShare: 0.5,
  failures: {},
};
const feed = WORKLOADS.find(({ name }) => name === 'feed') as Workload;
const outcome: Outcome = {
  workload: feed,
  inFlight: 128,
  goal: goalOf('services', 'feed', 128),
  ratio: { median: 0.45, min: 0.4, max: 0.5 },
  subject: measured,
  baseline: { ...measured, rate: 2743, failures: { 503: 2 } },
  goalMet: true,
};

t.test('prints every figure with its goal', async (t) => {
  t.match(tableRow(outcome), { Ratio: '0.45', 'Min–max': '0.4–0.5', Goal: '≥ 0.4 (stretch: 0.6)', Met: 'yes' });
  t.match(tableRow(outcome), { 'req/s': '1,235', 'p50 ms': '1.25', 'p99 ms': '4.5', 'RSS MiB': '200' });
  t.equal(tableRow({ ...outcome, goalMet: false }).Met, 'NO');
  t.same(failuresOf(outcome), ['feed, 128 in flight: 503 (2 times)']);
  t.same(
    [formatFigure(0.0123), formatFigure(99.6), formatFigure(12_345), formatFigure(Number.NaN)],
    ['0.0123', '99.6', '12,345', '–'],
  );

  const machine = { processor: '2 × X', node: 'v20', stores: 'PostgreSQL 18', commit: 'abc', date: '2026-01-01' };
  const page = renderPage({ stack: 'services', machine, outcomes: [outcome], rounds: 5, seconds: 5 });
  t.match(page, '2 × X; Node v20; PostgreSQL 18; commit abc; 2026-01-01. 5 rounds');
  t.match(page, /^\| GET \/posts \| 128 \| B0 \| 0\.45 \| 0\.4–0\.5 \| ≥ 0\.4 \(stretch: 0\.6\) \| yes \|/m);
  t.match(page, 'Failed requests: feed, 128 in flight: 503 (2 times).');
  const chart = renderChart([outcome, { ...outcome, workload: { ...feed, title: 'a < b & c' }, goalMet: false }]);
  t.match(chart, /class="bar"[\s\S]*class="goal"[\s\S]*class="short"/);
  t.match(chart, 'a &#60; b &#38; c');
});

t.test('updates the README figures of one stack and keeps those of the other', async (t) => {
  const readme = readFileSync('README.md', 'utf8');
  const line = renderReadmeLine('services', [outcome]);
  t.match(
    line,
    /^- On PostgreSQL, Neo4j and S3, `GET \/posts` reaches 0\.45 at 128 requests in flight \(1,235 requests per second\)/,
  );
  const once = updateSpeedSection(readme, 'services', line, '- here');
  const lines = once.split('\n');
  const at = lines.indexOf(line);
  t.equal(lines[at - 1], readme.split('\n')[at - 1], 'the line of the other stack is unchanged');
  t.equal(lines[at + 1], '- here');
  t.equal(lines.length, readme.split('\n').length);
  t.equal(updateSpeedSection(once, 'services', line, '- here'), once);
  t.throws(() => updateSpeedSection('# Something else', 'embedded', line, '- here'), /Expected <!--/);
});
