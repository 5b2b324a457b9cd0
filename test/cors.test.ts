import type { OutgoingHttpHeaders } from 'node:http';
import t from 'tap';
import { contract } from '../scripts/contract-test/document.js';
import { type Answer, startTestService } from './harness.js';
import { wire } from './wire.js';

const ALLOWED = 'https://app.example';
const ALSO_ALLOWED = 'http://localhost:5173';
const REFUSED = ['https://other.example', 'http://app.example', 'https://app.example.evil', `${ALLOWED}:8443`, 'null'];

const closed = await startTestService(t);
const open = await startTestService(t, { CORS_ORIGINS: `${ALLOWED},${ALSO_ALLOWED}` });
const sendClosed = wire(t, closed.url);
const send = wire(t, open.url);

const addresses = [...new Set(contract.map(({ path }) => path.replace(/\{\w+\}/, '1')))];
const from = (origin: string, more: OutgoingHttpHeaders = {}) => ({ headers: { Origin: origin, ...more } });
const preflight = (origin: string, method = 'PUT') =>
  from(origin, { 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': 'authorization' });

const allowedOrigin = ({ headers }: Answer) => headers.get('access-control-allow-origin');
const corsHeaders = ({ headers }: Answer) => [...headers.keys()].filter((name) => name.startsWith('access-control-'));
const listOf = (header: string | null) => (header ?? '').split(', ');

t.test('without CORS_ORIGINS no origin may read an answer', async (t) => {
  for (const path of [...addresses, '/nope', '/docs', '/%ff']) {
    t.same(corsHeaders(await sendClosed('GET', path, from(ALLOWED))), [], path);
    t.same(corsHeaders(await sendClosed('OPTIONS', path, preflight(ALLOWED))), [], `preflight of ${path}`);
  }
  const answer = await sendClosed('OPTIONS', '/profiles/me', preflight(ALLOWED));
  t.equal(answer.status, 204);
  t.ok(answer.headers.has('allow'));
});

t.test('an origin that is named may read every answer, with credentials, and no other may', async (t) => {
  const { token } = await open.person();
  for (const [status, method, path, asked] of [
    [200, 'GET', '/auth/me', { token }],
    [401, 'GET', '/auth/me', {}],
    [400, 'GET', '/auth/me?page=1', { token }],
    [400, 'GET', '/%ff', {}],
    [404, 'GET', '/posts/0', { token }],
    [404, 'GET', '/nope', {}],
    [405, 'PATCH', '/posts', {}],
  ] as const) {
    for (const origin of [ALLOWED, ALSO_ALLOWED]) {
      const answer = await send(method, path, { ...asked, ...from(origin) });
      t.equal(answer.status, status, `${method} ${path}`);
      t.equal(allowedOrigin(answer), origin);
      t.equal(answer.headers.get('access-control-allow-credentials'), 'true');
      const exposed = listOf(answer.headers.get('access-control-expose-headers'));
      for (const name of ['ETag', 'Link', 'Retry-After', 'WWW-Authenticate', 'X-RateLimit-Remaining', 'X-Request-Id']) {
        t.ok(exposed.includes(name), `${method} ${path} exposes ${name}`);
      }
      t.match(answer.headers.get('vary'), /\bOrigin\b/i);
    }
    for (const origin of REFUSED) {
      const answer = await send(method, path, { ...asked, ...from(origin) });
      t.equal(answer.status, status);
      t.equal(allowedOrigin(answer), null, `${method} ${path} from ${origin}`);
      t.match(answer.headers.get('vary'), /\bOrigin\b/i, 'a cache keeps the two apart');
    }
  }
});

t.test('a preflight is 204, tells what may be sent, and needs no credentials', async (t) => {
  for (const path of addresses) {
    const answer = await send('OPTIONS', path, preflight(ALLOWED));
    t.equal(answer.status, 204, path);
    t.equal(answer.bytes.length, 0);
    t.ok(answer.headers.has('allow'));
    t.equal(allowedOrigin(answer), ALLOWED);
    t.equal(answer.headers.get('access-control-allow-credentials'), 'true');
    const methods = listOf(answer.headers.get('access-control-allow-methods'));
    for (const { method } of contract) t.ok(methods.includes(method));
    const headers = listOf(answer.headers.get('access-control-allow-headers'));
    for (const name of ['Authorization', 'Content-Type', 'If-None-Match']) t.ok(headers.includes(name), name);
    t.ok(Number(answer.headers.get('access-control-max-age')) > 0);
    for (const origin of REFUSED) t.equal(allowedOrigin(await send('OPTIONS', path, preflight(origin))), null);
  }
  const answer = await send('OPTIONS', '/nope', preflight(ALLOWED));
  t.equal(answer.status, 404, 'an address that is none is none for a preflight too');
  t.equal((await send('OPTIONS', '/nope')).status, 404);
});

t.test('the document is open to all, without credentials, and the explorer to its own pages alone', async (t) => {
  for (const ask of [send, sendClosed]) {
    for (const path of ['/openapi.yaml', '/openapi.json']) {
      for (const origin of [ALLOWED, ...REFUSED]) {
        const answer = await ask('GET', path, from(origin));
        t.equal(answer.status, 200);
        t.equal(allowedOrigin(answer), '*', `${path} from ${origin}`);
        t.notOk(answer.headers.has('access-control-allow-credentials'));
        t.ok(listOf(answer.headers.get('access-control-expose-headers')).includes('ETag'));
        t.equal(allowedOrigin(await ask('HEAD', path, from(origin))), '*');
        const asked = await ask('OPTIONS', path, preflight(origin, 'GET'));
        t.equal(asked.status, 204);
        t.equal(asked.headers.get('allow'), 'GET, HEAD, OPTIONS');
        t.equal(allowedOrigin(asked), '*');
        t.ok(listOf(asked.headers.get('access-control-allow-headers')).includes('If-None-Match'));
        const known = await ask('GET', path, from(origin, { 'If-None-Match': answer.headers.get('etag') ?? '' }));
        t.equal(known.status, 304);
        t.equal(allowedOrigin(known), '*', 'of a copy that is still good too');
      }
    }
    t.equal(allowedOrigin(await ask('GET', '/docs', from('https://other.example'))), null);
  }
});

t.test('an origin that is named may read that it has asked too often', async (t) => {
  const limited = await startTestService(t, { CORS_ORIGINS: ALLOWED, RATE_LIMIT_MAX: '1' });
  const sendLimited = wire(t, limited.url);
  t.equal((await sendLimited('GET', '/posts', from(ALLOWED))).status, 401);
  for (const path of ['/posts', '/nope', '/%ff']) {
    const answer = await sendLimited('GET', path, from(ALLOWED));
    t.equal(answer.status, 429, path);
    t.equal(allowedOrigin(answer), ALLOWED);
    t.ok(listOf(answer.headers.get('access-control-expose-headers')).includes('Retry-After'));
  }
});
