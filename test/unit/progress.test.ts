import { mock } from 'node:test';
import t from 'tap';
import { showProgress } from '../../scripts/support/progress.js';

t.test('without a terminal, a step prints a line only when it takes longer than five seconds', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const written = t.capture(process.stderr, 'write');
  await showProgress(async (progress) => {
    progress('short', 0, 10);
    mock.timers.tick(4000);
    progress('short', 10, 10);
    progress('long', 0, 10);
    mock.timers.tick(4000);
    progress('long', 7, 10);
    mock.timers.tick(7000);
    progress('long', 10, 10);
  });
  mock.timers.tick(60_000);
  t.same(
    written().map(({ args }) => args[0]),
    ['  long  7 of 10\n', '  long  7 of 10\n'],
  );
});
