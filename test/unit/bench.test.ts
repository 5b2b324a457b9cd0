import { readFileSync } from 'node:fs';
import t from 'tap';
import { renderChart } from '../../scripts/bench/chart.js';
import { expectEqual } from '../../scripts/bench/check.js';
import type { Dataset } from '../../scripts/bench/dataset.js';
import { failuresOf, formatFigure, ratiosOf, replaceResults, tableRow } from '../../scripts/bench/report.js';
import type { Measurement, Outcome } from '../../scripts/bench/rounds.js';
import { median, percentile, rotate } from '../../scripts/bench/statistics.js';
import type { BenchUser } from '../../scripts/bench/users.js';
import { selectWorkloads, WORKLOADS, type Workload } from '../../scripts/bench/workloads.js';
import { wrkScript } from '../../scripts/bench/wrk.js';

t.test('computes statistics', async (t) => {
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 2, 3]), 2.5);
  t.equal(percentile([1, 2, 3, 4, 5], 0.99), 4.96);
  t.equal(percentile([7], 0.99), 7);
  t.ok(Number.isNaN(median([])));
  t.same(
    [0, 1, 2].map((round) => rotate(['a', 'b'], round)),
    [
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'b'],
    ],
  );
});

const workloadNamed = (name: string) => WORKLOADS.find((workload) => workload.name === name) as Workload;

t.test('has a goal for each number of requests in flight', async (t) => {
  t.same(workloadNamed('feed').goals, {
    levels: [1, 32, 128],
    embedded: [0.05, 0.35, 0.5],
    services: [0.025, 0.3, 0.45],
  });
  t.same(workloadNamed('redis').goals.services, [undefined, 0.95, 0.95]);
  t.equal(workloadNamed('redis').goals.embedded, undefined, 'embedded stores have no Redis');
  for (const { name, goals } of WORKLOADS) {
    for (const minimums of [goals.embedded, goals.services]) {
      if (minimums) t.equal(minimums.length, goals.levels.length, name);
    }
  }
});

t.test('selects a workload with the one that it is relative to', async (t) => {
  t.same(selectWorkloads(undefined), WORKLOADS);
  t.same(
    selectWorkloads('popular-post').map(({ name }) => name),
    ['post', 'popular-post'],
  );
  t.same(selectWorkloads('nothing'), []);
  const names = WORKLOADS.map(({ name }) => name);
  t.equal(new Set(names).size, names.length);
  for (const { name, relativeTo } of WORKLOADS) {
    if (relativeTo !== undefined) t.ok(names.slice(0, names.indexOf(name)).includes(relativeTo), name);
  }
});

t.test('documents every workload', async (t) => {
  const readme = readFileSync('scripts/bench/README.md', 'utf8');
  for (const { name } of WORKLOADS) t.ok(readme.includes(`\`${name}\``), name);
});

t.test('sends the requests of all users on every connection', async (t) => {
  const users = ['a', 'b', 'c'].map((token) => ({ token }) as BenchUser);
  const dataset = { users, publicPostIds: [1, 2, 3, 4] } as Dataset;
  const tokensOf = (requests: readonly { headers: Record<string, string> }[]) =>
    requests.map(({ headers }) => headers.Authorization);
  const feed = await workloadNamed('feed').subject.connections(2, dataset, '');
  t.same(feed.map(tokensOf), [
    ['Bearer a', 'Bearer b', 'Bearer c'],
    ['Bearer b', 'Bearer c', 'Bearer a'],
  ]);
  const likes = await workloadNamed('like').subject.connections(4, dataset, '');
  t.equal(new Set(likes.flat().map(({ path }) => path)).size, 4, 'each connection likes a post of its own');
});

t.test('writes a wrk script with the requests of the connections in turn', async (t) => {
  const request = (path: string) => ({ method: 'POST', path, headers: { A: 'b' }, body: '{"c":1}' }) as const;
  const script = wrkScript([[request('/1'), request('/2')], [request('/3')]]);
  t.same(
    [...script.matchAll(/wrk\.format\((.*)\)/g)].map(([, args]) => args),
    ['/1', '/3', '/2'].map((path) => `"POST", "${path}", { ["A"] = "b" }, "{\\"c\\":1}"`),
  );
});

