import t from 'tap';
import type { HttpError } from '../../handlers/errors.js';
import { createHashQueue, type HashJobOptions } from '../../handlers/security/hash-queue.js';

/** Creates a queue whose jobs the test completes. */
function createControlledQueue(options: Parameters<typeof createHashQueue>[0]) {
  const queue = createHashQueue(options);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string, job: HashJobOptions): Promise<string> =>
    queue.run(job, () => {
      started.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    });
  return {
    queue,
    started,
    run,
    /** Adds jobs whose outcome does not matter. */
    add(names: readonly string[], job: HashJobOptions): void {
      for (const name of names) void run(name, job);
    },
    async end(name: string) {
      ends.get(name)?.();
      // The next job starts a few microtasks later.
      await new Promise(setImmediate);
    },
  };
}

/** Returns the status and the headers of the error of a job that was not run, or 'none'. */
const refusal = (job: Promise<unknown>) =>
  job.then(
    () => 'none',
    ({ status, headers }: HttpError) => ({ status, headers }),
  );

const FULL = { status: 503, headers: { 'Retry-After': '3' } };
const ABANDONED = { status: 499 };

t.test('lanes take turns', async (t) => {
  const { add, end, started } = createControlledQueue({ concurrency: 1 });
  add(['l1', 'l2', 'l3'], { lane: 'unauthenticated' });
  add(['a1', 'a2'], { lane: 'authenticated' });
  for (const name of ['l1', 'a1', 'l2', 'a2']) await end(name);
  t.same(started, ['l1', 'a1', 'l2', 'a2', 'l3']);
});

t.test('jobs with the same key run one after another, in any lane, and do not delay others', async (t) => {
  const { add, end, started, queue } = createControlledQueue({ concurrency: 3 });
  add(['a1'], { lane: 'unauthenticated', key: 'a' });
  add(['a2'], { lane: 'unauthenticated', key: 'a' });
  add(['a3'], { lane: 'authenticated', key: 'a' });
  add(['b1'], { lane: 'unauthenticated', key: 'b' });
  add(['any'], { lane: 'unauthenticated' });
  t.same(started, ['a1', 'b1', 'any']);
  t.match(queue.counts, { running: 3, waiting: 2 });
  await end('b1');
  t.equal(started.length, 3);
  await end('a1');
  t.same(started.slice(3), ['a3']);
  await end('a3');
  t.same(started.slice(4), ['a2']);
});

t.test('a waiting job whose client disconnects never starts; a running one continues', async (t) => {
  const { run, end, started, queue } = createControlledQueue({ concurrency: 1 });
  const [leaving, staying] = [new AbortController(), new AbortController()];
  const running = run('running', { lane: 'unauthenticated', signal: staying.signal });
  const abandoned = run('abandoned', { lane: 'unauthenticated', signal: leaving.signal });
  const next = run('next', { lane: 'unauthenticated' });
  leaving.abort();
  staying.abort();
  t.match(await refusal(abandoned), ABANDONED);
  t.match(await refusal(run('late', { lane: 'unauthenticated', signal: leaving.signal })), ABANDONED);
  t.match(queue.counts, { running: 1, waiting: 1, refused: 0, abandoned: 2 });
  await end('running');
  t.equal(await running, 'running');
  await end('next');
  t.equal(await next, 'next');
  t.same(started, ['running', 'next']);
});

t.test('refuses a job if the expected waiting time would exceed its maximum', async (t) => {
  const { run, add, queue } = createControlledQueue({ concurrency: 2, maxWaitMs: 50, initialEstimateMs: 25 });
  add(['1', '2', '3', '4', '5', '6'], { lane: 'unauthenticated' });
  t.same(await refusal(run('7', { lane: 'unauthenticated' })), FULL);
  t.match(queue.counts, { running: 2, waiting: 4, refused: 1, abandoned: 0 });
});

t.test('a flood in one lane leaves half of the queue to the other', async (t) => {
  const { run, add, end, started } = createControlledQueue({ concurrency: 1, maxWaitMs: 100, initialEstimateMs: 25 });
  const logins = ['l1', 'l2', 'l3', 'l4', 'l5'].map((name) => run(name, { lane: 'unauthenticated' }));
  add(['a1', 'a2'], { lane: 'authenticated' });
  t.same(await refusal(logins[4] as Promise<string>), FULL);
  t.same(await refusal(logins[3] as Promise<string>), FULL);
  t.same(await refusal(run('a3', { lane: 'authenticated' })), FULL);
  for (const name of ['l1', 'a1', 'l2', 'a2']) await end(name);
  t.same(started, ['l1', 'a1', 'l2', 'a2', 'l3']);
});

t.test('the queue is shorter when jobs take longer, and limited when they take no time', async (t) => {
  for (const [durationMs, maxWaitMs, maxWaiting] of [
    [100, 100, 1],
    [0, 20, 3],
  ] as const) {
    let now = 0;
    const { run, add, end, queue } = createControlledQueue({ concurrency: 1, maxWaitMs, now: () => now });
    for (let job = 0; job < 200; job++) {
      add([`${job}`], { lane: 'unauthenticated' });
      now += durationMs;
      await end(`${job}`);
    }
    add(['running', '1', '2', '3'].slice(0, 1 + maxWaiting), { lane: 'unauthenticated' });
    t.same(await refusal(run('refused', { lane: 'unauthenticated' })), FULL);
    t.match(queue.counts, { running: 1, waiting: maxWaiting });
  }
});

t.test('a failed job makes room for the next one', async (t) => {
  const queue = createHashQueue({ concurrency: 1 });
  await t.rejects(
    queue.run({ lane: 'unauthenticated', key: 'a' }, () => Promise.reject(new Error('malformed'))),
    /malformed/,
  );
  t.equal(await queue.run({ lane: 'unauthenticated', key: 'a' }, async () => 'done'), 'done');
});
