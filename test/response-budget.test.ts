import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import t from 'tap';
import { createResponseBudget } from '../handlers/http/response-budget.js';
import { createPost, startTestService } from './support/service.js';

const LIMITS = { unsentBytes: 100, waitingBytes: 100, waitMs: 60_000 };

class Response extends EventEmitter {
  destroyed = false;
  close() {
    this.destroyed = true;
    this.emit('close');
  }
}

/** A budget, and a function that asks it for bytes for a response of its own. */
function createBudget(limits = LIMITS) {
  const budget = createResponseBudget(limits);
  let addresses = 0;
  return {
    budget,
    take(bytes: number, address = `192.0.2.${++addresses}`) {
      const response = new Response();
      const state = { response, outcome: 'waiting' };
      const settled = budget.take(bytes, address, response as unknown as ServerResponse).then(
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

/** Lets every promise that can settle do so. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test('a response waits until those before it have been sent, first come, first served', async (t) => {
  const { budget, take } = createBudget();
  const sent = [take(60), take(40)];
  const waiting = [take(50), take(10)];
  await turn();
  t.same(
    [...sent, ...waiting].map(({ outcome }) => outcome),
    ['started', 'started', 'waiting', 'waiting'],
  );
  t.match(budget.usage, { unsentBytes: 100, waitingBytes: 60 });
  sent[1]?.response.close();
  await turn();
  t.same(
    waiting.map(({ outcome }) => outcome),
    ['waiting', 'waiting'],
    'the small one does not overtake the large one',
  );
  sent[0]?.response.close();
  await turn();
  t.same(
    waiting.map(({ outcome }) => outcome),
    ['started', 'started'],
  );
  for (const { response } of waiting) response.close();
  t.same(budget.usage, { unsentBytes: 0, waitingBytes: 0, refused: 0 });
});

t.test('a response is refused with 503 if too much waits already, or if it waits too long', async (t) => {
  const { budget, take } = createBudget({ ...LIMITS, waitMs: 1 });
  const sent = take(100);
  const [first, second] = [take(60), take(60)];
  await turn();
  t.equal(second.outcome, '503', 'there is no room to wait');
  await first.settled;
  t.equal(first.outcome, '503', 'its turn has not come in time');
  t.same(budget.usage, { unsentBytes: 100, waitingBytes: 0, refused: 2 });
  t.equal(sent.outcome, 'started');
});

t.test('a client that leaves gives its place back', async (t) => {
  const { budget, take } = createBudget();
  const sent = take(100);
  const [leaving, next] = [take(90), take(10)];
  leaving.response.close();
  await turn();
  t.match(budget.usage, { unsentBytes: 100, waitingBytes: 10, refused: 0 });
  sent.response.close();
  await turn();
  t.equal(next.outcome, 'started');
  const late = new Response();
  late.close();
  await t.rejects(budget.take(1, '192.0.2.9', late as unknown as ServerResponse), { message: /cannot do this/ });
  t.match(budget.usage, { unsentBytes: 10, waitingBytes: 0 });
});

t.test('one address has a quarter of the budget, and does not hold up others', async (t) => {
  const { take } = createBudget();
  const own = [take(20, '192.0.2.1'), take(20, '192.0.2.1')];
  const other = take(60, '192.0.2.2');
  await turn();
  t.same(
    [...own, other].map(({ outcome }) => outcome),
    ['started', 'waiting', 'started'],
  );
  own[0]?.response.close();
  await turn();
  t.equal(own[1]?.outcome, 'started');
});

t.test('large pages count until they are read, and arrive whole', async (t) => {
  const service = await startTestService(t);
  const user = await service.createUser();
  for (let count = 0; count < 20; count += 1) await createPost(user, { text: '😀'.repeat(10_000) });
  const metric = async () => {
    const text = await (await fetch(`${service.opsUrl}/metrics`)).text();
    return Number(/^http_large_response_bytes\{state="unsent"\} (\d+)/m.exec(text)?.[1]);
  };
  const page = await user.send('GET', '/posts/me?limit=100');
  t.equal(page.body.length, 20);
  t.equal(page.body[19].text, '😀'.repeat(10_000));
  t.equal(page.bytes.length, Number(page.headers.get('content-length')));
  t.equal(await metric(), 0);

  const head = await user.send('HEAD', '/posts/me?limit=100');
  t.equal(Number(head.headers.get('content-length')), page.bytes.length);

  const { hostname, port } = new URL(service.url);
  const request = `GET /posts/me?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\n\r\n`;
  const sockets = Array.from({ length: 2 }, () => connect(Number(port), hostname).pause());
  for (const socket of sockets) socket.write(request.repeat(12));
  while ((await metric()) === 0) await turn();
  t.equal((await user.send('GET', '/auth/me')).status, 200);
  for (const socket of sockets) socket.destroy();
  await Promise.all(sockets.map((socket) => once(socket, 'close')));
  while ((await metric()) > 0) await turn();
  t.equal((await user.send('GET', '/posts/me?limit=100')).status, 200);
});
