import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createCircuitBreaker } from '../../db/support/circuit-breaker.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { until } from '../support/until.js';

class RefusedError extends Error {
  override readonly message = 'refused';
}

const never = () => new Promise<never>(() => undefined);

/** Creates a circuit breaker for a fake store whose behavior is set by `state`, with its log messages. */
function createFixture({ timeoutMs = 50 } = {}) {
  const store = {
    state: 'available' as 'available' | 'slow' | 'refusing' | 'silent',
    probes: 0,
    abortedProbes: 0,
    opened: 0,
    warmUp: async (): Promise<void> => undefined,
  };
  const logged: string[] = [];
  const breaker = createCircuitBreaker({
    store: 'graph',
    timeoutMs,
    async probe(signal) {
      store.probes += 1;
      if (store.state === 'silent') {
        await once(signal, 'abort');
        store.abortedProbes += 1;
        throw signal.reason;
      }
      if (store.state === 'refusing') throw new RefusedError();
      if (store.state === 'slow') await sleep(700, undefined, { signal });
    },
    isUnavailable: (error) => error instanceof RefusedError,
    onOpen: () => {
      store.opened += 1;
    },
    warmUp: () => store.warmUp(),
    log: { info: (_, message) => logged.push(message), warn: (_, message) => logged.push(message) },
  });
  t.teardown(() => breaker.shutDown());
  return { breaker, store, logged };
}

type Fixture = Pick<ReturnType<typeof createFixture>, 'breaker' | 'store'>;

/** Expects that a call rejects with StoreUnavailableError if the store refuses it. */
const expectRefusal = (t: Test, { run }: Fixture['breaker']) =>
  t.rejects(
    run(() => Promise.reject(new RefusedError())),
    StoreUnavailableError,
  );

/** Opens the circuit by a call that the store refuses, and a probe that fails. */
async function openCircuit(t: Test, { breaker, store }: Fixture, state: 'refusing' | 'slow' = 'refusing') {
  store.state = state;
  await expectRefusal(t, breaker);
  await until(() => breaker.isOpen);
}

t.test('passes on results, and errors that the call itself caused', async (t) => {
  const { breaker, store } = createFixture();
  t.equal(await breaker.run(async () => 7), 7);
  const failing = breaker.run(() => Promise.reject(new TypeError('an error of the call')));
  await t.rejects(failing, TypeError);
  t.equal(store.probes, 0, 'no probe was started');
});

t.test('a timeout aborts the signal of a call, and does not open the circuit', async (t) => {
  const { breaker, store } = createFixture();
  let aborted: Promise<unknown> | undefined;
  const slow = breaker.run((signal) => {
    aborted = once(signal, 'abort');
    return never();
  });
  await t.rejects(slow, { code: 'store_unavailable', message: /: timed out after 50 ms$/ });
  await aborted;
  await until(() => store.probes === 1);
  t.equal(await breaker.run(async () => 7), 7, 'other calls succeed');
  t.notOk(breaker.isOpen);
});

t.test('a timeout does not abort the signal of a call that completes at the same time', async (t) => {
  const timeoutMs = 5;
  const { breaker } = createFixture({ timeoutMs });
  const completed = breaker.run(
    (signal) => new Promise<AbortSignal>((resolve) => setTimeout(resolve, timeoutMs, signal)),
  );
  // Both timers expire while the process is stalled, so the call completes right after its timeout.
  const stalledAt = performance.now();
  while (performance.now() - stalledAt < 2 * timeoutMs);
  const signal = await completed;
  await new Promise(setImmediate);
  t.notOk(signal.aborted);
});

t.test('a failed probe opens the circuit: calls fail immediately until the store responds', async (t) => {
  const { breaker, store, logged } = createFixture();
  await openCircuit(t, { breaker, store });
  t.equal(store.opened, 1);
  await t.rejects(
    breaker.run(async () => t.fail('the store is called')),
    { code: 'store_unavailable', message: 'The graph store is not available: refused' },
    'with the cause of the outage',
  );
  store.state = 'available';
  await until(() => !breaker.isOpen);
  t.equal(await breaker.run(async () => 7), 7);
  t.same(logged, ['store unavailable: circuit breaker open', 'store available: circuit breaker closed']);
});

t.test('the first probe has a short timeout, later ones have that of a call', async (t) => {
  const { breaker, store } = createFixture({ timeoutMs: 60_000 });
  await openCircuit(t, { breaker, store }, 'slow');
  await until(() => !breaker.isOpen);
  t.equal(store.probes, 2);
});

t.test('opening the circuit rejects calls in progress immediately', async (t) => {
  // The timeout is longer than the test.
  const { breaker, store } = createFixture({ timeoutMs: 1_000_000 });
  store.state = 'silent';
  const waiting = breaker.run(never);
  await expectRefusal(t, breaker);
  await t.rejects(waiting, StoreUnavailableError);
});

t.test('concurrent failures start one probe', async (t) => {
  const { breaker, store } = createFixture();
  await Promise.allSettled(Array.from({ length: 20 }, () => breaker.run(() => Promise.reject(new RefusedError()))));
  t.equal(store.probes, 1);
});

t.test('a response to another call, even an error, keeps the circuit closed during a slow probe', async (t) => {
  for (const respond of [async () => 7, () => Promise.reject(new TypeError('an error of the call'))]) {
    const { breaker, store } = createFixture();
    store.state = 'silent';
    await expectRefusal(t, breaker);
    await breaker.run(respond).catch((error) => t.type(error, TypeError));
    await until(() => store.abortedProbes === 1);
    t.notOk(breaker.isOpen);
  }
});

t.test('the circuit stays open until the store is warmed up', async (t) => {
  const { breaker, store } = createFixture();
  const warm = new AbortController();
  store.warmUp = async () => void (await once(warm.signal, 'abort'));
  await openCircuit(t, { breaker, store });
  store.state = 'available';
  const before = store.probes;
  await until(() => store.probes > before);
  await new Promise(setImmediate);
  t.ok(breaker.isOpen);
  warm.abort();
  await until(() => !breaker.isOpen);
});

t.test('an error in the warm-up keeps the circuit open only if the store is unavailable', async (t) => {
  const { breaker, store } = createFixture();
  let warmUps = 0;
  const failWith = (error: Error) => {
    store.warmUp = async () => {
      warmUps += 1;
      throw error;
    };
  };
  failWith(new StoreUnavailableError('graph'));
  await openCircuit(t, { breaker, store });
  store.state = 'available';
  await until(() => warmUps >= 2 || !breaker.isOpen);
  t.ok(breaker.isOpen, 'after the first warm-up');
  failWith(new TypeError('an error of a statement'));
  await until(() => !breaker.isOpen);
});

t.test('a shutdown rejects calls in progress', async (t) => {
  const { breaker } = createFixture({ timeoutMs: 60_000 });
  const call = breaker.run(never);
  breaker.shutDown();
  await t.rejects(call, StoreUnavailableError);
});
