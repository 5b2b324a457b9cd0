import t from 'tap';
import { createLines } from '../../scripts/progress.js';

t.test('without a terminal, prints a line when a step ends, and every 30 seconds of a long one', async (t) => {
  const printed = t.capture(console, 'error');
  let now = 0;
  t.intercept(Date, 'now', { get: () => () => now });
  const lines = createLines();
  for (const [step, done, seconds] of [
    ['copying', 1, 0],
    ['copying', 2, 29],
    ['copying', 3, 30],
    ['copying', 4, 59],
    ['copying', 5, 60],
    ['comparing', 1, 61],
    ['comparing', 5, 62],
  ] as const) {
    now = seconds * 1000;
    lines.show(step, done, 5);
  }
  lines.end();
  t.same(
    printed().map(({ args }) => args[0]),
    ['  copying  3 of 5', '  copying  5 of 5', '  comparing  5 of 5'],
  );
});
