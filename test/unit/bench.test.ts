import { readFileSync } from 'node:fs';
import t from 'tap';
import { chartOf } from '../../scripts/bench/chart.js';
import { difference } from '../../scripts/bench/check.js';
import { goalOf, holds, tellGoal } from '../../scripts/bench/goals.js';
import { withSpeed } from '../../scripts/bench/readme.js';
import { failuresOf, figure, lineOf, pageOf, rowOf } from '../../scripts/bench/report.js';
import type { Outcome } from '../../scripts/bench/rounds.js';
import { median, percentile, rotated, spreadOf } from '../../scripts/bench/statistics.js';
import { selectWorks, WORKS, type Work } from '../../scripts/bench/works.js';

t.test('statistics', async (t) => {
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 2, 3]), 2.5);
  t.equal(percentile([1, 2, 3, 4, 5], 0.99), 4.96);
  t.equal(percentile([7], 0.99), 7);
  t.ok(Number.isNaN(median([])));
  t.same(spreadOf([10, 9, 100]), { median: 10, least: 9, most: 100 });
  t.same(
    [0, 1, 2].map((round) => rotated(['a', 'b'], round)),
    [
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'b'],
    ],
  );
});

t.test('the goals are those that were set', async (t) => {
  const table = ['feed', 'post', 'like', 'me', 'login', 'image-up', 'image-down'].map((work) => [
    work,
    ...[1, 32, 128].map((inFlight) => goalOf('services', work, inFlight)?.least),
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
  for (const inFlight of [32, 128]) t.same(goalOf('embedded', 'feed', inFlight), { least: 0.25, tail: 4 });
  for (const stack of ['embedded', 'services'] as const) {
    for (const { name, inFlight } of WORKS.filter(
      ({ data, yardstick }) => data !== 'base' || !yardstick.startsWith('Y'),
    )) {
      for (const each of inFlight) t.ok(goalOf(stack, name, each), `${name} has a goal on ${stack}`);
    }
  }
});

t.test('a goal holds by the median, and by the tail where one is asked', async (t) => {
  const spread = (median: number) => ({ median, least: 0, most: 10 });
  const latency = { p50: 2, p99: 8 };
  t.equal(holds({ least: 0.5 }, spread(0.5), latency), true);
  t.equal(holds({ least: 0.5 }, spread(0.49), latency), false);
  t.equal(holds({ most: 1.1 }, spread(1.2), latency), false);
  t.equal(holds({ least: 0.5, tail: 4 }, spread(0.5), latency), true);
  t.equal(holds({ least: 0.5, tail: 4 }, spread(0.5), { p50: 2, p99: 8.1 }), false);
  t.equal(holds(undefined, spread(1), latency), undefined);
  t.equal(tellGoal({ least: 0.4, stretch: 0.6 }), '≥ 0.4 (stretch: 0.6)');
  t.equal(tellGoal({ least: 0.25, tail: 4 }), '≥ 0.25 and p99 ≤ 4 × p50');
  t.equal(tellGoal(undefined), '–');
});

t.test('works are told apart by name, and bring along what they are held against', async (t) => {
  t.equal(new Set(WORKS.map(({ name }) => name)).size, WORKS.length);
  t.notOk(
    selectWorks(undefined).some(({ name }) => name === 'memory'),
    'the long one only when asked for',
  );
  t.equal(selectWorks(undefined).length, WORKS.length - 1);
  t.same(
    selectWorks('popular-post').map(({ name, inFlight }) => [name, inFlight]),
    [
      ['post', [128]],
      ['popular-post', [128]],
    ],
  );
  t.same(selectWorks('nothing'), []);
  for (const { name, against } of WORKS) {
    if (against === undefined) continue;
    const names = WORKS.map((work) => work.name);
    t.ok(names.indexOf(against) >= 0 && names.indexOf(against) < names.indexOf(name), `${name} comes after ${against}`);
  }
});

t.test('a wrong answer is told by where it differs', async (t) => {
  const right = [
    { id: 1, like_count: 3 },
    { id: 2, like_count: 0 },
  ];
  t.equal(difference(structuredClone(right), right), undefined);
  t.equal(difference([right[0], { id: 2, like_count: 1 }], right), 'the body.1.like_count is 1, not 0');
  t.equal(difference([right[1], right[0]], right), 'the body.0.id is 2, not 1');
  t.equal(difference([right[0]], right), 'the body.1 is undefined, not {"id":2,"like_count":0}');
  t.equal(difference([...right, 3], right), 'the body.2 is 3, not undefined');
  t.equal(difference([{ ...right[0], text: 'x' }, right[1]], right), 'the body.0.text is "x", not undefined');
});

const measured = { rate: 1234.5, p50: 1.25, p99: 4.5, cpu: 0.21, memory: 2 ** 20 * 200, busy: 0.5, others: {} };
const feed = WORKS.find(({ name }) => name === 'feed') as Work;
const outcome: Outcome = {
  work: feed,
  inFlight: 128,
  goal: goalOf('services', 'feed', 128),
  ratio: { median: 0.45, least: 0.4, most: 0.5 },
  subject: measured,
  reference: { ...measured, rate: 2743, others: { 503: 2 } },
  holds: true,
};

t.test('every figure stands beside its goal', async (t) => {
  t.match(rowOf(outcome), { Ratio: '0.45', 'Least–most': '0.4–0.5', Goal: '≥ 0.4 (stretch: 0.6)', Holds: 'yes' });
  t.match(rowOf(outcome), { 'req/s': '1,235', 'p50 ms': '1.25', 'p99 ms': '4.5', 'RSS MiB': '200' });
  t.equal(rowOf({ ...outcome, holds: false }).Holds, 'NO');
  t.same(failuresOf(outcome), ['feed, 128 in flight: 503 (2 times)']);
  t.same([figure(0.0123), figure(99.6), figure(12_345), figure(Number.NaN)], ['0.0123', '99.6', '12,345', '–']);

  const machine = { processor: '2 × X', node: 'v20', stores: 'PostgreSQL 18', commit: 'abc', date: '2026-01-01' };
  const page = pageOf({ stack: 'services', machine, outcomes: [outcome], rounds: 5, seconds: 5 });
  t.match(page, '2 × X; Node v20; PostgreSQL 18; commit abc; 2026-01-01. 5 rounds');
  t.match(page, /^\| GET \/posts \| 128 \| Y0 \| 0\.45 \| 0\.4–0\.5 \| ≥ 0\.4 \(stretch: 0\.6\) \| yes \|/m);
  t.match(page, 'Not answered as asked: feed, 128 in flight: 503 (2 times).');
  const chart = chartOf([outcome, { ...outcome, work: { ...feed, title: 'a < b & c' }, holds: false }]);
  t.match(chart, /class="bar"[\s\S]*class="goal"[\s\S]*class="short"/);
  t.match(chart, 'a &#60; b &#38; c');
});

t.test('the README has a place for the figures of each stack, and keeps the other’s', async (t) => {
  const readme = readFileSync('README.md', 'utf8');
  const line = lineOf('services', [outcome]);
  t.match(line, /^- On PostgreSQL, Neo4j and S3, `GET \/posts` reaches 0\.45 at 128 in flight, 1,235 a second/);
  const once = withSpeed(readme, 'services', line, '- here');
  const lines = once.split('\n');
  const at = lines.indexOf(line);
  t.equal(lines[at - 1], readme.split('\n')[at - 1], 'the other stack’s line is as it was');
  t.equal(lines[at + 1], '- here');
  t.equal(lines.length, readme.split('\n').length);
  t.equal(withSpeed(once, 'services', line, '- here'), once);
  t.throws(() => withSpeed('# Something else', 'embedded', line, '- here'), /no place/);
});
