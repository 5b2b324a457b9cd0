import { createServer } from 'node:http';
import t from 'tap';
import { checkResponses } from '../../scripts/bench/dataset.js';
import type { Comparison, Measurement } from '../../scripts/bench/measure.js';
import { failuresOf, formatFigure, tableRow } from '../../scripts/bench/report.js';
import { median, percentile } from '../../scripts/bench/statistics.js';
import { WORKLOADS } from '../../scripts/bench/workloads.js';
import { listen } from '../support/listen.js';

t.test('interpolates percentiles', async (t) => {
  t.equal(median([4, 1, 2, 3]), 2.5);
  t.equal(percentile([1, 2, 3, 4, 5], 0.99), 4.96);
  t.ok(Number.isNaN(median([])));
});

t.test('every workload has requests', async (t) => {
  const operation = 'listPosts' as const;
  const responses = ['/posts', '/posts?cursor=abc', '/posts/7', '/auth/me'].map((path) => ({
    path,
    operation,
    body: [],
  }));
  for (const { name, requests } of WORKLOADS) t.equal(requests({ token: 'a', responses }).length, 1, name);
});

t.test('refuses to compare servers whose responses differ', async (t) => {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'application/json').end('[1]');
  });
  const url = `http://127.0.0.1:${await listen(t, server)}`;
  const userWith = (body: unknown) => ({
    token: 'a',
    responses: [{ path: '/posts', operation: 'listPosts' as const, body }],
  });
  await checkResponses(url, [userWith([1])]);
  await t.rejects(checkResponses(url, [userWith([2])]), { message: /^Wrong response of \S+ to GET \/posts: / });
});

const measurement: Measurement = {
  ...{ succeeded: 1, rate: 100, p50: 1.25, p99: 4.5, failures: {}, generatorCpu: 0.5, cpuMs: Number.NaN },
};
const rounds = (...rates: number[]) => rates.map((rate) => ({ ...measurement, rate }));
const comparison: Comparison = {
  ...{ workload: WORKLOADS[0] as (typeof WORKLOADS)[number], inFlight: 128 },
  ...{ service: rounds(900, 1000, 1100), baseline: rounds(2000, 2000, 1000), other: rounds(450, 250, 550) },
};

t.test('divides a rate by that of the same round, and marks a load generator at its limit', async (t) => {
  t.match(tableRow(comparison), {
    'Ratio (min–max)': '0.5 (0.45–1.1)',
    'To the other checkout': '2 (2–4)',
    'CPU ms/request': '–',
    'Load generator': '50 %',
  });
  const busy = comparison.baseline.map((each) => ({ ...each, generatorCpu: 0.81 }));
  t.equal(tableRow({ ...comparison, baseline: busy })['Load generator'], '81 %, **too much**');
  t.same([0.0123, 99.6, 12_345, Number.NaN].map(formatFigure), ['0.0123', '99.6', '12,345', '–']);
});

t.test('reports failed requests of each server', async (t) => {
  t.same(failuresOf({ ...comparison, other: [{ ...measurement, failures: { status: 2 } }] }), [
    'feed, 128 in flight: 2 × status',
  ]);
});
