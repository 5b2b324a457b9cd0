import t from 'tap';
import { contract } from '../scripts/contract-test/document.js';
import { startTestService } from './harness.js';
import { openStage } from './scenes.js';
import { wire, writeBytes } from './wire.js';

const APP = 'https://app.example';
const PUBLIC = 'https://api.example';

const service = await startTestService(t, { CORS_ORIGINS: APP, PUBLIC_URL: PUBLIC });
const stage = await openStage(service);
const send = wire(t, service.url);
const { token } = await service.person();
const cookie = { Cookie: `fc_session_token=${token}` };
const { host, hostname } = new URL(service.url);
const FOREIGN = 'https://evil.example';

/** An unsafe request that changes nothing and succeeds whenever it is let in. */
const unsafe = (headers: Record<string, string>) => send('DELETE', '/auth/sessions', { headers });

t.test('an unsafe request with the cookie alone passes from trusted pages, and from what is no page', async (t) => {
  for (const [passes, what, headers] of [
    [true, 'no browser sends neither header', {}],

    [true, 'an origin of CORS_ORIGINS', { Origin: APP }],
    [true, 'the same, whatever the browser calls it', { Origin: APP, 'Sec-Fetch-Site': 'cross-site' }],
    [true, 'the origin of PUBLIC_URL', { Origin: PUBLIC }],
    [true, 'the same, whatever the browser calls it', { Origin: PUBLIC, 'Sec-Fetch-Site': 'cross-site' }],

    [true, 'a page of the same origin', { 'Sec-Fetch-Site': 'same-origin' }],
    [true, 'the user himself', { 'Sec-Fetch-Site': 'none' }],
    [false, 'a page of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    [false, 'a page of another site', { 'Sec-Fetch-Site': 'cross-site' }],
    [false, 'a word that nobody knows', { 'Sec-Fetch-Site': 'friendly' }],
    [false, 'no word', { 'Sec-Fetch-Site': '' }],
    [true, 'the browser’s word against a foreign origin', { 'Sec-Fetch-Site': 'same-origin', Origin: FOREIGN }],
    [false, 'the browser’s word against our host', { 'Sec-Fetch-Site': 'cross-site', Origin: `http://${host}` }],

    [true, 'an origin whose host is the request’s', { Origin: `http://${host}` }],
    [true, 'the same, by another scheme', { Origin: `https://${host}` }],
    [false, 'another host', { Origin: FOREIGN }],
    [false, 'our host, another port', { Origin: `http://${hostname}:1` }],
    [false, 'our host, no port', { Origin: `http://${hostname}` }],
    [false, 'a page without an origin', { Origin: 'null' }],
    [false, 'what is no origin', { Origin: host }],
    [false, 'a trusted origin by another scheme', { Origin: 'http://app.example' }],
    [false, 'a trusted origin with a port', { Origin: `${APP}:8443` }],
    [false, 'a name that begins like a trusted one', { Origin: `${APP}.evil` }],
    [false, 'a name that ends like a trusted one', { Origin: 'https://evilapp.example' }],
    [false, 'two origins', { Origin: `${APP}, ${FOREIGN}` }],
  ] as const) {
    const answer = await unsafe({ ...cookie, ...headers });
    t.equal(answer.status, passes ? 200 : 403, `${what}: ${JSON.stringify(headers)}`);
    if (!passes) t.same(Object.keys(answer.body), ['message']);
  }
});

t.test('a page without an origin does not pass for lack of a host either', async (t) => {
  for (const host of ['', 'Host:\r\n']) {
    for (const origin of ['null', 'about:blank']) {
      const head = `DELETE /auth/sessions HTTP/1.0\r\n${host}Cookie: ${cookie.Cookie}\r\nOrigin: ${origin}\r\n\r\n`;
      t.match(await writeBytes(t, service.url, head), /^HTTP\/1\.1 403 /);
    }
  }
});

t.test('the rule holds on every operation that is not safe, and changes nothing when it refuses', async (t) => {
  for (const operation of contract.filter(({ secured, method }) => secured && method !== 'GET')) {
    const { path, token: caller } = await stage.set(operation);
    const headers = { Cookie: `fc_session_token=${caller}`, 'Sec-Fetch-Site': 'cross-site', Origin: FOREIGN };
    const refused = await send(operation.method, path, { headers });
    t.equal(refused.status, 403, operation.id);
    t.ok(operation.responses[403], 'and the contract says so');
    t.equal((await send('GET', '/auth/verify', { headers })).status, 200, 'the session lives on');
  }
});

t.test('safe methods are exempt', async (t) => {
  const headers = { ...cookie, 'Sec-Fetch-Site': 'cross-site', Origin: FOREIGN };
  for (const { method, path } of contract.filter(
    (operation) => operation.method === 'GET' && !operation.path.includes('{'),
  )) {
    t.equal((await send(method, path, { headers })).status, 200, path);
    t.equal((await send('HEAD', path, { headers })).status, 200, `HEAD ${path}`);
    t.equal((await send('OPTIONS', path, { headers })).status, 204, `OPTIONS ${path}`);
  }
});

t.test('a request with the header is exempt, for no page can make a browser send it', async (t) => {
  const hostile = { 'Sec-Fetch-Site': 'cross-site', Origin: FOREIGN };
  t.equal((await unsafe({ ...hostile, Authorization: `Bearer ${token}` })).status, 200);
  t.equal((await unsafe({ ...hostile, ...cookie, Authorization: `Bearer ${token}` })).status, 200);
  t.equal((await unsafe({ ...hostile, ...cookie, Authorization: 'Bearer stale' })).status, 401, 'a bad one is 401');
  t.equal((await unsafe({ ...hostile, ...cookie, Authorization: '' })).status, 401, 'an empty one too');
});

t.test('login takes no body that a page of another site could send without a preflight', async (t) => {
  const { email } = await service.person();
  const body = JSON.stringify({ email, password: 'x' });
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=edge',
    undefined,
  ]) {
    const headers = { ...(type !== undefined && { 'Content-Type': type }), Origin: FOREIGN };
    t.equal((await send('POST', '/auth/login', { headers, body })).status, 415, type ?? 'no type');
  }
});
