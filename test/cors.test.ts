import type { OutgoingHttpHeaders } from 'node:http';
import t from 'tap';
import { contract } from '../scripts/contract-test/client/index.js';
import { createSender, type TestResponse } from './support/http.js';
import { createPost, picture, startTestService } from './support/service.js';
import { writeBytes } from './support/wire.js';

/* Requests from pages of trusted origins (CORS_ORIGINS, PUBLIC_URL) and of other origins. */

const ALLOWED = 'https://app.example';
const ALSO_ALLOWED = 'http://localhost:5173';
const REFUSED = ['https://other.example', 'http://app.example', 'https://app.example.evil', `${ALLOWED}:8443`, 'null'];
const PUBLIC = 'https://api.example';

const service = await startTestService(t, { CORS_ORIGINS: `${ALLOWED},${ALSO_ALLOWED}`, PUBLIC_URL: PUBLIC });
const send = createSender(t, service.url);
const user = await service.createUser();
const { token } = user;

/** The headers that the contract declares and that browsers hide from pages by default. */
const EXPOSED = [
  ...['ETag', 'Link', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate'],
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id'],
];

const from = (origin: string, more: OutgoingHttpHeaders = {}) => ({ headers: { Origin: origin, ...more } });
const preflight = (origin: string) =>
  from(origin, { 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'authorization' });

const allowedOrigin = ({ headers }: TestResponse) => headers.get('access-control-allow-origin');
const listOf = (header: string | null) => (header ?? '').split(', ');

t.test('only allowed origins may read responses, with credentials', async (t) => {
  for (const [status, method, path, sent] of [
    [200, 'GET', '/auth/me', { token }],
    [401, 'GET', '/auth/me', {}],
    [400, 'GET', '/%ff', {}],
    [404, 'GET', '/nope', {}],
    [405, 'PATCH', '/posts', {}],
  ] as const) {
    for (const origin of [ALLOWED, ALSO_ALLOWED, ...REFUSED]) {
      const response = await send(method, path, { ...sent, ...from(origin) });
      t.equal(response.status, status, `${method} ${path}`);
      t.match(response.headers.get('vary'), /\bOrigin\b/i, 'caches store the responses separately');
      t.equal(allowedOrigin(response), REFUSED.includes(origin) ? null : origin, `${method} ${path} from ${origin}`);
      if (REFUSED.includes(origin)) continue;
      t.equal(response.headers.get('access-control-allow-credentials'), 'true');
      const exposed = listOf(response.headers.get('access-control-expose-headers'));
      for (const name of EXPOSED) t.ok(exposed.includes(name), `${method} ${path} exposes ${name}`);
    }
  }
});

t.test('a preflight of an allowed origin allows the methods and headers of the API', async (t) => {
  const response = await send('OPTIONS', '/posts/create', preflight(ALLOWED));
  t.equal(response.status, 204);
  t.equal(allowedOrigin(response), ALLOWED);
  t.equal(response.headers.get('access-control-allow-credentials'), 'true');
  const methods = listOf(response.headers.get('access-control-allow-methods'));
  for (const { method } of contract) t.ok(methods.includes(method));
  const headers = listOf(response.headers.get('access-control-allow-headers'));
  for (const name of ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match'])
    t.ok(headers.includes(name), name);
  t.ok(Number(response.headers.get('access-control-max-age')) > 0);
  for (const origin of REFUSED) t.equal(allowedOrigin(await send('OPTIONS', '/posts/create', preflight(origin))), null);
  t.equal((await send('OPTIONS', '/nope', preflight(ALLOWED))).status, 404);
});

t.test('every origin may read the document, but only allowed origins may read the explorer', async (t) => {
  for (const origin of [ALLOWED, ...REFUSED]) {
    const response = await send('GET', '/openapi.json', from(origin));
    t.equal(allowedOrigin(response), '*', origin);
    t.notOk(response.headers.has('access-control-allow-credentials'));
    t.ok(listOf(response.headers.get('access-control-expose-headers')).includes('ETag'));
    const preflightResponse = await send('OPTIONS', '/openapi.json', preflight(origin));
    t.same([preflightResponse.status, allowedOrigin(preflightResponse)], [204, '*']);
    t.ok(listOf(preflightResponse.headers.get('access-control-allow-headers')).includes('If-None-Match'));
    const known = from(origin, { 'If-None-Match': response.headers.get('etag') ?? '' });
    const unchanged = await send('GET', '/openapi.json', known);
    t.same([unchanged.status, allowedOrigin(unchanged)], [304, '*']);
  }
  for (const origin of REFUSED) t.equal(allowedOrigin(await send('GET', '/docs', from(origin))), null);
});

t.test('pages of trusted origins may embed images, pages of other sites may not', async (t) => {
  const { image } = await createPost(user, { image: picture() });
  for (const origin of [ALLOWED, ...REFUSED]) {
    const { status, headers } = await send('GET', String(image), { token, ...from(origin) });
    const policy = origin === ALLOWED ? 'cross-origin' : 'same-site';
    t.same([status, headers.get('cross-origin-resource-policy')], [200, policy], origin);
  }
});

const Cookie = `fc_session_token=${token}`;
const CROSS_SITE = { 'Sec-Fetch-Site': 'cross-site' };

t.test('pages of trusted origins may use the cookie, whatever Sec-Fetch-Site says', async (t) => {
  for (const [status, headers] of [
    ...[ALLOWED, ALSO_ALLOWED, PUBLIC].flatMap((Origin) => [
      [200, { Origin }] as const,
      [200, { Origin, ...CROSS_SITE }] as const,
    ]),
    // The origin that the request is sent to, which differs from PUBLIC_URL.
    [200, { Origin: service.url }],
    [403, { Origin: service.url, ...CROSS_SITE }],
    ...REFUSED.map((Origin) => [403, { Origin }] as const),
    [403, { Origin: 'https://evilapp.example' }],
    [403, { Origin: `${ALLOWED}, https://other.example` }],
  ] as const) {
    const response = await send('DELETE', '/auth/sessions', { headers: { Cookie, ...headers } });
    t.equal(response.status, status, JSON.stringify(headers));
  }
  for (const path of ['/auth/login', '/auth/register'])
    t.equal((await send('POST', path, { json: {}, ...from(ALLOWED, CROSS_SITE) })).status, 400, path);
});

t.test('rejects a request from an opaque or invalid origin, even if Host is missing or empty', async (t) => {
  for (const host of ['', 'Host:\r\n']) {
    for (const origin of ['null', 'about:blank']) {
      const head = `DELETE /auth/sessions HTTP/1.0\r\n${host}Cookie: ${Cookie}\r\nOrigin: ${origin}\r\n\r\n`;
      t.match(await writeBytes(t, service.url, head), /^HTTP\/1\.1 403 /);
    }
  }
});
