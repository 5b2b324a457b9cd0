import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import { respondToClientError } from '../handlers/http/client-errors.js';
import { encodeBody } from '../scripts/contract-test/client/index.js';
import { scrape } from './support/prometheus.js';
import { createPost, PASSWORD, startTestService } from './support/service.js';
import { recordStatements } from './support/statements.js';
import { until } from './support/until.js';
import { nextAcceptedSocket, openConnection, writeBytes } from './support/wire.js';

/* Requests that no HTTP client sends: malformed, cut off or endless. */

const service = await startTestService(t);
const { token } = await service.createUser();
const write = (t: Test, bytes: string) => writeBytes(t, service.url, bytes);

/** Parses a raw response. `exact` is true if Content-Length matches the body. */
function parseResponse(received: string) {
  const [head = '', body = ''] = received.split('\r\n\r\n');
  const [, status] = /^HTTP\/1\.1 (\d{3}) \w/.exec(head) ?? [];
  const [, type] = /^content-type: (.+)$/im.exec(head) ?? [];
  const [, length] = /^content-length: (\d+)$/im.exec(head) ?? [];
  const [, id] = /^x-request-id: (\S+)$/im.exec(head) ?? [];
  return { status, type, id, exact: Number(length) === Buffer.byteLength(body), body: JSON.parse(body) };
}

const padding = 'x'.repeat(20_000);
const LOGIN = 'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const BROKEN_LOGIN = `${LOGIN}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;

