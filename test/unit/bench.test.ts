import { readFileSync } from 'node:fs';
import t from 'tap';
import { renderChart } from '../../scripts/bench/chart.js';
import { cpuMsBetween } from '../../scripts/bench/processes.js';
import { failuresOf, formatFigure, ratiosOf, replaceResults, tableRow } from '../../scripts/bench/report.js';
import type { Measurement, Outcome } from '../../scripts/bench/rounds.js';
import { median, percentile } from '../../scripts/bench/statistics.js';
import { selectWorkloads, WORKLOADS, type Workload } from '../../scripts/bench/workloads.js';
import { runCommand } from '../support/processes.js';

const README = readFileSync('scripts/bench/README.md', 'utf8');

t.test('interpolates percentiles', async (t) => {
  t.equal(median([4, 1, 2, 3]), 2.5);
  t.equal(percentile([1, 2, 3, 4, 5], 0.99), 4.96);
  t.ok(Number.isNaN(median([])));
});

t.test('every workload is documented, has all goals, and follows the one that it is relative to', async (t) => {
  const names = WORKLOADS.map(({ name }) => name);
  t.equal(new Set(names).size, names.length);
  for (const [index, { name, goals, relativeTo }] of WORKLOADS.entries()) {
    t.ok(README.includes(`\`${name}\``), name);
    for (const minimums of [goals.embedded, goals.services]) {
      if (minimums) t.equal(minimums.length, goals.levels.length, name);
    }
    if (relativeTo !== undefined) t.ok(names.slice(0, index).includes(relativeTo), name);
  }
});

t.test('publishes only complete runs', async (t) => {
  for (const options of [['--quick'], ['--only', 'post']]) {
    const output = /^error: option '--publish' cannot be used with option '--(quick|only)/;
    t.match(await runCommand(t, ['bench/index', '--publish', ...options], {}), { code: 2, output });
  }
});

t.test('selects a workload with the one that it is relative to', async (t) => {
  t.same(selectWorkloads(undefined), WORKLOADS);
  t.same(
    selectWorkloads('popular-post').map(({ name }) => name),
    ['post', 'popular-post'],
  );
  t.same(selectWorkloads('nothing'), []);
});

const workloadNamed = (name: string) => WORKLOADS.find((workload) => workload.name === name) as Workload;
const measurement: Measurement = {
  ...{ succeeded: 1, rate: 100, p50: 1.25, p99: 4.5, failures: {}, generatorCpu: 0.5 },
  cpuMs: { server: 0.21, postgres: 0.1 },
};
const rounds = (...rates: number[]) => rates.map((rate) => ({ ...measurement, rate }));
const outcome: Outcome = {
  ...{ workload: workloadNamed('feed'), inFlight: 128, goal: 0.45 },
  ...{ subject: rounds(900, 1000, 1100), baseline: rounds(2000, 2000, 2000), otherCheckout: [] },
};

t.test('divides a rate by the baseline in the same round, and by the median ratio of another workload', async (t) => {
  t.same(ratiosOf(outcome, [outcome]), [0.45, 0.5, 0.55]);
  const relative: Outcome = { ...outcome, workload: workloadNamed('private'), subject: rounds(500, 500, 500) };
  t.same(ratiosOf(relative, [outcome, relative]), [0.5, 0.5, 0.5]);
});

t.test('reports whether goals are met, failed requests, and a load generator at its limit', async (t) => {
  t.match(tableRow(outcome, [outcome]), { 'Ratio (min–max)': '0.5 (0.45–0.55)', Goal: '≥ 0.45: yes' });
  t.equal(tableRow({ ...outcome, goal: 0.51 }, []).Goal, '≥ 0.51: **no**');
  const busy = { ...outcome, baseline: outcome.baseline.map((each) => ({ ...each, generatorCpu: 0.81 })) };
  t.equal(tableRow(busy, [])['Load generator'], '81 %, **too much**');
  t.same([0.0123, 99.6, 12_345, Number.NaN].map(formatFigure), ['0.0123', '99.6', '12,345', '–']);
  const failing = { ...outcome, otherCheckout: [{ ...measurement, failures: { 503: 2 } }] };
  t.same(failuresOf(failing), ['feed, 128 in flight: 2 × 503']);
});

t.test('does not print CPU time if one of the processes has ended', async (t) => {
  const before = new Map([
    [1, 100],
    [2, 50],
  ]);
  t.equal(cpuMsBetween(before, new Map([...before, [1, 130], [3, 7]])), 37, 'a new process counts');
  t.equal(cpuMsBetween(before, new Map([[1, 130]])), undefined);
  t.equal(cpuMsBetween(new Map(), new Map()), undefined);
  const partly = { ...measurement, cpuMs: { server: 0.3, postgres: undefined } };
  const cpuOf = (subject: Measurement[]) => tableRow({ ...outcome, subject }, [])['CPU ms/request'];
  t.equal(cpuOf([measurement, partly]), '0.255, postgres 0.1');
  t.equal(cpuOf([partly]), '0.3');
  t.equal(cpuOf([{ ...measurement, cpuMs: { server: undefined } }]), '');
});

t.test('draws a chart for one or several numbers of requests in flight', async (t) => {
  const chart = renderChart([{ ...outcome, inFlight: 1 }, outcome]);
  t.match(chart, /<polyline class="p99"/);
  for (const each of [chart, renderChart([outcome])]) t.notMatch(each, /NaN|Infinity/);
});

t.test('replaces the published results of one stack', async (t) => {
  const once = replaceResults(README, 'embedded', 'measured');
  t.match(once, '-->\n\nmeasured\n\n<!-- end of embedded -->');
  t.equal(once.split('## On real servers')[1], README.split('## On real servers')[1]);
});
