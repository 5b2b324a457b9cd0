import t from 'tap';
import { batched } from '../../db/support/batch.js';

/** A loader that answers when the test says so, and remembers what it was asked. */
function heldLoader(options = {}) {
  const batches: { keys: number[]; answer(values: number[]): void; fail(error: Error): void }[] = [];
  const load = (keys: number[]) =>
    new Promise<number[]>((answer, fail) => {
      batches.push({ keys, answer, fail });
    });
  return { batches, ask: batched(load, options) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test('calls of one turn go together, and each gets the value of its own key', async (t) => {
  const { batches, ask } = heldLoader();
  const answers = [ask(3), ask(1), ask(3)];
  await turn();
  t.same(
    batches.map(({ keys }) => keys),
    [[3, 1, 3]],
  );
  batches[0]?.answer([30, 10, 31]);
  t.same(await Promise.all(answers), [30, 10, 31]);
});

t.test('no more go together than may', async (t) => {
  const { batches, ask } = heldLoader({ longest: 2 });
  const answers = [1, 2, 3].map(ask);
  await turn();
  await turn();
  t.same(
    batches.map(({ keys }) => keys),
    [[1, 2], [3]],
  );
  batches[0]?.answer([1, 2]);
  batches[1]?.answer([3]);
  t.same(await Promise.all(answers), [1, 2, 3]);
});

t.test('while two batches are under way, those that arrive wait together', async (t) => {
  const { batches, ask } = heldLoader();
  const answers = [];
  for (const key of [1, 2, 3, 4]) {
    answers.push(ask(key));
    await turn();
  }
  t.same(
    batches.map(({ keys }) => keys),
    [[1], [2]],
  );
  batches[1]?.answer([2]);
  await turn();
  await turn();
  t.same(
    batches.map(({ keys }) => keys),
    [[1], [2], [3, 4]],
    'the next goes as soon as one has come back',
  );
  batches[2]?.answer([3, 4]);
  batches[0]?.answer([1]);
  t.same(await Promise.all(answers), [1, 2, 3, 4]);
});

t.test('a batch starts after its calls were made, so that no answer is older than its question', async (t) => {
  let value = 0;
  const ask = batched(async (keys: number[]) => {
    const read = value;
    await turn();
    return keys.map(() => read);
  });
  const questions: Promise<void>[] = [];
  for (let written = 1; written <= 200; written += 1) {
    value = written;
    questions.push(
      ask(0).then((read) => void t.ok(read >= written, `asked after ${written} was written, read ${read}`)),
    );
    if (written % 3 === 0) await turn();
  }
  await Promise.all(questions);
});

t.test('a batch that fails fails its own calls and no others', async (t) => {
  const { batches, ask } = heldLoader();
  const failing = [ask(1), ask(2)];
  await turn();
  const fine = ask(3);
  await turn();
  batches[0]?.fail(new Error('lost'));
  batches[1]?.answer([3]);
  for (const { status } of await Promise.allSettled(failing)) t.equal(status, 'rejected');
  t.equal(await fine, 3);
  const later = ask(4);
  await turn();
  batches[2]?.answer([4]);
  t.equal(await later, 4, 'and the next one goes as ever');
});

t.test('a loader that answers too few values fails the batch', async (t) => {
  const ask = batched(async (_: number[]) => [1]);
  const answers = await Promise.allSettled([ask(1), ask(2)]);
  t.same(
    answers.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});

t.test('a long queue goes in bounded batches, first come first served', async (t) => {
  const sizes: number[] = [];
  const order: number[] = [];
  const ask = batched(async (keys: number[]) => {
    sizes.push(keys.length);
    order.push(...keys);
    return keys;
  });
  const keys = Array.from({ length: 1234 }, (_, index) => index);
  t.same(await Promise.all(keys.map(ask)), keys);
  t.same(order, keys);
  t.ok(Math.max(...sizes) <= 500, `batches of ${sizes}`);
});
