import { once } from 'node:events';
import t from 'tap';
import {
  ClientDisconnectedError,
  createConcurrencyLimiter,
  OverloadedError,
} from '../../db/support/concurrency-limiter.js';

/** Returns a job that the test completes, and whether it has started. */
function controlled() {
  const end = new AbortController();
  const state = { started: false };
  const ended = once(end.signal, 'abort');
  const work = async () => {
    state.started = true;
    await ended;
  };
  return { state, work, end: () => end.abort() };
}

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

t.test('drops a waiting job whose client has disconnected', async (t) => {
  const limiter = createConcurrencyLimiter({ concurrency: 1, maxWaitMs: 60_000 });
  const [first, dropped] = [controlled(), controlled()];
  const client = new AbortController();
  const running = limiter.run(first.work);
  const waiting = limiter.run(dropped.work, client.signal);
  client.abort();
  await t.rejects(waiting, ClientDisconnectedError);
  await t.rejects(limiter.run(dropped.work, client.signal), ClientDisconnectedError, 'it does not run later');
  first.end();
  await running;
  t.equal(await limiter.run(async () => 7), 7, 'the limiter continues');
  t.notOk(dropped.state.started);
});

t.test('rejects a job that has waited too long', async (t) => {
  const limiter = createConcurrencyLimiter({ concurrency: 1, maxWaitMs: 5 });
  const [first, late] = [controlled(), controlled()];
  const running = limiter.run(first.work);
  await t.rejects(limiter.run(late.work), OverloadedError);
  first.end();
  await running;
  t.equal(await limiter.run(async () => 7), 7);
  t.notOk(late.state.started);
});
