import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as nextIteration } from 'node:timers/promises';
import t from 'tap';
import { createResponseBudget } from '../handlers/http/response-budget.js';
import { IMAGE } from '../scripts/bench/image.js';
import { pngBlob } from '../scripts/support/request.js';
import { scrape } from './support/prometheus.js';
import { createPost, startTestService, type TestUser } from './support/service.js';
import { until } from './support/until.js';

const LIMITS = { maxUnsentBytes: 100, maxWaitingBytes: 100, maxWaitMs: 60_000 };

class FakeResponse extends EventEmitter {
  destroyed = false;
  close() {
    this.destroyed = true;
    this.emit('close');
  }
}

/** Creates a budget, and a function that takes bytes from it for a new response. */
function createBudget(limits = LIMITS) {
  const budget = createResponseBudget(limits);
  let addresses = 0;
  return {
    budget,
    take(bytes: number, address = `192.0.2.${++addresses}`) {
      const response = new FakeResponse();
      const state = { response, outcome: 'waiting' };
      const settled = budget.acquire(bytes, address, response as unknown as ServerResponse).then(
        () => {
          state.outcome = 'started';
        },
        (error) => {
          state.outcome = String(error.status);
        },
      );
      return Object.assign(state, { settled });
    },
  };
}

const outcomesOf = (responses: { outcome: string }[]) => responses.map(({ outcome }) => outcome);

t.test('responses wait in order until earlier ones have been sent', async (t) => {
  const { budget, take } = createBudget();
  const sent = [take(60), take(40)];
  const waiting = [take(50), take(10)];
  await nextIteration();
  t.same(outcomesOf([...sent, ...waiting]), ['started', 'started', 'waiting', 'waiting']);
  t.match(budget.usage, { unsentBytes: 100, waitingBytes: 60 });
  sent[1]?.response.close();
  await nextIteration();
  t.same(outcomesOf(waiting), ['waiting', 'waiting'], 'the small response does not overtake the large one');
  sent[0]?.response.close();
  await nextIteration();
  t.same(outcomesOf(waiting), ['started', 'started']);
  for (const { response } of waiting) response.close();
  t.same(budget.usage, { unsentBytes: 0, waitingBytes: 0, refused: 0 });
});

t.test('returns 503 if too many bytes wait, or if a response waits too long', async (t) => {
  const { budget, take } = createBudget({ ...LIMITS, maxWaitMs: 1 });
  const sent = take(100);
  const [first, second] = [take(60), take(60)];
  await nextIteration();
  t.equal(second.outcome, '503', 'the queue is full');
  await first.settled;
  t.equal(first.outcome, '503', 'it has waited too long');
  t.same(budget.usage, { unsentBytes: 100, waitingBytes: 0, refused: 2 });
  t.equal(sent.outcome, 'started');
});

t.test('a disconnected client frees its place', async (t) => {
  const { budget, take } = createBudget();
  const sent = take(100);
  const [leaving, next] = [take(90), take(10)];
  leaving.response.close();
  await nextIteration();
  t.match(budget.usage, { unsentBytes: 100, waitingBytes: 10, refused: 0 });
  sent.response.close();
  await nextIteration();
  t.equal(next.outcome, 'started');
  const late = new FakeResponse();
  late.close();
  await t.rejects(budget.acquire(1, '192.0.2.9', late as unknown as ServerResponse), { code: 'client_closed_request' });
  t.match(budget.usage, { unsentBytes: 10, waitingBytes: 0 });
});

t.test('when a response leaves the queue, those behind it start if they fit', async (t) => {
  for (const [maxWaitMs, leave] of [
    [LIMITS.maxWaitMs, ({ response }: { response: FakeResponse }) => response.close()],
    [1, () => undefined],
  ] as const) {
    const { take } = createBudget({ ...LIMITS, maxWaitMs });
    take(60);
    const leaving = take(60);
    const next = take(10);
    leave(leaving);
    await leaving.settled;
    await nextIteration();
    t.equal(next.outcome, 'started', maxWaitMs === 1 ? 'it has waited too long' : 'its client has disconnected');
  }
});

t.test('an address may use a quarter of the budget, and does not block others', async (t) => {
  const { take } = createBudget();
  const own = [take(20, '192.0.2.1'), take(20, '192.0.2.1')];
  const other = take(60, '192.0.2.2');
  await nextIteration();
  t.same(outcomesOf([...own, other]), ['started', 'waiting', 'started']);
  own[0]?.response.close();
  await nextIteration();
  t.equal(own[1]?.outcome, 'started');
});

const service = await startTestService(t);
const { hostname, port } = new URL(service.url);

const unsentBytes = async () =>
  Number((await scrape(service.opsUrl)).value('http_large_response_bytes', { state: 'unsent' }));

const authorization = ({ token }: TestUser) => `Authorization: Bearer ${token}\r\n`;

/** Requests a path many times on one connection, reads no response while `work` runs, and then closes the connection. */
async function whileUnread(path: string, headers: string, work: () => Promise<unknown>): Promise<void> {
  const socket = connect(Number(port), hostname).pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`.repeat(30));
  await until(async () => (await unsentBytes()) > 0);
  await work();
  socket.destroy();
  await until(async () => (await unsentBytes()) === 0);
}

t.test('large pages count towards the budget until they are read, and are complete', async (t) => {
  const user = await service.createUser();
  for (let count = 0; count < 20; count += 1) await createPost(user, { text: '😀'.repeat(10_000) });
  const page = await user.send('GET', '/posts/me?limit=100');
  t.equal(page.body.length, 20);
  t.equal(page.body[19].text, '😀'.repeat(10_000));
  t.equal(page.bytes.length, Number(page.headers.get('content-length')));

  const head = await user.send('HEAD', '/posts/me?limit=100');
  t.equal(Number(head.headers.get('content-length')), page.bytes.length);
  await until(async () => (await unsentBytes()) === 0);

  await whileUnread('/posts/me?limit=100', authorization(user), async () =>
    t.equal((await user.send('GET', '/auth/me')).status, 200),
  );
  t.equal((await user.send('GET', '/posts/me?limit=100')).status, 200);
});

t.test('an image in memory counts towards the budget until it is read', async (t) => {
  const user = await service.createUser();
  const { image } = await createPost(user, { image: pngBlob(IMAGE) });
  await whileUnread(String(image), authorization(user), async () => undefined);
  t.ok((await user.send('GET', String(image))).bytes.equals(IMAGE));
});

t.test('the document counts towards the budget until it is read', async (t) => {
  await whileUnread('/openapi.json', '', async () => {
    const document = await fetch(`${service.url}/openapi.json`, { headers: { 'Accept-Encoding': 'identity' } });
    t.equal(await unsentBytes(), Number(document.headers.get('content-length')));
    await document.arrayBuffer();
  });
});
