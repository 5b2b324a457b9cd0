import { setImmediate as nextIteration } from 'node:timers/promises';
import t from 'tap';
import { BoundedQueue, type QueuedWork } from '../../db/support/bounded-queue.js';
import { ClientDisconnectedError, OverloadedError } from '../../db/support/errors.js';

const LIMITS = { maxRunning: 1, maxWaiting: 100, maxWaitMs: 60_000 };

/** Creates a queue whose work the test ends. */
function createControlledQueue(limits: Partial<ConstructorParameters<typeof BoundedQueue>[0]> = {}) {
  const queue = new BoundedQueue({ ...LIMITS, ...limits });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string, queued: QueuedWork = {}): Promise<string> =>
    queue.run(queued, () => {
      started.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    });
  return {
    queue,
    started,
    run,
    /** Adds work whose outcome does not matter, and waits until it has started or is waiting. */
    async add(names: readonly string[], queued: QueuedWork = {}) {
      for (const name of names) run(name, queued).catch(() => undefined);
      await nextIteration();
    },
    async end(name: string) {
      ends.get(name)?.();
      await nextIteration();
    },
  };
}

t.test('work runs up to the limit, in the order of its arrival', async (t) => {
  const { add, end, started, queue } = createControlledQueue({ maxRunning: 2 });
  await add(['1', '2', '3', '4']);
  t.same(started, ['1', '2']);
  t.match(queue.usage, { running: 2, waiting: 2 });
  await end('2');
  await end('1');
  t.same(started, ['1', '2', '3', '4']);
});

t.test('work waits until its weight fits, and smaller work behind it does not overtake it', async (t) => {
  const { add, end, started, queue } = createControlledQueue({ maxRunning: 100 });
  await add(['60'], { weight: 60 });
  await add(['50'], { weight: 50 });
  await add(['10'], { weight: 10 });
  t.same(started, ['60']);
  t.match(queue.usage, { running: 60, waiting: 60 });
  await end('60');
  t.same(started, ['60', '50', '10']);
  await end('50');
  await end('10');
  await add(['large'], { weight: 1000 });
  t.equal(started.at(-1), 'large', 'work that exceeds the limit alone runs by itself');
  await end('large');
  t.match(queue.usage, { running: 0, waiting: 0, refused: 0, abandoned: 0 });
});

t.test('the work of one key has a limit of its own, in all lanes, and does not delay others', async (t) => {
  const { add, end, started } = createControlledQueue({ maxRunning: 3, maxRunningPerKey: 1 });
  await add(['a1', 'a2'], { key: 'a', lane: 'one' });
  await add(['a3'], { key: 'a', lane: 'other' });
  await add(['b1'], { key: 'b', lane: 'one' });
  t.same(started, ['a1', 'b1']);
  await end('a1');
  t.equal(started.length, 3);
  await end(started[2] ?? '');
  t.same(started.slice(2).sort(), ['a2', 'a3']);
});

t.test('lanes take turns', async (t) => {
  const { add, end, started } = createControlledQueue();
  await add(['a1', 'a2', 'a3'], { lane: 'a' });
  await add(['b1', 'b2'], { lane: 'b' });
  for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await end(name);
  t.same(started, ['a1', 'a2', 'b1', 'a3', 'b2']);
});

t.test('keys take turns in their lane, and work without a key has one of its own', async (t) => {
  const { run, add, end, started, queue } = createControlledQueue({ maxWaiting: 6 });
  await add(['a1', 'a2', 'a3', 'a4'], { key: 'a' });
  await add(['b1', 'b2'], { key: 'b' });
  const excess = t.rejects(run('a5', { key: 'a' }), OverloadedError);
  await add(['x', 'y']);
  await excess;
  t.match(queue.usage, { waiting: 6, refused: 2 }, 'the newest work of the longest key is refused');
  for (const name of ['a1', 'a2', 'b1', 'x', 'y', 'a3', 'b2']) await end(name);
  t.same(started, ['a1', 'a2', 'b1', 'x', 'y', 'a3', 'b2']);
});

t.test('if too much is waiting, the newest work of the longest lane is refused', async (t) => {
  const { run, add, started, queue, end } = createControlledQueue({ maxWaiting: 3 });
  await add(['running', 'a1', 'a2'], { lane: 'a' });
  const newest = t.rejects(run('a3', { lane: 'a' }), OverloadedError);
  await add(['b1'], { lane: 'b' });
  await newest;
  t.match(queue.usage, { running: 1, waiting: 3, refused: 1 });
  for (const name of ['running', 'a1', 'b1', 'a2']) await end(name);
  t.same(started.toSorted(), ['a1', 'a2', 'b1', 'running']);
});

t.test('work that waits too long is refused, and work behind it starts if it fits', async (t) => {
  const { run, add, queue, started } = createControlledQueue({ maxRunning: 100, maxWaitMs: 1 });
  await add(['60'], { weight: 60 });
  const waiting = run('50', { weight: 50 });
  const next = run('10', { weight: 10 });
  await t.rejects(waiting, OverloadedError);
  await Promise.race([next, nextIteration()]);
  t.same(started, ['60', '10']);
  t.match(queue.usage, { running: 70, waiting: 0, refused: 1 });
});

t.test('waiting work whose client disconnects never starts; running work continues', async (t) => {
  const { run, add, end, started, queue } = createControlledQueue();
  const [leaving, staying] = [new AbortController(), new AbortController()];
  const running = run('running', { signal: staying.signal });
  const abandoned = run('abandoned', { signal: leaving.signal });
  await add(['next']);
  leaving.abort();
  staying.abort();
  await t.rejects(abandoned, ClientDisconnectedError);
  await t.rejects(run('late', { signal: leaving.signal }), ClientDisconnectedError);
  t.match(queue.usage, { running: 1, waiting: 1, refused: 0, abandoned: 2 });
  await end('running');
  t.equal(await running, 'running');
  t.same(started, ['running', 'next']);
});

t.test('when waiting work is abandoned, work behind it starts if it fits', async (t) => {
  const { run, add, started } = createControlledQueue({ maxRunning: 100 });
  const leaving = new AbortController();
  await add(['60'], { weight: 60 });
  const abandoned = run('50', { weight: 50, signal: leaving.signal });
  await add(['10'], { weight: 10 });
  leaving.abort();
  await t.rejects(abandoned, ClientDisconnectedError);
  await nextIteration();
  t.same(started, ['60', '10']);
});

t.test('failed work makes room for the next', async (t) => {
  const queue = new BoundedQueue({ ...LIMITS, maxRunningPerKey: 1 });
  const failing = queue.run({ key: 'a' }, () => Promise.reject(new TypeError('broken')));
  const next = queue.run({ key: 'a' }, async () => 7);
  await t.rejects(failing, TypeError);
  t.equal(await next, 7);
  t.match(queue.usage, { running: 0, waiting: 0 });
});
