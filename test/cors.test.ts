import type { OutgoingHttpHeaders } from 'node:http';
import t from 'tap';
import { contract } from '../scripts/contract-test/document.js';
import { samples } from '../scripts/contract-test/images.js';
import type { TestResponse } from './support/requests.js';
import { createPost, startTestService } from './support/service.js';
import { wire, writeBytes } from './support/wire.js';

/* What pages of the origins in CORS_ORIGINS and PUBLIC_URL may do, and what pages of other origins may not. */

const ALLOWED = 'https://app.example';
const ALSO_ALLOWED = 'http://localhost:5173';
const REFUSED = ['https://other.example', 'http://app.example', 'https://app.example.evil', `${ALLOWED}:8443`, 'null'];
const PUBLIC = 'https://api.example';

const service = await startTestService(t, { CORS_ORIGINS: `${ALLOWED},${ALSO_ALLOWED}`, PUBLIC_URL: PUBLIC });
const send = wire(t, service.url);
const user = await service.createUser();
const { token } = user;

const from = (origin: string, more: OutgoingHttpHeaders = {}) => ({ headers: { Origin: origin, ...more } });
const preflight = (origin: string) =>
  from(origin, { 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'authorization' });

const allowedOrigin = ({ headers }: TestResponse) => headers.get('access-control-allow-origin');
const listOf = (header: string | null) => (header ?? '').split(', ');

t.test('an origin that is named may read every response, with credentials, and no other may', async (t) => {
  for (const [status, method, path, sent] of [
    [200, 'GET', '/auth/me', { token }],
    [401, 'GET', '/auth/me', {}],
    [400, 'GET', '/auth/me?page=1', { token }],
    [400, 'GET', '/%ff', {}],
    [404, 'GET', '/posts/0', { token }],
    [404, 'GET', '/nope', {}],
    [405, 'PATCH', '/posts', {}],
  ] as const) {
    for (const origin of [ALLOWED, ALSO_ALLOWED]) {
      const answer = await send(method, path, { ...sent, ...from(origin) });
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
      const answer = await send(method, path, { ...sent, ...from(origin) });
      t.equal(answer.status, status);
      t.equal(allowedOrigin(answer), null, `${method} ${path} from ${origin}`);
      t.match(answer.headers.get('vary'), /\bOrigin\b/i, 'a cache keeps the two apart');
    }
  }
});

t.test('a preflight is 204, tells what may be sent, and needs no credentials', async (t) => {
  const paths = [...new Set(contract.map(({ path }) => path.replace(/\{\w+\}/, '1')))];
  for (const path of paths) {
    const answer = await send('OPTIONS', path, preflight(ALLOWED));
    t.equal(answer.status, 204, path);
    t.equal(answer.bytes.length, 0);
    t.ok(answer.headers.has('allow'));
    t.equal(allowedOrigin(answer), ALLOWED);
    t.equal(answer.headers.get('access-control-allow-credentials'), 'true');
    const methods = listOf(answer.headers.get('access-control-allow-methods'));
    for (const { method } of contract) t.ok(methods.includes(method));
    const headers = listOf(answer.headers.get('access-control-allow-headers'));
    for (const name of ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match']) {
      t.ok(headers.includes(name), name);
    }
    t.ok(Number(answer.headers.get('access-control-max-age')) > 0);
  }
  for (const origin of REFUSED) t.equal(allowedOrigin(await send('OPTIONS', '/posts/create', preflight(origin))), null);
  t.equal((await send('OPTIONS', '/nope', preflight(ALLOWED))).status, 404);
});

t.test('the document is open to all in the same way, and the explorer to its own pages alone', async (t) => {
  for (const origin of [ALLOWED, ...REFUSED]) {
    const answer = await send('GET', '/openapi.json', from(origin));
    t.equal(allowedOrigin(answer), '*', origin);
    t.notOk(answer.headers.has('access-control-allow-credentials'));
    t.ok(listOf(answer.headers.get('access-control-expose-headers')).includes('ETag'));
    const asked = await send('OPTIONS', '/openapi.json', preflight(origin));
    t.same([asked.status, allowedOrigin(asked)], [204, '*']);
    t.ok(listOf(asked.headers.get('access-control-allow-headers')).includes('If-None-Match'));
    const known = from(origin, { 'If-None-Match': answer.headers.get('etag') ?? '' });
    const unchanged = await send('GET', '/openapi.json', known);
    t.same([unchanged.status, allowedOrigin(unchanged)], [304, '*']);
  }
  for (const origin of REFUSED) t.equal(allowedOrigin(await send('GET', '/docs', from(origin))), null);
});

t.test('pages of trusted origins may embed images, pages of other sites may not', async (t) => {
  const { image } = await createPost(user, { image: new Blob([samples.png], { type: 'image/png' }) });
  for (const [origin, policy] of [
    [ALLOWED, 'cross-origin'],
    ...REFUSED.map((refused) => [refused, 'same-site'] as const),
  ] as const) {
    const answer = await send('GET', String(image), { token, ...from(origin) });
    t.same([answer.status, answer.headers.get('cross-origin-resource-policy')], [200, policy], origin);
  }
});

const Cookie = `fc_session_token=${token}`;
const CROSS_SITE = { 'Sec-Fetch-Site': 'cross-site' };

t.test('an unsafe request with the cookie alone passes from trusted origins, whatever the browser says', async (t) => {
  const { host } = new URL(service.url);
  for (const [status, headers] of [
    ...[ALLOWED, ALSO_ALLOWED, PUBLIC].flatMap((Origin) => [
      [200, { Origin }] as const,
      [200, { Origin, ...CROSS_SITE }] as const,
    ]),
    // The origin that the request was sent to, which is not that of PUBLIC_URL.
    [200, { Origin: `http://${host}` }],
    [403, { Origin: `http://${host}`, ...CROSS_SITE }],
    ...REFUSED.map((Origin) => [403, { Origin }] as const),
    [403, { Origin: 'https://evilapp.example' }],
    [403, { Origin: `${ALLOWED}, https://other.example` }],
  ] as const) {
    const answer = await send('DELETE', '/auth/sessions', { headers: { Cookie, ...headers } });
    t.equal(answer.status, status, JSON.stringify(headers));
  }
});

t.test('login and registration read the body of a request from a trusted origin', async (t) => {
  for (const path of ['/auth/login', '/auth/register']) {
    for (const [status, type] of [
      [400, 'application/json'],
      [415, 'text/plain'],
    ] as const) {
      const headers = { 'Content-Type': type, Origin: ALLOWED, ...CROSS_SITE };
      t.equal((await send('POST', path, { headers, body: '{}' })).status, status, `${path} ${type}`);
    }
  }
});

t.test('a page without an origin does not pass for lack of a host either', async (t) => {
  for (const host of ['', 'Host:\r\n']) {
    for (const origin of ['null', 'about:blank']) {
      const head = `DELETE /auth/sessions HTTP/1.0\r\n${host}Cookie: ${Cookie}\r\nOrigin: ${origin}\r\n\r\n`;
      t.match(await writeBytes(t, service.url, head), /^HTTP\/1\.1 403 /);
    }
  }
});