t.test('responds to bytes that are not HTTP with a standard error whose request id is logged', async (t) => {
  for (const [what, status, bytes] of [
    ['no HTTP at all', '400', 'hello\r\n\r\n'],
    ['CONNECT, which is for proxies', '400', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an invalid chunk size in a body', '400', BROKEN_LOGIN],
    ['a URL that is too long', '431', `GET /${padding} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ] as const) {
    const { body, id, ...response } = parseResponse(await write(t, bytes));
    t.same(response, { status, type: 'application/json; charset=utf-8', exact: true }, what);
    t.match(body, { code: /^[a-z_]+$/, message: String }, what);
    t.ok(id !== undefined && service.logged().includes(id), what);
  }
});

t.test('logs a limited number of client errors, and then how many it has omitted', async (t) => {
  const entries: { reqId?: string; omitted?: number }[] = [];
  const server = { log: { info: (entry: object) => entries.push(entry) } } as unknown as FastifyInstance;
  for (let error = 0; error < 100; error += 1) {
    respondToClientError.call(server, new Error('not HTTP'), new PassThrough() as unknown as Socket);
  }
  t.equal(entries.filter(({ reqId }) => reqId).length, 20);
  await until(() => entries.some(({ omitted }) => omitted === 80));
});

t.test('logs a limited number of requests that no rate limit counts', async (t) => {
  const head = 'HEAD /openapi.yaml HTTP/1.1\r\nHost: x\r\n';
  await until(async () => {
    await write(t, `${`${head}\r\n`.repeat(30)}${head}Connection: close\r\n\r\n`);
    return service.logged().includes('uncounted requests omitted');
  });
});

t.test('a request that takes too long to arrive returns 408', async (t) => {
  // The service's own timeout is five minutes.
  const http = { headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 10 };
  const slow = Fastify({ http, clientErrorHandler: respondToClientError });
  t.teardown(() => slow.close());
  const received = await writeBytes(t, await slow.listen(), 'GET /posts HTTP/1.1\r\n');
  const { status, body } = parseResponse(received);
  t.match({ status, body }, { status: '408', body: { code: 'request_timeout', message: String } });
});

t.test('later bytes that are not HTTP do not change the response to an earlier request', async (t) => {
  const json = JSON.stringify({ email: 'nobody@people.example', password: PASSWORD });
  for (const bytes of [
    `${LOGIN}Content-Length: 2\r\n\r\n{}${BROKEN_LOGIN}`,
    `${LOGIN}Content-Length: ${json.length}\r\n\r\n${json}GARBAGE\r\n\r\n`,
  ]) {
    t.notMatch(await write(t, bytes), /400 Bad Request|not valid HTTP/);
  }
});

t.test('accepts a URL in absolute form if it has a valid host, and ignores an unknown expectation', async (t) => {
  for (const [head, response] of [
    ['GET http://x/auth/me HTTP/1.1', /^HTTP\/1\.1 401 /],
    ['GET /auth/me HTTP/1.1\r\nExpect: something-else', /^HTTP\/1\.1 401 /],
    ['GET http:///auth/me HTTP/1.1', /^HTTP\/1\.1 400 .*x-request-id: .*"code":"invalid_http"/s],
    ['GET http://x/auth/me#top HTTP/1.1', /^HTTP\/1\.1 400 .*x-request-id: .*"code":"invalid_http"/s],
  ] as const)
    t.match(await write(t, `${head}\r\nHost: x\r\nConnection: close\r\n\r\n`), response);
});

t.test('idle connections stay open for longer than common proxies reuse them', async (t) => {
  const { headers } = await fetch(`${service.url}/openapi.yaml`);
  t.equal(headers.get('keep-alive'), 'timeout=72');
});

t.test('no response waits for a body that is not read; uncounted ones close its connection', async (t) => {
  const preflight = 'Origin: https://x\r\nAccess-Control-Request-Method: GET\r\n';
  for (const [head, status, isCounted] of [
    ['GET /openapi.json HTTP/1.1\r\n', 200, false],
    ['POST /docs HTTP/1.1\r\n', 405, false],
    [`OPTIONS /posts HTTP/1.1\r\n${preflight}`, 204, false],
    ['POST /nothing HTTP/1.1\r\n', 404, true],
  ] as const) {
    const connection = openConnection(t, service.url);
    connection.socket.write(`${head}Host: x\r\nContent-Length: 10\r\n\r\n`);
    await connection.until(new RegExp(`^HTTP/1\\.1 ${status} `));
    // The rate limit does not stop uncounted requests, so nothing more is read from their connections.
    if (!isCounted) await connection.closed;
  }
});

t.test('reads all headers, however many there are', async (t) => {
  const head = `GET /auth/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a:\r\n'.repeat(2000)}`;
  t.match(await write(t, `${head}Authorization: Bearer ${token}\r\n\r\n`), /^HTTP\/1\.1 200 /);
});

t.test('responds to a body that is rejected unread, and keeps the connection usable', async (t) => {
  const large = 'x'.repeat(900 * 1024);
  for (const [status, type, message] of [
    [413, 'application/json', 'at most 65536 bytes'],
    [415, 'text/plain', 'a body of type application/json'],
  ]) {
    const head = `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${large.length}\r\n\r\n`;
    const next = 'GET /openapi.yaml HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    t.match(
      await write(t, head + large + next),
      new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*${message}[\\s\\S]*HTTP/1.1 200 `),
    );
  }
});

/** Opens a connection that stays open when the service has ended its side. Returns its sockets on both sides. */
async function openHalfOpen(t: Test) {
  const { hostname, port } = new URL(service.url);
  const accepted = nextAcceptedSocket();
  const client = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  client.on('error', () => undefined);
  t.teardown(() => client.destroy());
  return { client, serverSocket: await accepted };
}

t.test('a client that is still sending can read the response, although the connection closes after it', async (t) => {
  const large = 'Content-Length: 40000000\r\n\r\n';
  for (const [status, bytes] of [
    [401, `POST /posts/create HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${large}`],
    [413, `${LOGIN}Connection: close\r\n${large}${'x'.repeat(70_000)}`],
    [431, `GET /posts HTTP/1.1\r\nHost: x\r\nX-Padding: ${padding}`],
  ] as const) {
    const { client, serverSocket } = await openHalfOpen(t);
    client.write(bytes);
    const [response] = await once(client, 'data');
    t.match(String(response), new RegExp(`^HTTP/1.1 ${status} `));
    for (let packet = 0; packet < 3; packet += 1) {
      const expected = serverSocket.bytesRead + 1400;
      client.write('x'.repeat(1400));
      await until(() => serverSocket.bytesRead >= expected || serverSocket.destroyed);
      t.notOk(serverSocket.destroyed, `${status}, packet ${packet}`);
    }
  }
});

t.test('a connection that pipelines too many requests is closed after the last one that is processed', async (t) => {
  const received = await write(t, 'GET /nope HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200));
  t.equal(received.match(/HTTP\/1\.1 404 /g)?.length, 33);
  t.equal(received.match(/^connection: close\r$/gim)?.length, 1);
});

const NOT_FOUND = 'POST /nope HTTP/1.1\r\nHost: x\r\n';
const UNAUTHENTICATED_FORM =
  'POST /posts/create HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n';
const FORM = `${UNAUTHENTICATED_FORM}Authorization: Bearer ${token}\r\n`;

for (const { title, chunks, maxReadBytes, requests } of [
  {
    title: 'an endless body',
    chunks: `40000\r\n${'x'.repeat(0x40000)}\r\n`,
    maxReadBytes: 2 ** 30,
    requests: [[404, NOT_FOUND]],
  },
  {
    title: 'an endless body in tiny chunks',
    chunks: '1\r\nx\r\n'.repeat(10_000),
    maxReadBytes: 8 * 2 ** 20,
    requests: [
      [404, NOT_FOUND],
      [401, UNAUTHENTICATED_FORM],
      [400, FORM],
    ],
  },
] as const) {
  t.test(`closes the connection of ${title} after the response`, async (t) => {
    for (const [status, head] of requests) {
      const accepted = nextAcceptedSocket();
      const { socket, received, closed } = openConnection(t, service.url);
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      const send = () => {
        while (!socket.destroyed && socket.write(chunks));
      };
      socket.on('drain', send);
      send();
      await closed;
      t.match(received(), new RegExp(`^HTTP/1.1 ${status}`), 'the client receives the response');
      const { bytesRead } = await accepted;
      t.ok(bytesRead < maxReadBytes, `the service has read ${bytesRead} bytes`);
    }
  });
}

t.test('closes the connection of a client that keeps its end open after an error', async (t) => {
  const { client, serverSocket } = await openHalfOpen(t);
  const closed = once(serverSocket, 'close');
  client.write('GARBAGE\r\n\r\n');
  const [response] = await once(client, 'data');
  await closed;
  t.match(String(response), /^HTTP\/1.1 400 /);
});

t.test('a client that resets its connection after CONNECT does not end the service', async (t) => {
  const { client, serverSocket } = await openHalfOpen(t);
  client.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(client, 'data');
  const closed = new Promise((resolve) => serverSocket.once('close', resolve));
  client.resetAndDestroy();
  await closed;
  t.equal((await service.send('GET', '/auth/me', { token })).status, 200);
});

t.test('a request whose client disconnects is counted as 499, and neither timed nor logged', async (t) => {
  const accepted = nextAcceptedSocket();
  const { socket, until: untilReceived } = openConnection(t, service.url);
  const serverSocket = await accepted;
  const closed = new Promise((resolve) => serverSocket.once('close', resolve));
  socket.write(`${LOGIN}Content-Length: 50\r\nExpect: 100-continue\r\n\r\n`);
  await untilReceived(/100 Continue/);
  const readCounts = async () => {
    const metrics = await scrape(service.opsUrl);
    const abandoned = metrics.value('http_requests_total', { operation: 'login', status: '499' }) ?? 0;
    return { abandoned, timed: metrics.value('http_request_duration_seconds_count', { operation: 'login' }) ?? 0 };
  };
  const [before, { abandoned, timed }] = [service.logged().length, await readCounts()];
  socket.write('{"email"');
  socket.destroy();
  await closed;
  // Once a later request has a response, the service has handled the end of the earlier one.
  t.equal((await service.send('GET', '/auth/me', { token })).status, 200);
  t.notMatch(service.logged().slice(before), /"level":50|"route":"\/auth\/login"/);
  t.same(await readCounts(), { abandoned: abandoned + 1, timed }, 'its duration is not recorded');
});

/** Sends the head and the first half of a form, and returns a function that sends the rest and reads the status. */
async function sendHalf(t: Test, method: string, path: string, token: string, form: Record<string, string>) {
  const { type, body = new Uint8Array() } = await encodeBody({ form });
  const half = body.length >> 1;
  const { socket, received, until: untilReceived } = openConnection(t, service.url);
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${type}`;
  // The interim response shows that the service processes the request.
  socket.write(`${head}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
  await untilReceived(/100 Continue\r\n\r\n/);
  socket.write(body.subarray(0, half));
  return async () => {
    // The session of a body that arrives within 100 ms is not checked again.
    const calledAt = performance.now();
    await until(() => performance.now() - calledAt > 100);
    socket.write(body.subarray(half));
    await untilReceived(/100 Continue\r\n\r\nHTTP\/1.1 \d{3}/);
    return Number(/100 Continue\r\n\r\nHTTP\/1.1 (\d{3})/.exec(received())?.[1]);
  };
}

t.test('a request whose session ends while it is being sent changes nothing', async (t) => {
  const user = await service.createUser();
  const create = await sendHalf(t, 'POST', '/posts/create', user.token, { title: 'late', text: 'late' });
  const rename = await sendHalf(t, 'PUT', '/profiles/me', user.token, { name: 'Another Name' });
  const form = { password: 'Other-Lantern-81!', current_password: PASSWORD };
  t.equal((await user.send('PUT', '/profiles/me', { form })).status, 200);
  t.equal(await create(), 401);
  t.equal(await rename(), 401);
  const row = await service.stores.read.account(user.id);
  t.equal(row?.name, user.name);
  const posts = await service.stores.db.selectFrom('posts').select('id').where('author_id', '=', user.id).execute();
  t.same(posts, []);
});

t.test('a text post takes two statements: one reads its session, the other inserts it', async (t) => {
  const user = await service.createUser();
  const statements = recordStatements(t);
  // On a busy machine, the body may take so long that its session is read again.
  await until(async () => {
    statements.length = 0;
    await createPost(user);
    // Afterwards, a graph with nodes is told of the post.
    const [session, post] = statements.filter(({ text }) => /^begin|"sessions"|"posts"/.test(text));
    return /from "sessions"/.test(session?.text ?? '') && /insert into "posts"/.test(post?.text ?? '');
  });
});

t.test('a stopping service serves the first request of each open connection, and refuses further ones', async (t) => {
  const { url, opsUrl, stop } = await startTestService(t);
  const [used, unused, busy] = [openConnection(t, url), openConnection(t, url), openConnection(t, url)];
  const firstHalf = 'GET /auth/me HTTP/1.1\r\nHost: x\r\n';
  const secondHalf = '\r\n';
  // With half of a second request, the connection is not idle, so the service does not close it.
  used.socket.write(firstHalf + secondHalf + firstHalf);
  unused.socket.write(firstHalf);
  const body = JSON.stringify({ email: 'nobody@people.example', password: 'x' });
  busy.socket.write(`${LOGIN}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
  await used.until(/"missing_credentials"/);
  await busy.until(/100 Continue/);
  // Once a later request has a response, the service has read the first halves.
  await fetch(`${url}/openapi.yaml`);

  const stopped = stop();
  t.equal((await fetch(`${opsUrl}/readyz`)).status, 503);
  const isRefused = () =>
    fetch(`${url}/openapi.yaml`).then(
      () => false,
      () => true,
    );
  await until(isRefused);
  used.socket.write(secondHalf);
  unused.socket.write(secondHalf);
  busy.socket.write(body);
  for (const { closed } of [used, unused, busy]) await closed;
  t.match(used.received(), /HTTP\/1\.1 503 [\s\S]*"code":"shutting_down"/);
  t.match(unused.received(), /^HTTP\/1\.1 401 [\s\S]*"code":"missing_credentials"/);
  t.match(busy.received(), /HTTP\/1\.1 401 [\s\S]*\}$/);
  t.match(busy.received(), /connection: close/i);
  await stopped;
});
