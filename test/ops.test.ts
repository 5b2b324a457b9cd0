import t from 'tap';
import { createMetrics } from '../handlers/http/metrics.js';
import { buildOpsServer, type Checks } from '../handlers/http/ops.js';
import { startTestService } from './support/service.js';

async function ready(url: string) {
  const answer = await fetch(`${url}/readyz`);
  return { code: answer.status, body: (await answer.json()) as { status: string; stores: object } };
}

/** What `/readyz` says when the stores are like this. */
async function readyWhen(checks: Checks) {
  const metrics = createMetrics();
  const { server } = buildOpsServer(checks, metrics);
  const answer = await server.inject('/readyz');
  await server.close();
  metrics.close();
  return { code: answer.statusCode, body: answer.json() };
}

const fine = async () => undefined;
const failing = () => Promise.reject(new Error('away'));
const silent = () => new Promise(() => undefined);

t.test('ready means that every store answers, each by name and with its time', async (t) => {
  const { opsUrl } = await startTestService(t);
  t.same(await (await fetch(`${opsUrl}/livez`)).json(), { status: 'ok' });
  const { code, body } = await ready(opsUrl);
  t.equal(code, 200);
  t.match(body, {
    status: 'ok',
    stores: {
      postgres: { ok: true, ms: Number },
      graph: { ok: true, ms: Number },
      images: { ok: true, ms: Number },
    },
  });
});

t.test('a store that fails or hangs makes it not ready; the answer does not wait for it', async (t) => {
  for (const check of [failing, silent]) {
    const { code, body } = await readyWhen({ postgres: fine, graph: check, images: fine });
    t.equal(code, 503);
    t.match(body, { status: 'unavailable', stores: { postgres: { ok: true }, graph: { ok: false } } });
  }
});

t.test('Redis is listed, and may be away', async (t) => {
  for (const check of [failing, silent]) {
    const { code, body } = await readyWhen({ postgres: fine, redis: check });
    t.equal(code, 200);
    t.match(body, { status: 'ok', stores: { redis: { ok: false } } });
  }
});

t.test('a service that stops says so before it stops listening', async (t) => {
  const { url, opsUrl, stop } = await startTestService(t, { SHUTDOWN_DELAY: '3' });
  let stopped = false;
  const stopping = stop().then(() => {
    stopped = true;
  });
  const { code, body } = await ready(opsUrl);
  t.equal(code, 503);
  t.equal(body.status, 'stopping');
  t.equal((await fetch(`${opsUrl}/livez`)).status, 200, 'it is alive');
  t.equal((await fetch(`${url}/openapi.yaml`)).status, 200, 'and answers still');
  t.notOk(stopped);
  await stopping;
  for (const gone of [url, opsUrl]) await t.rejects(fetch(`${gone}/openapi.yaml`));
});