t.test('reports where a response differs', async (t) => {
  const expected = [{ id: 1, like_count: 3 }, { id: 2 }];
  expectEqual('GET /posts', structuredClone(expected), expected);
  const wrong = { code: 'command_error', message: /Wrong response to GET \/posts: [\s\S]*\+ +like_count: 4/ };
  t.throws(() => expectEqual('GET /posts', [{ id: 1, like_count: 4 }, { id: 2 }], expected), wrong);
  t.throws(() => expectEqual('GET /posts', [...expected, { id: 3 }], expected), { code: 'command_error' });
});

const measurement: Measurement = {
  ...{ succeeded: 1, rate: 100, p50: 1.25, p99: 4.5, failures: {}, generatorCpu: 0.5 },
  cpuMs: { server: 0.21, postgres: 0.1 },
};
const rounds = (...rates: number[]) => rates.map((rate) => ({ ...measurement, rate }));
const outcome: Outcome = {
  ...{ workload: workloadNamed('feed'), inFlight: 128, goal: 0.45 },
  ...{ subject: rounds(900, 1000, 1100), baseline: rounds(2000, 2000, 2000), against: [] },
};

t.test('divides by the baseline in the same round, and by the ratio of another workload', async (t) => {
  t.same(ratiosOf(outcome, [outcome]), [0.45, 0.5, 0.55]);
  const relative: Outcome = { ...outcome, workload: workloadNamed('private'), subject: rounds(500, 500, 500) };
  t.same(ratiosOf(relative, [outcome, relative]), [0.5, 0.5, 0.5]);
});

t.test('prints every figure with its goal', async (t) => {
  const row = tableRow(outcome, [outcome]);
  t.match(row, { 'Ratio (min–max)': '0.5 (0.45–0.55)', Goal: '≥ 0.45: yes', 'Requests/s': '1,000', 'p99 ms': '4.5' });
  t.match(row, { 'Baseline/s': 'posts 2,000', 'CPU ms/request': '0.21, postgres 0.1', 'Load generator': '50 %' });
  t.equal(tableRow({ ...outcome, goal: 0.51 }, []).Goal, '≥ 0.51: **no**');
  t.equal(tableRow({ ...outcome, goal: undefined }, []).Goal, '');
  const compared = tableRow({ ...outcome, against: rounds(1000, 1000, 1000) }, []);
  t.equal(compared['To the other checkout'], '1 (0.9–1.1)');
  const busy = { ...outcome, baseline: outcome.baseline.map((each) => ({ ...each, generatorCpu: 0.81 })) };
  t.equal(tableRow(busy, [])['Load generator'], '81 %, **too much**');
  t.same([0.0123, 99.6, 12_345, Number.NaN].map(formatFigure), ['0.0123', '99.6', '12,345', '–']);
  const failing = { ...outcome, against: [{ ...measurement, failures: { 503: 2 } }] };
  t.same(failuresOf(failing), ['feed, 128 in flight: 2 × 503']);
});

t.test('draws ratios with goals, and latencies by requests in flight', async (t) => {
  const single = { ...outcome, inFlight: 1, goal: 0.6, workload: { ...outcome.workload, title: 'a < b & c' } };
  const chart = renderChart([single, outcome]);
  t.match(chart, /class="missed"\/><path [^>]*class="goal"[\s\S]*class="met"\/><path [^>]*class="goal"/);
  t.match(chart, 'a &#60; b &#38; c');
  t.match(chart, /<polyline class="p50" points="[\d.]+,[\d.]+ [\d.]+,[\d.]+"/);
  t.match(chart, /<polyline class="p99"/);
  t.notMatch(chart, /NaN|Infinity/);
  t.notMatch(renderChart([outcome]), /polyline|NaN|Infinity/);
});

t.test('replaces the published results of one stack', async (t) => {
  const readme = readFileSync('scripts/bench/README.md', 'utf8');
  const once = replaceResults(readme, 'embedded', 'measured');
  t.match(once, '-->\n\nmeasured\n\n<!-- end of embedded -->');
  t.equal(once.split('## On real servers')[1], readme.split('## On real servers')[1]);
  t.equal(replaceResults(once, 'embedded', 'measured'), once);
  t.throws(() => replaceResults('# Something else', 'embedded', ''), /Expected <!--/);
});
