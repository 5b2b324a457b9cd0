import t from 'tap';
import {
  type ContractOperation,
  INVALID_TOKEN_CHALLENGE,
  operationFor,
  violations,
} from '../../scripts/contract-test/client/index.js';

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': '9b2d6c1e-54a7-4f3b-8f0d-2a7e6c9d1b35',
  'x-ratelimit-limit': '300',
  'x-ratelimit-remaining': '287',
  'x-ratelimit-reset': '642',
  ratelimit: '"general";r=287;t=642',
  'ratelimit-policy': '"general";q=300;w=900',
};

const session = {
  id: '0b6f1c52-8f0e-4a57-9d2b-6c1f3f0f7a10',
  device_name: 'a laptop',
  created_at: '2026-01-31T09:12:00.000Z',
  last_used_at: '2026-01-31T18:40:12.345Z',
  current: true,
};

const findOperation = (method: string, path: string) => operationFor(method, path) as ContractOperation;

const sessions = findOperation('GET', '/auth/sessions');
const post = findOperation('GET', '/posts/7');

const validate = (
  body: unknown,
  headers: Record<string, string | undefined> = {},
  status = 200,
  operation = sessions,
) =>
  violations(operation, {
    status,
    headers: new Headers(Object.entries({ ...HEADERS, ...headers }).filter(([, value]) => value !== undefined) as []),
    body,
  });

/** Returns the violations of a 401 with this body and this challenge. */
const validate401 = (body: object, challenge?: string) => validate(body, { 'www-authenticate': challenge }, 401);

t.test('a response that matches the contract has no violations', async (t) => {
  t.same(validate([session]), []);
  t.same(validate([]), []);
  t.same(validate401({ code: 'no', message: 'No.' }, 'Bearer'), []);
});

t.test('reports each kind of violation', async (t) => {
  const { created_at, ...withoutCreatedAt } = session;
  for (const [found, violation] of [
    [validate([session], {}, 418), 'status 418 is not declared'],
    [validate([session], { 'content-type': 'text/html' }), 'type text/html is not declared'],
    [validate(undefined, { 'content-type': undefined }), 'type undefined is not declared'],
    [validate([session], { 'x-request-id': undefined }), 'header X-Request-Id is missing'],
    [validate([session], { 'x-ratelimit-limit': '0' }), 'header X-RateLimit-Limit: 0: '],
    [validate([session], { 'x-ratelimit-reset': '642.5' }), 'header X-RateLimit-Reset: 642.5: '],
    [validate([session], { 'x-ratelimit-reset': '' }), 'header X-RateLimit-Reset: : '],
    [validate([session], { ratelimit: 'general;r=287;t=642' }), 'header RateLimit: general;r=287;t=642: '],
    [validate([session], { 'ratelimit-policy': '"general";q=300' }), 'header RateLimit-Policy: "general";q=300: '],
    [validate([session], { 'set-cookie': 'a=b' }), 'header Set-Cookie is not declared'],
    [validate401({ code: 'no', message: 'No.' }), 'header WWW-Authenticate is missing'],
    [validate401({ code: 'invalid_token', message: 'No.' }, 'Bearer'), 'WWW-Authenticate: Bearer: '],
    [
      validate401({ code: 'no', message: 'No.' }, INVALID_TOKEN_CHALLENGE),
      `WWW-Authenticate: ${INVALID_TOKEN_CHALLENGE}: `,
    ],
    [validate401({ message: 'No.' }, 'Bearer'), 'code'],
    [validate401({ code: 'No code', message: 'No.' }, 'Bearer'), '#/code'],
    [validate(session), '"object"'],
    [validate([withoutCreatedAt]), 'created_at'],
    [validate([{ ...session, created_at: '2026-02-30T09:12:00.000Z' }]), '#/0/created_at'],
    [validate([{ ...session, current: 'true' }]), '#/0/current'],
    [validate([{ ...session, device_name: 'x'.repeat(256) }]), '#/0/device_name'],
    [validate([session, { ...session, token: 'x' }]), '"token"'],
  ] as const) {
    t.equal(found.length, 1, `${violation}: ${found.join('; ')}`);
    t.ok(found[0]?.includes(violation), `${violation}: ${found.join('; ')}`);
  }
});

t.test('allows the fields of every allOf part and no others', async (t) => {
  const media = post.responses['200']?.content?.['application/json'] as unknown as { examples: object };
  const [{ value }] = Object.values(media.examples) as [{ value: object }];
  t.same(validate(value, {}, 200, post), []);
  t.match(validate({ ...value, email: 'x' }, {}, 200, post).join(), /"email"/);
  t.match(validate({ ...value, comments: [{}] }, {}, 200, post).join(), /comments/);
});

t.test('a 304 and a response to HEAD have no body; their other parts are checked like those of GET', async (t) => {
  const image = findOperation('GET', '/posts/image/a.png');
  const caching = { 'cache-control': 'private, no-cache', 'cross-origin-resource-policy': 'same-site' };
  const notModified = { status: 304, headers: new Headers({ ...HEADERS, ...caching, etag: '"a"' }), body: undefined };
  // A Content-Type, which HEADERS contains, implies a body.
  t.match(violations(image, notModified).join(), /has a body/);
  notModified.headers.delete('content-type');
  t.same(violations(image, notModified), []);
  const head = { status: 200, headers: new Headers(HEADERS), body: undefined };
  t.same(violations(sessions, head, { hasBody: false }), []);
  // Without a body, it is unknown whether a token was rejected.
  for (const challenge of ['Bearer', INVALID_TOKEN_CHALLENGE]) {
    const headers = new Headers({ ...HEADERS, 'www-authenticate': challenge });
    t.same(violations(sessions, { status: 401, headers, body: undefined }, { hasBody: false }), []);
  }
  head.headers.set('content-type', 'text/plain');
  t.match(violations(sessions, head, { hasBody: false }).join(), /type text\/plain is not declared/);
});
