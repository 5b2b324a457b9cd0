import { METHODS } from 'node:http';
import t from 'tap';
import { contract } from '../scripts/contract-test/document.js';
import { startTestService } from './harness.js';
import { openStage } from './scenes.js';
import { wire, writeBytes } from './wire.js';

const service = await startTestService(t);
const stage = await openStage(service);
const send = wire(t, service.url);

/** What each address takes, by its path: the contract's, and what lies beside it. */
const taken = new Map<string, string[]>(
  ['/docs', '/docs/explorer.js', '/docs/swagger-ui.css', '/openapi.yaml', '/openapi.json'].map((path) => [
    path,
    ['GET'],
  ]),
);
for (const { method, path } of contract) taken.set(path, [...(taken.get(path) ?? []), method]);

const addresses = [...taken].map(([path, methods]) => ({
  path: path.replace('{id}', '1').replace('{filename}', 'a.png'),
  allowed: [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort(),
}));

const listOf = (allow: string | null) => (allow ?? '').split(', ').sort();

// A server answers CONNECT by closing the connection.
const methods = METHODS.filter((method) => method !== 'CONNECT');

t.test(
  'a method that an address lacks is 405, with those that it has, before anything else is looked at',
  async (t) => {
    for (const { path, allowed } of addresses) {
      const wrong: string[] = [];
      for (const method of methods.filter((method) => !allowed.includes(method))) {
        for (const sent of [{}, { headers: { 'Content-Type': 'application/json' }, body: '{' }]) {
          const { status, headers, body } = await send(method, `${path}?page=1`, sent);
          const shaped = method === 'HEAD' || Object.keys(body).join() === 'message';
          const right = shaped && status === 405 && `${listOf(headers.get('allow'))}` === `${allowed}`;
          if (!right || !headers.has('x-request-id')) wrong.push(method);
        }
      }
      t.same(wrong, [], path);
    }
  },
);

t.test('a literal address is never taken for a parameter’s value', async (t) => {
  const { token } = await service.person();
  for (const path of ['/posts/create', '/posts/edit', '/posts/delete', '/posts/like']) {
    t.equal((await send('GET', path, { token })).status, 405, path);
    t.equal((await send('HEAD', path, { token })).status, 405, `HEAD ${path}`);
  }
  t.equal((await send('DELETE', '/posts/me', { token })).status, 405);
  t.equal((await send('GET', '/posts/image', { token })).status, 404, 'no address: a post of that id');
  t.equal((await send('PUT', '/profiles/1', { token })).status, 405);
});

t.test('methods that few servers know are 405 too', async (t) => {
  for (const method of ['PATCH', 'TRACE', 'PROPFIND', 'M-SEARCH', ...(METHODS.includes('QUERY') ? ['QUERY'] : [])]) {
    const { status, headers } = await send(method, '/posts');
    t.equal(status, 405, method);
    t.equal(headers.get('allow'), 'GET, HEAD, OPTIONS');
  }
});

t.test('a method that nobody knows is 400', async (t) => {
  t.match(
    await writeBytes(t, service.url, 'FETCH /posts HTTP/1.1\r\nHost: x\r\n\r\n'),
    /^HTTP\/1.1 400 [\s\S]*\{"message":/,
  );
});

t.test('OPTIONS is 204 with what the address takes, for everybody', async (t) => {
  for (const { path, allowed } of addresses) {
    const { status, headers, bytes } = await send('OPTIONS', path);
    t.equal(status, 204, path);
    t.same(listOf(headers.get('allow')), allowed);
    t.equal(bytes.length, 0);
    t.ok(headers.has('x-request-id'));
  }
});

const VARYING = /^(date|x-request-id|x-ratelimit-remaining|x-ratelimit-reset)$/;
const fixed = (headers: Headers) => [...headers].filter(([name]) => !VARYING.test(name));

t.test('HEAD is GET without the body, to those who may ask and to those who may not', async (t) => {
  for (const operation of contract.filter(({ method }) => method === 'GET')) {
    const { path, token } = await stage.set(operation);
    for (const [who, sent] of Object.entries({ caller: { token }, stranger: {} })) {
      const get = await send('GET', path, sent);
      const head = await send('HEAD', path, sent);
      t.equal(head.status, get.status, `${operation.id}: ${who}`);
      t.equal(get.status, who === 'caller' ? 200 : 401);
      t.same(fixed(head.headers), fixed(get.headers), `${operation.id}: headers`);
      t.equal(head.bytes.length, 0);
      t.ok(get.bytes.length > 0);
    }
  }
  for (const path of ['/docs', '/openapi.yaml', '/openapi.json', '/docs/swagger-ui.css', '/nope', '/%ff']) {
    const get = await send('GET', path);
    const head = await send('HEAD', path);
    t.equal(head.status, get.status, path);
    t.same(fixed(head.headers), fixed(get.headers), `${path}: headers`);
    t.equal(head.bytes.length, 0);
  }
});
