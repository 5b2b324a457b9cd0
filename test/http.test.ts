import { readFile } from 'node:fs/promises';
import t from 'tap';
import { parse } from 'yaml';
import { contract } from '../scripts/contract-test/document.js';
import { problemsOf, startTestService } from './harness.js';
import { openConnection, wire, writeBytes } from './wire.js';

const service = await startTestService(t);
const send = wire(t, service.url);
const { token, email, ask } = await service.person();

const names = (headers: Headers) =>
  [...headers.keys()].filter((name) => !/^(connection|keep-alive)$/.test(name)).sort();

t.test('an address that is none is 404 in the shape of every error, for everybody and by every method', async (t) => {
  const paths = [
    '/',
    '/nope',
    '/auth',
    '/posts/1/comments',
    '/POSTS',
    '/posts/like/',
    '/docs/',
    '/docs/..',
    '//posts',
    '/*',
  ];
  for (const path of [...paths, '/docs/package.json', '/docs/%2e%2e/package.json', `/${'x'.repeat(10_000)}`]) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      for (const sent of [{}, { token }, { headers: { 'Content-Type': 'nonsense' }, body: '{' }]) {
        const { status, headers, body } = await send(method, path, sent);
        t.equal(status, 404, `${method} ${path.slice(0, 40)}`);
        t.same(Object.keys(body), ['message']);
        t.ok(headers.has('x-request-id') && headers.has('x-ratelimit-remaining'));
      }
    }
  }
});

t.test('a URL that cannot be decoded is 400, with the headers of every other answer', async (t) => {
  const { headers } = await send('GET', '/nope');
  for (const path of ['/%ff', '/%', '/posts/%E0%A4%A', '/posts/%zz', '/auth/sessions/%ff', '/%ff?page=1']) {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'TRACE']) {
      const answer = await send(method, path, { token });
      t.equal(answer.status, 400, `${method} ${path}`);
      t.same(problemsOf(answer), ['path.']);
      t.same(names(answer.headers), names(headers));
    }
  }
});

t.test('a query that cannot be decoded is 400, and the parameter is named', async (t) => {
  t.same(problemsOf(await send('GET', '/posts?limit=%ff', { token })), ['query.limit']);
  t.same(problemsOf(await send('GET', '/posts?%ff=1', { token })), ['query.%ff']);
});

t.test('a very long path is an address like any other', async (t) => {
  const { headers } = await send('GET', '/nope');
  for (const path of [`/posts/${'7'.repeat(14_000)}`, `/posts/image/${'x'.repeat(14_000)}`]) {
    const answer = await send('GET', path, { token });
    t.equal(answer.status, 404);
    t.same(names(answer.headers), names(headers));
    t.equal((await send('GET', path)).status, 401);
  }
});

/** The status and the JSON of an answer as it came over the wire, which must hold exactly as many bytes as it says. */
function parseAnswer(received: string) {
  const [head = '', body = ''] = received.split('\r\n\r\n');
  const [, status] = /^HTTP\/1\.1 (\d{3}) \w/.exec(head) ?? [];
  const [, type] = /^content-type: (.+)$/im.exec(head) ?? [];
  const [, length] = /^content-length: (\d+)$/im.exec(head) ?? [];
  return { status, type, exact: Number(length) === Buffer.byteLength(body), fields: Object.keys(JSON.parse(body)) };
}

t.test('what is no HTTP is answered in the shape of every error', async (t) => {
  const bad: Record<string, string> = {
    'no HTTP at all': 'hello\r\n\r\n',
    'a TLS handshake': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'another version': 'GET /posts HTTP/9.9\r\nHost: x\r\n\r\n',
    'a header without a colon': 'GET /posts HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n',
    'two framings at once':
      'POST /posts HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'a length that is none': 'POST /posts HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n',
    'no host': 'GET /posts HTTP/1.1\r\nConnection: close\r\n\r\n',
  };
  for (const [what, bytes] of Object.entries(bad)) {
    const answer = parseAnswer(await writeBytes(t, service.url, bytes));
    t.match(answer, { status: '400', type: 'application/json; charset=utf-8', exact: true }, what);
    t.ok(answer.fields.includes('message'), what);
  }
  const padding = 'x'.repeat(20_000);
  const heads = [
    `GET /posts HTTP/1.1\r\nHost: x\r\nX-Padding: ${padding}\r\n\r\n`,
    `GET /${padding} HTTP/1.1\r\nHost: x\r\n\r\n`,
  ];
  for (const head of heads) {
    const answer = parseAnswer(await writeBytes(t, service.url, head));
    t.match(answer, { status: '431', type: 'application/json; charset=utf-8', exact: true, fields: ['message'] });
  }
});

