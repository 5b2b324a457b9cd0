import t from 'tap';
import { createLines } from '../../scripts/progress.js';

t.test('without a terminal, prints one line for each step, with a number every 30 seconds', async (t) => {
  let printed = '';
  let now = 0;
  t.intercept(Date, 'now', { get: () => () => now });
  const lines = createLines((text) => {
    printed += text;
    return true;
  });
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
  t.equal(printed, '  copying  3, 5 of 5\n  comparing  5 of 5\n');
});
