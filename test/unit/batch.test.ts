import { setImmediate as nextIteration } from 'node:timers/promises';
import t from 'tap';
import { batched } from '../../db/support/batch.js';
import { StoreUnavailableError } from '../../db/support/errors.js';

/** Returns a loader with its batches, which the test completes. */
function controlledLoader() {
  const batches: { keys: number[]; resolve(values: number[]): void; fail(error: Error): void }[] = [];
  const loadBatch = (keys: number[]) =>
    new Promise<number[]>((resolve, fail) => {
      batches.push({ keys, resolve, fail });
    });
  return { batches, keys: () => batches.map((batch) => batch.keys), load: batched(loadBatch) };
}

t.test('batches the calls of one event loop iteration, and returns to each the value of its key', async (t) => {
  const { batches, keys, load } = controlledLoader();
  const results = [load(3), load(1), load(3)];
  await nextIteration();
  t.same(keys(), [[3, 1, 3]]);
  batches[0]?.resolve([30, 10, 31]);
  t.same(await Promise.all(results), [30, 10, 31]);
});

t.test('collects calls while two batches are in progress', async (t) => {
  const { batches, keys, load } = controlledLoader();
  const results = [];
  for (const key of [1, 2, 3, 4]) {
    results.push(load(key));
    await nextIteration();
  }
  t.same(keys(), [[1], [2]]);
  batches[1]?.resolve([2]);
  await nextIteration();
  await nextIteration();
  t.same(keys(), [[1], [2], [3, 4]], 'the next batch starts as soon as one has completed');
  batches[2]?.resolve([3, 4]);
  batches[0]?.resolve([1]);
  t.same(await Promise.all(results), [1, 2, 3, 4]);
});

t.test('starts a batch after its calls, so that no result is older than its call', async (t) => {
  let value = 0;
  const load = batched(async (keys: number[]) => {
    const read = value;
    await nextIteration();
    return keys.map(() => read);
  });
  const calls: Promise<void>[] = [];
  for (let written = 1; written <= 200; written += 1) {
    value = written;
    calls.push(load(0).then((read) => void t.ok(read >= written, `called after ${written} was written, read ${read}`)));
    if (written % 3 === 0) await nextIteration();
  }
  await Promise.all(calls);
});

t.test('a failed batch rejects only its own calls', async (t) => {
  const { batches, load } = controlledLoader();
  const failing = [load(1), load(2)];
  await nextIteration();
  const fine = load(3);
  await nextIteration();
  batches[0]?.fail(new Error('lost'));
  batches[1]?.resolve([3]);
  for (const { status } of await Promise.allSettled(failing)) t.equal(status, 'rejected');
  t.equal(await fine, 3);
  const later = load(4);
  await nextIteration();
  batches[2]?.resolve([4]);
  t.equal(await later, 4, 'the next batch succeeds');
});

/** Starts three loads, one in each iteration of the event loop: two batches run, and the third load waits. */
async function loadThree(load: (key: number) => Promise<number>): Promise<Promise<number>[]> {
  const results: Promise<number>[] = [];
  for (const key of [1, 2, 3]) {
    const result = load(key);
    result.catch(() => undefined);
    results.push(result);
    await nextIteration();
  }
  return results;
}

t.test('a batch whose store reports that it is unavailable does not reject the calls that wait', async (t) => {
  const { batches, load } = controlledLoader();
  const results = await loadThree(load);
  batches[0]?.fail(new StoreUnavailableError('postgres', { responded: true }));
  await t.rejects(Promise.resolve(results[0]), StoreUnavailableError);
  await nextIteration();
  batches[2]?.resolve([3]);
  t.equal(await results[2], 3);
  batches[1]?.resolve([2]);
});

t.test('a batch whose store does not respond also rejects the calls that wait', async (t) => {
  const { batches, keys, load } = controlledLoader();
  const [first, second, waiting] = await loadThree(load);
  batches[0]?.fail(new StoreUnavailableError('postgres'));
  for (const result of [first, waiting]) await t.rejects(Promise.resolve(result), StoreUnavailableError);
  t.same(keys(), [[1], [2]], 'no batch was started for the waiting call');
  batches[1]?.resolve([2]);
  t.equal(await second, 2);
});

t.test('rejects a batch whose loader returns too few values', async (t) => {
  const load = batched(async (_: number[]) => [1]);
  const results = await Promise.allSettled([load(1), load(2)]);
  const statuses = results.map(({ status }) => status);
  t.same(statuses, ['rejected', 'rejected']);
});

t.test('batches have at most 500 calls by default, in order', async (t) => {
  const batches: number[][] = [];
  const load = batched(async (keys: number[]) => {
    batches.push(keys);
    return keys;
  });
  const keys = Array.from({ length: 1234 }, (_, index) => index);
  t.same(await Promise.all(keys.map(load)), keys);
  t.same(batches.flat(), keys);
  t.ok(Math.max(...batches.map(({ length }) => length)) <= 500);
});
