import { type Bucket, type CheckedResponse, contract, methodAndPath } from '../../client/index.js';
import { expectEqual, expectThat } from '../../expect.js';
import { CROSS_SITE, withCookie } from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';
import { validRequest } from '../operations.js';
import { PROBES, policyOf, probe, rateLimitOf, sendRejected, untilExact } from './probes.js';

type CountedRequest = [
  id: string,
  description: string,
  bucket: Bucket,
  send: (users: TestUsers) => Promise<CheckedResponse>,
];

/** Not read from the document, to detect errors in it. All other operations are in the general bucket. */
const STRICT_OPERATIONS = ['register', 'login', 'deleteAccount'];

/** Every operation, and other requests, with the bucket in which each counts once. */
const COUNTED: CountedRequest[] = [
  ...contract.map(
    (operation): CountedRequest => [
      operation.id,
      methodAndPath(operation),
      STRICT_OPERATIONS.includes(operation.id) ? 'strict' : 'general',
      (users) => sendRejected(users, operation),
    ],
  ),
  ['unknown-path', 'requests for unknown paths', 'general', (users) => users.anonymous.send(404, 'GET /no-such-path')],
  ['method', 'requests with an unsupported method', 'general', (users) => users.anonymous.send(405, 'PATCH /posts')],
  ['head', 'HEAD requests', 'general', (users) => users.anonymous.send(401, 'HEAD /posts')],
  ['options', 'OPTIONS requests', 'general', (users) => users.anonymous.send(204, 'OPTIONS /posts')],
  [
    'options-with-origin',
    'OPTIONS requests with an Origin, but without Access-Control-Request-Method',
    'general',
    (users) => users.anonymous.send(204, 'OPTIONS /posts', { headers: { Origin: users.origin } }),
  ],
  [
    'cross-site-with-authorization',
    'cross-origin requests with an Authorization header',
    'general',
    (users) => users.anonymous.send(401, 'GET /auth/me', { token: 'invalid', headers: CROSS_SITE }),
  ],
  [
    'cross-site-login-with-authorization',
    'cross-origin logins with an Authorization header',
    'strict',
    (users) => users.anonymous.send(400, 'POST /auth/login', { token: 'invalid', headers: CROSS_SITE, json: {} }),
  ],
  [
    'token',
    'requests with a valid token',
    'general',
    async (users) => (await users.sharedUser('ada')).send(200, 'GET /auth/me'),
  ],
  [
    'cookie',
    'requests with a valid cookie',
    'general',
    async (users) => users.anonymous.send(200, 'GET /auth/me', withCookie((await users.sharedUser('ada')).token)),
  ],
  ['successful-login', 'successful logins', 'strict', async (users) => users.login(await users.sharedUser('ada'))],
  [
    'user-agent',
    'requests with another User-Agent',
    'general',
    (users) => users.anonymous.send(401, 'GET /auth/me', { headers: { 'User-Agent': 'Another/1.0' } }),
  ],
  ['url', 'requests whose URL cannot be decoded', 'general', (users) => users.anonymous.send(400, 'GET /%ff')],
  [
    'method-of-strict',
    'requests with a method that the path of a strict operation does not support',
    'general',
    (users) => users.anonymous.send(405, 'GET /auth/login'),
  ],
];

export const countRules = (selected: Bucket) =>
  COUNTED.filter(([, , bucket]) => bucket === selected).map(([id, description, bucket, send]) =>
    rule(
      `limits.counted.${id}`,
      `Every request counts once, even if it is rejected. The ${bucket} limit counts ${description}.`,
      async (users) => {
        const { exact, before, response, after } = await untilExact(async () => {
          const before = rateLimitOf(await probe(users, bucket));
          const response = await send(users);
          // A general request, which must not count in the strict bucket.
          if (bucket === 'strict') await probe(users, 'general');
          const after = rateLimitOf(await probe(users, bucket));
          const { limit, remaining } = rateLimitOf(response);
          expectEqual(response, 'X-RateLimit-Limit, as for other operations of the bucket', limit, before.limit);
          const exact = before.remaining - remaining === 1 && remaining - after.remaining === 1;
          return { exact, before, response, after };
        });
        expectThat(exact, 'X-RateLimit-Remaining to fall by one', response);
        expectThat(after.resetSeconds <= before.resetSeconds, 'X-RateLimit-Reset not to rise in a window', response);
      },
    ),
  );

const FORGED_HEADERS = ['X-Forwarded-For', 'X-Real-IP', 'Forwarded', 'True-Client-IP', 'X-Client-IP'];

export const forgedRule = rule(
  'limits.forged',
  `A client that sends ${FORGED_HEADERS.join(', ')} does not get a separate limit: only trusted proxies may set these headers.`,
  async (users) => {
    let addressCount = 0;
    for (const name of FORGED_HEADERS) {
      const { exact, response } = await untilExact(async () => {
        const before = rateLimitOf(await probe(users, 'general'));
        // A new address for each attempt: a bucket that was used before could have the same count by chance.
        addressCount += 1;
        const address = `203.0.113.${addressCount}`;
        const headers = { [name]: name === 'Forwarded' ? `for=${address}` : address };
        const response = await probe(users, 'general', { headers });
        return { exact: rateLimitOf(response).remaining === before.remaining - 1, response };
      });
      expectThat(exact, `${name} not to open a separate bucket`, response);
    }
  },
);

export const fieldsRule = rule(
  'limits.fields',
  'RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers) state the same numbers as X-RateLimit-Limit, -Remaining and -Reset, and name the limit: general, strict or cross-site. Each limit has one policy.',
  async (users) => {
    const policies: Partial<Record<Bucket, string>> = {};
    for (const [, , bucket, send] of COUNTED) {
      const response = await send(users);
      const policy = policyOf(response);
      policies[bucket] ??= policy;
      expectEqual(response, `the policy of the ${bucket} bucket`, policy, policies[bucket]);
      expectEqual(response, 'the name of the limit', policy.split(';')[0], `"${bucket}"`);
    }
    const crossSite = await users.anonymous.send(401, 'GET /auth/me', { headers: CROSS_SITE });
    const [name, ...numbers] = policyOf(crossSite).split(';');
    const [, ...generalNumbers] = policies.general?.split(';') ?? [];
    expectEqual(crossSite, 'the quota and the window, as in the general limit', numbers, generalNumbers);
    expectEqual(crossSite, 'the name of the limit', name, '"cross-site"');
  },
);

export const crossSiteRule = rule(
  'limits.cross-site',
  'Cross-origin requests without an Authorization header count only in a separate bucket, whose limit is that of the general bucket, so that no web page can use up the limits of its visitors.',
  async (users) => {
    const general = rateLimitOf(await probe(users, 'general'));
    for (const [bucket, status, options] of [
      ['general', 401, {}],
      ['strict', 403, { json: {} }],
    ] as const) {
      const sendCrossSite = () =>
        users.anonymous.send(status, validRequest(PROBES[bucket]), { headers: CROSS_SITE, ...options });
      const { exact, response } = await untilExact(async () => {
        const before = rateLimitOf(await probe(users, bucket));
        const first = rateLimitOf(await sendCrossSite());
        const response = await sendCrossSite();
        const second = rateLimitOf(response);
        const after = rateLimitOf(await probe(users, bucket));
        expectEqual(response, 'X-RateLimit-Limit, as for general operations', second.limit, general.limit);
        const exact = after.remaining === before.remaining - 1 && second.remaining === first.remaining - 1;
        return { exact, response };
      });
      expectThat(exact, 'cross-origin requests to count only in their own bucket', response);
    }
  },
);
