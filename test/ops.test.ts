import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { pino } from 'pino';
import t from 'tap';
import { buildOpsServer, type HealthChecks } from '../handlers/http/ops.js';
import { createMetrics } from '../handlers/metrics/index.js';
import { startTestService } from './support/service.js';
import { openConnection, writeBytes } from './support/wire.js';

const service = await startTestService(t);

async function ready(url: string) {
  const response = await fetch(`${url}/readyz`);
  return { code: response.status, body: (await response.json()) as { status: string; stores: object } };
}

/** Returns the response of `/readyz` for these store checks. */
async function readyWhen(checks: HealthChecks, query = '') {
  const metrics = createMetrics();
  const { server } = buildOpsServer(checks, metrics, pino({ enabled: false }), '127.0.0.1');
  const response = await server.inject(`/readyz${query}`);
  await server.close();
  metrics.close();
  return { code: response.statusCode, body: response.json() };
}

const healthy = async () => undefined;
const failing = () => Promise.reject(new Error('unavailable'));
const silent = () => new Promise(() => undefined);

t.test('is ready when every store responds, and lists each with its latency, and its own version', async (t) => {
  const { opsUrl } = service;
  t.same(await (await fetch(`${opsUrl}/livez`)).json(), { status: 'ok' });
  const { code, body } = await ready(opsUrl);
  t.equal(code, 200);
  const available = { ok: true, ms: Number };
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  const stores = { postgres: available, graph: available, images: available };
  t.match(body, { status: 'ok', version, commit: /./, stores });
});

t.test('is not ready if a store fails or hangs, and does not wait for it', async (t) => {
  for (const check of [failing, silent]) {
    const { code, body } = await readyWhen({ postgres: healthy, graph: check, images: healthy });
    t.equal(code, 503);
    t.match(body, { status: 'unavailable', stores: { postgres: { ok: true }, graph: { ok: false, reason: String } } });
  }
});

t.test('is ready without Redis, which is listed as unavailable', async (t) => {
  const { code, body } = await readyWhen({ postgres: healthy, redis: failing });
  t.equal(code, 200);
  t.match(body, { status: 'ok', stores: { redis: { ok: false } } });
});

t.test('is ready without the stores that the query excludes', async (t) => {
  const checks = { postgres: failing, graph: failing, images: healthy };
  const { code, body } = await readyWhen(checks, '?exclude=postgres&exclude=graph');
  t.equal(code, 200);
  t.match(body, { status: 'ok', stores: { images: { ok: true } } });
  t.same(Object.keys(body.stores), ['images'], 'the others are not checked');
  t.equal((await readyWhen(checks, '?exclude=postgres')).code, 503, 'the other store counts');
});

t.test('reports immediately that it is stopping, even if a store hangs', async (t) => {
  const metrics = createMetrics();
  const { server, drain } = buildOpsServer({ postgres: silent }, metrics, pino({ enabled: false }), '127.0.0.1');
  drain();
  const response = await server.inject('/readyz');
  t.equal(response.statusCode, 503);
  t.match(response.json(), { status: 'stopping' });
  t.same(response.json().stores, {}, 'no store was checked');
  await server.close();
  metrics.close();
});

t.test('errors have the shape of those of the API', async (t) => {
  const { url, opsUrl } = service;
  for (const [method, path, onApi, status] of [
    ['GET', '/none', '/none', 404],
    ['POST', '/livez', '/openapi.yaml', 405],
    ['PUT', '/readyz', '/openapi.yaml', 405],
  ] as const) {
    const response = await fetch(opsUrl + path, { method });
    t.equal(response.status, status);
    t.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
    t.same(await response.json(), await (await fetch(url + onApi, { method })).json());
    if (status === 405) t.equal(response.headers.get('allow'), 'GET, HEAD, OPTIONS');
  }
  const response = await writeBytes(t, opsUrl, 'nonsense\r\n\r\n');
  t.match(response, /^HTTP\/1\.1 400 [\s\S]*\{.*"message":"The request is not valid HTTP\."/);
});

t.test('refuses the host name of a web page on a loopback address, and accepts every name on any other', async (t) => {
  const local = ['127.0.0.1:3001', '10.0.0.5', '[::1]:3001', 'localhost:3001', 'service-1:3001'];
  const others = ['rebound.example:3001', 'localhost.example', '127.0.0.1.example', 'api1.monitoring.internal:3001'];
  for (const [opsHost, status] of [
    ...['127.0.0.1', '127.0.0.2', '::1', 'localhost'].map((opsHost) => [opsHost, 421] as const),
    ...['0.0.0.0', '::', '10.0.0.5', 'metrics.example'].map((opsHost) => [opsHost, 200] as const),
  ]) {
    const metrics = createMetrics();
    const { server } = buildOpsServer({}, metrics, pino({ enabled: false }), opsHost);
    const statusFor = async (host: string) => (await server.inject({ path: '/metrics', headers: { host } })).statusCode;
    for (const host of local) t.equal(await statusFor(host), 200, `${host} at ${opsHost}`);
    for (const host of others) t.equal(await statusFor(host), status, `${host} at ${opsHost}`);
    await server.close();
    metrics.close();
  }
});

t.test('logs the cause of a 500', async (t) => {
  const lines: string[] = [];
  const metrics = { contentType: 'text/plain', text: () => Promise.reject(new Error('broken gauge')) };
  const { server } = buildOpsServer({}, metrics, pino({}, { write: (line) => void lines.push(line) }), '127.0.0.1');
  t.equal((await server.inject('/metrics')).statusCode, 500);
  t.match(lines.join(''), /internal server error/);
  t.match(lines.join(''), /broken gauge/);
  await server.close();
});

t.test(
  'reports that it is stopping before it stops listening, and does not wait for a client without a request',
  async (t) => {
    const { url, opsUrl, stop } = await startTestService(t, { SHUTDOWN_DELAY: '2' });
    const { socket, closed } = openConnection(t, opsUrl);
    await once(socket, 'connect');
    // Once this request has a response, the connection above has been accepted. It does not delay the stop.
    await fetch(`${opsUrl}/livez`);
    let stopped = false;
    const stopping = stop().then(() => {
      stopped = true;
    });
    const { code, body } = await ready(opsUrl);
    t.equal(code, 503);
    t.equal(body.status, 'stopping');
    t.equal((await fetch(`${opsUrl}/readyz?exclude=postgres`)).status, 503, 'also if a store is excluded');
    t.equal((await fetch(`${opsUrl}/livez`)).status, 200, '/livez still returns 200');
    t.equal((await fetch(`${url}/openapi.yaml`)).status, 200, 'the API still serves');
    t.notOk(stopped);
    await stopping;
    await closed;
    for (const closedUrl of [url, opsUrl]) await t.rejects(fetch(`${closedUrl}/openapi.yaml`));
  },
);
