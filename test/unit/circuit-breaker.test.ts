import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createCircuitBreaker } from '../../db/support/circuit-breaker.js';
import { StoreUnavailableError } from '../../db/support/errors.js';

class Refused extends Error {}

const never = () => new Promise<never>(() => undefined);

/** A guard over a store that is what `answer` says, and all that it has logged. */
function watch({ timeout = 50 } = {}) {
  const store = {
    answer: 'yes' as 'yes' | 'refuses' | 'silent',
    probes: 0,
    failed: 0,
    gone: 0,
    warmed: Promise.resolve(),
  };
  const silence = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        store.failed += 1;
        reject(signal.reason);
      });
    });
  const logged: string[] = [];
  const guard = createCircuitBreaker({
    store: 'graph',
    timeout,
    async probe(signal) {
      store.probes += 1;
      if (store.answer === 'silent') await silence(signal);
      if (store.answer === 'refuses') throw new Refused();
    },
    isUnavailable: (error) => error instanceof Refused,
    onOpen: () => {
      store.gone += 1;
    },
    warmUp: () => store.warmed,
    log: { info: (_, message) => logged.push(message), warn: (_, message) => logged.push(message) },
  });
  t.teardown(() => guard.close());
  return { guard, store, logged };
}

const until = async (reached: () => boolean) => {
  while (!reached()) await sleep(5);
};

t.test('an answer is passed on, and so is an error that is the question’s', async (t) => {
  const { guard, store } = watch();
  t.equal(await guard.run(async () => 7), 7);
  await t.rejects(
    guard.run(async () => {
      throw new TypeError('a wrong question');
    }),
    TypeError,
  );
  t.equal(store.probes, 0, 'neither raises a doubt');
});

t.test('a call that is too slow is given up, and its signal aborts; the store itself is there', async (t) => {
  const { guard, store } = watch();
  let aborted = false;
  const slow = guard.run(({ signal }) => {
    signal.addEventListener('abort', () => {
      aborted = true;
    });
    return never();
  });
  await t.rejects(slow, StoreUnavailableError);
  t.ok(aborted);
  await until(() => store.probes === 1);
  t.equal(await guard.run(async () => 7), 7, 'others are not kept from it');
  t.notOk(guard.isOpen);
});

t.test('a store that refuses is away: calls fail without being made, until it answers again', async (t) => {
  const { guard, store, logged } = watch();
  store.answer = 'refuses';
  await t.rejects(
    guard.run(() => Promise.reject(new Refused())),
    StoreUnavailableError,
  );
  await until(() => guard.isOpen);
  t.equal(store.gone, 1);
  let made = false;
  await t.rejects(
    guard.run(async () => {
      made = true;
    }),
    StoreUnavailableError,
  );
  t.notOk(made);
  store.answer = 'yes';
  await until(() => !guard.isOpen);
  t.equal(await guard.run(async () => 7), 7);
  t.same(logged, ['a store does not answer', 'a store answers again'], 'each is logged once');
});

t.test('what is under way when a store is found to be away is given up at once', async (t) => {
  // Far beyond the time that a test has.
  const { guard, store } = watch({ timeout: 1_000_000 });
  store.answer = 'silent';
  const waiting = guard.run(never);
  const failing = guard.run(() => Promise.reject(new Refused()));
  await t.rejects(failing, StoreUnavailableError);
  await t.rejects(waiting, StoreUnavailableError);
});

t.test('many failures are one doubt', async (t) => {
  const { guard, store } = watch();
  await Promise.allSettled(Array.from({ length: 20 }, () => guard.run(() => Promise.reject(new Refused()))));
  t.equal(store.probes, 1);
});

t.test('an answer to anybody settles a doubt, however slow the probe is', async (t) => {
  const { guard, store } = watch();
  store.answer = 'silent';
  await t.rejects(
    guard.run(() => Promise.reject(new Refused())),
    StoreUnavailableError,
  );
  t.equal(await guard.run(async () => 7), 7);
  await until(() => store.failed === 1);
  t.notOk(guard.isOpen);
});

t.test('a store that has returned stays away until it is warmed up', async (t) => {
  const { guard, store } = watch();
  let warm = () => {};
  store.warmed = new Promise((resolve) => {
    warm = resolve;
  });
  store.answer = 'refuses';
  await t.rejects(
    guard.run(() => Promise.reject(new Refused())),
    StoreUnavailableError,
  );
  await until(() => guard.isOpen);
  store.answer = 'yes';
  const before = store.probes;
  await until(() => store.probes > before);
  await new Promise(setImmediate);
  t.ok(guard.isOpen);
  warm();
  await until(() => !guard.isOpen);
});

t.test('closing gives up the calls in progress', async (t) => {
  const { guard } = watch({ timeout: 60_000 });
  const call = guard.run(never);
  guard.close();
  await t.rejects(call, StoreUnavailableError);
});