t.test('a body that breaks off is answered, unless an answer to an earlier request is due', async (t) => {
  const login = 'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const broken = `${login}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
  const answer = parseAnswer(await writeBytes(t, service.url, broken));
  t.match(answer, { status: '400', type: 'application/json; charset=utf-8', exact: true, fields: ['message'] });
  const earlier = `${login}Content-Length: 2\r\n\r\n{}`;
  const { socket, received, closed } = openConnection(t, service.url);
  // Both come at once: the first one's answer cannot be there yet.
  socket.write(earlier + broken);
  await closed;
  t.notMatch(received(), /not valid HTTP/);
});

t.test('a URL in absolute form is the same address', async (t) => {
  const received = await writeBytes(
    t,
    service.url,
    'GET http://localhost/auth/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  );
  t.match(received, /^HTTP\/1.1 401 /);
});

t.test('of several answers the first is given', async (t) => {
  const json = { 'Content-Type': 'application/json' };
  const text = { 'Content-Type': 'text/plain' };
  const foreign = { Cookie: `fc_session_token=${token}`, 'Sec-Fetch-Site': 'cross-site' };
  const own = { Authorization: `Bearer ${token}` };
  const { id } = await service.person();
  const rival = await service.person();
  const form = new FormData();
  form.append('username', rival.username);
  form.append('current_password', 'Wrong-Harbour-27!');
  const wrongPassword = JSON.stringify({ password: 'Wrong-Harbour-27!' });
  const none = 9_007_199_254_740_991;

  for (const [status, what, method, path, headers, body] of [
    [404, 'route before credentials', 'GET', '/nope', {}],
    [405, 'method before credentials', 'PATCH', '/posts', {}],
    [401, 'credentials before media type', 'POST', '/posts/create', text, 'x'],
    [401, 'credentials before size', 'DELETE', '/profiles/me', json, 'x'.repeat(70_000)],
    [401, 'credentials before shape', 'POST', '/posts/like?page=1', {}],
    [401, 'credentials before existence', 'GET', `/posts/${none}`, {}],
    [401, 'credentials before cross-site check', 'POST', '/auth/logout', { 'Sec-Fetch-Site': 'cross-site' }],
    [403, 'cross-site check before media type', 'POST', '/posts/create', { ...foreign, ...text }, 'x'],
    [403, 'cross-site check before shape', 'POST', '/posts/like', foreign],
    [403, 'cross-site check before existence', 'POST', `/posts/like?id=${none}`, foreign],
    [415, 'media type before shape', 'PUT', '/posts/edit?page=1', { ...own, ...text }, 'x'],
    [415, 'media type before existence', 'PUT', `/posts/edit?id=${none}`, { ...own, ...text }, 'x'],
    [413, 'size before shape', 'DELETE', '/profiles/me?page=1', { ...own, ...json }, 'x'.repeat(70_000)],
    [400, 'shape before existence', 'POST', `/posts/like?id=${none}&page=1`, own],
    [400, 'shape before existence in a path', 'GET', `/posts/${none}?page=1`, own],
    [400, 'shape before the password', 'DELETE', '/profiles/me?page=1', { ...own, ...json }, wrongPassword],
    [400, 'shape before whose id it is', 'POST', `/create_relationship?me=${id}&them=${none}&page=1`, own],
    [403, 'whose id it is before existence', 'POST', `/create_relationship?me=${id}&them=${none}`, own],
  ] as const) {
    const answer = await send(method, path, { headers, ...(body !== undefined && { body }) });
    t.equal(answer.status, status, what);
  }
  const conflicting = await ask('PUT', '/profiles/me', { body: form });
  t.equal(conflicting.status, 401, 'the password before a conflict');
});

t.test('the document is served byte for byte, and as JSON of the same content', async (t) => {
  const yaml = await service.ask('GET', '/openapi.yaml');
  const json = await service.ask('GET', '/openapi.json');
  const file = await readFile('openapi.yaml');
  t.ok(yaml.bytes.equals(file));
  t.match(yaml.headers.get('content-type'), /^application\/yaml/);
  t.strictSame(json.body, parse(file.toString()));
});

t.test('whoever has the document as it is gets a 304, by any header that says so', async (t) => {
  const tags = new Set<string>();
  for (const path of ['/openapi.yaml', '/openapi.json']) {
    const { headers, bytes } = await send('GET', path);
    const etag = headers.get('etag') ?? '';
    t.match(etag, /^"[\w-]{43}"$/, 'a strong one');
    t.equal(headers.get('cache-control'), 'no-cache');
    t.equal((await send('GET', path)).headers.get('etag'), etag);
    tags.add(etag);
    for (const method of ['GET', 'HEAD']) {
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const answer = await send(method, path, { headers: { 'If-None-Match': known } });
        t.equal(answer.status, 304, `${method} ${path} with ${known}`);
        t.equal(answer.bytes.length, 0);
        t.equal(answer.headers.get('etag'), etag);
        t.notOk(answer.headers.has('content-type'));
      }
      for (const other of ['"other"', etag.slice(1, -1), '']) {
        const answer = await send(method, path, { headers: { 'If-None-Match': other } });
        t.equal(answer.status, 200, `${method} ${path} with ${other}`);
        if (method === 'GET') t.ok(answer.bytes.equals(bytes));
      }
    }
  }
  t.equal(tags.size, 2, 'each form has its own');
});

