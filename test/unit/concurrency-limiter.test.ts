import t from 'tap';
import { createConcurrencyLimiter } from '../../db/support/concurrency-limiter.js';
import { ClientDisconnectedError } from '../../db/support/errors.js';

/* `test/feed-scans.test.ts` covers jobs that wait too long, or whose client disconnects while they wait. */

t.test('runs up to its limit concurrently, in order of arrival', async (t) => {
  const limiter = createConcurrencyLimiter({ concurrency: 2, maxWaitMs: 60_000 });
  const order: number[] = [];
  let [running, most] = [0, 0];
  await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      limiter.run(async () => {
        order.push(index);
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
      }),
    ),
  );
  t.equal(most, 2);
  t.same(order, order.toSorted());
});

t.test('continues after a failed job', async (t) => {
  const limiter = createConcurrencyLimiter({ concurrency: 1, maxWaitMs: 60_000 });
  const failing = limiter.run(() => Promise.reject(new TypeError('broken')));
  const next = limiter.run(async () => 7);
  await t.rejects(failing, TypeError);
  t.equal(await next, 7);
});

t.test('does not run a job whose client has already disconnected', async (t) => {
  const limiter = createConcurrencyLimiter({ concurrency: 1, maxWaitMs: 60_000 });
  const job = limiter.run(async () => t.fail('it runs'), AbortSignal.abort());
  await t.rejects(job, ClientDisconnectedError);
  t.equal(await limiter.run(async () => 7), 7);
});
