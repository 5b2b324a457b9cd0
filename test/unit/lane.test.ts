import { once } from 'node:events';
import t from 'tap';
import { createLane, OverloadedError } from '../../db/support/lane.js';

/** Returns a job that completes when the test says so, and whether it has started. */
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
  const lane = createLane({ concurrency: 2, maxWaitMs: 60_000 });
  const order: number[] = [];
  let [running, most] = [0, 0];
  await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      lane.run(async () => {
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
  const lane = createLane({ concurrency: 1, maxWaitMs: 60_000 });
  const failing = lane.run(() => Promise.reject(new TypeError('broken')));
  const next = lane.run(async () => 7);
  await t.rejects(failing, TypeError);
  t.equal(await next, 7);
});

t.test('drops a waiting job whose client has disconnected', async (t) => {
  const lane = createLane({ concurrency: 1, maxWaitMs: 60_000 });
  const [first, dropped] = [controlled(), controlled()];
  const client = new AbortController();
  const running = lane.run(first.work);
  const waiting = lane.run(dropped.work, client.signal);
  client.abort();
  await t.rejects(waiting, OverloadedError);
  await t.rejects(lane.run(dropped.work, client.signal), OverloadedError, 'it does not run later');
  first.end();
  await running;
  t.equal(await lane.run(async () => 7), 7, 'the lane continues');
  t.notOk(dropped.state.started);
});

t.test('rejects a job that has waited too long', async (t) => {
  const lane = createLane({ concurrency: 1, maxWaitMs: 5 });
  const [first, late] = [controlled(), controlled()];
  const running = lane.run(first.work);
  await t.rejects(lane.run(late.work), OverloadedError);
  first.end();
  await running;
  t.equal(await lane.run(async () => 7), 7);
  t.notOk(late.state.started);
});