t.test('the explorer runs under a policy that lets no script in but its own', async (t) => {
  const page = await service.ask('GET', '/docs');
  t.equal(page.status, 200);
  t.match(page.headers.get('content-type'), /^text\/html/);
  const policy = page.headers.get('content-security-policy') ?? '';
  const directives = new Map(policy.split('; ').map((directive) => [directive.split(' ')[0], directive]));
  t.equal(directives.get('script-src'), "script-src 'self'");
  t.equal(directives.get('default-src'), "default-src 'none'");
  t.notMatch(policy, /unsafe-eval|https?:|\*/);

  const html = page.bytes.toString();
  t.notMatch(html, /<script(?![^>]* src=)|\son\w+=|javascript:/i, 'no script within the page');
  const assets = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '');
  t.ok(assets.length >= 3);
  for (const path of assets) {
    const asset = await service.ask('GET', path);
    t.equal(asset.status, 200, path);
    t.ok(asset.bytes.length > 0);
    t.match(
      asset.headers.get('content-type'),
      { js: /javascript/, css: /css/, png: /image\/png/ }[path.split('.').at(-1) ?? ''],
    );
    t.equal(asset.headers.get('x-content-type-options'), 'nosniff');
  }
});

t.test('operators ask on a port of its own, and nothing of it is on the API’s', async (t) => {
  const ops = async (path: string) => fetch(service.opsUrl + path);
  t.same(await (await ops('/livez')).json(), { status: 'ok' });
  const ready = await ops('/readyz');
  t.equal(ready.status, 200);
  const { status, stores } = (await ready.json()) as { status: string; stores: Record<string, { ok: boolean }> };
  t.equal(status, 'ok');
  for (const store of ['postgres', 'graph', 'images']) t.equal(stores[store]?.ok, true, store);

  t.not(new URL(service.opsUrl).port, new URL(service.url).port);
  for (const path of ['/livez', '/readyz', '/metrics']) t.equal((await service.ask('GET', path)).status, 404, path);
  for (const { path } of contract) t.equal((await ops(path)).status, 404, path);
});

t.test('while it stops it says that it is not ready, refuses what is new and answers what is under way', async (t) => {
  const stopping = await startTestService(t);
  const { socket, received, until, closed } = openConnection(t, stopping.url);
  const body = JSON.stringify({ email, password: 'x' });
  socket.write('POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n');
  socket.write(`Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
  await until(/100 Continue/);

  const stopped = stopping.stop();
  const ready = await fetch(`${stopping.opsUrl}/readyz`);
  t.equal(ready.status, 503);
  t.match(await ready.json(), { status: 'stopping' });
  t.equal((await fetch(`${stopping.opsUrl}/livez`)).status, 200, 'it still lives');
  socket.write(body);
  await closed;
  t.match(received(), /HTTP\/1.1 401 [\s\S]*\}$/);
  t.match(received(), /connection: close/i, 'and told to come elsewhere from now on');
  await stopped;
  await t.rejects(fetch(`${stopping.opsUrl}/livez`));
});

t.test('an expectation that nobody knows is ignored', async (t) => {
  t.equal((await send('GET', '/auth/me', { headers: { Expect: 'a miracle' } })).status, 401);
});
