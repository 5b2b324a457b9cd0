import { setTimeout as sleep } from 'node:timers/promises';
import { type ContractOperation, contract, methodAndPath } from '../document.js';
import type { CheckedResponse, RequestOptions } from '../exchange.js';
import { expectCode, expectEqual, expectErrorShape, expectNoRateLimit, expectThat, SkippedError } from '../expect.js';
import { CROSS_SITE, OTHER_ORIGIN } from '../fixtures.js';
import type { Bucket } from '../limits.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers } from '../users.js';
import { validRequest } from './operations.js';

/** Higher limits and longer windows are not tested, to spare a service that is not set up for tests. */
const MAX_REQUESTS = { strict: 300, general: 2000 };
const MAX_WINDOW_SECONDS = 20;

/** The maximum number of operations requested over the limit. A service may delay clients that continue. */
const MAX_OPERATIONS_OVER_LIMIT = 4;

interface RateLimitState {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

/** Returns the state of a bucket from the headers of a response. */
function rateLimitOf(response: CheckedResponse): RateLimitState {
  const [limit, remaining, resetSeconds] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(response.headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  ) as [number, number, number];
  expectThat(
    [limit, remaining, resetSeconds].every((value) => Number.isInteger(value) && value >= 0),
    'X-RateLimit-Limit, -Remaining and -Reset as integers',
    response,
  );
  return { limit, remaining, resetSeconds };
}

/** The operation whose requests show the state of each bucket. */
const PROBES = { strict: 'login', general: 'getCurrentAccount' };

/** Returns `RateLimit-Policy`. Checks that it and `RateLimit` state the same numbers as the `X-RateLimit` headers. */
function policyOf(response: CheckedResponse): string {
  const { limit, remaining, resetSeconds } = rateLimitOf(response);
  const policy = response.headers.get('ratelimit-policy') ?? '';
  const [, name, quota, windowSeconds] = /^"(.+)";q=(\d+);w=(\d+)$/.exec(policy) ?? [];
  expectEqual(response, 'the quota in RateLimit-Policy', Number(quota), limit);
  expectThat(Number(windowSeconds) >= resetSeconds, 'a window in RateLimit-Policy that has not ended', response);
  const expected = `"${name}";r=${remaining};t=${resetSeconds}`;
  expectEqual(response, 'RateLimit', response.headers.get('ratelimit'), expected);
  return policy;
}

/** Returns the length of the window from `RateLimit-Policy`. */
const windowSecondsOf = (response: CheckedResponse) => Number(policyOf(response).split('w=')[1]);

/** Sends a request that changes nothing, but counts against the rate limit. */
const sendRejected = (users: TestUsers, operation: ContractOperation, sent: RequestOptions = {}) => {
  const wanted = operation.secured ? [401, 429] : [400, 429];
  return users.anonymous.send(wanted, validRequest(operation), {
    ...(operation.rateLimit === 'strict' && { json: {} }),
    ...sent,
  });
};

const operationById = (id: string) => contract.find((operation) => operation.id === id) as ContractOperation;

/** Throws SkippedError if it would take too long to wait for the end of the window. */
function requireShortWindow(resetSeconds: number): void {
  if (resetSeconds > MAX_WINDOW_SECONDS)
    throw new SkippedError(`the window of ${resetSeconds} s is too long to wait for`);
}

/** The maximum number of windows that a rule waits for. */
const MAX_WINDOWS = 3;

/** Waits until a window has ended. */
const untilReset = (resetSeconds: number) => sleep((resetSeconds + 0.2) * 1000);

/**
 * Repeats a measurement until its numbers are exact, at most `maxAttempts` times, and returns the last result. A new window may
 * start meanwhile, and requests of other clients from the same address count too.
 */
async function untilExact<Result extends { exact: boolean }>(
  measure: () => Promise<Result>,
  maxAttempts = 8,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const result = await measure();
    if (result.exact || attempt === maxAttempts) return result;
  }
}

/** A window that ends sooner may end before its bucket is used up. A bucket with fewer requests would show little. */
const TO_EXHAUST = { minSeconds: 2, minRequests: 10 };

const EXHAUST_CONCURRENCY = 8;

/**
 * Uses up a bucket. Returns how many requests should have passed, how many have, and the first response after them.
 *
 * @throws SkippedError if the service is too slow: a new window starts before the bucket is used up
 */
async function exhaust(send: () => Promise<CheckedResponse>) {
  const result = await untilExact(async () => {
    let start = rateLimitOf(await send());
    if (start.resetSeconds < TO_EXHAUST.minSeconds || start.remaining < TO_EXHAUST.minRequests) {
      requireShortWindow(start.resetSeconds);
      await untilReset(start.resetSeconds);
      start = rateLimitOf(await send());
    }
    const responses: CheckedResponse[] = [];
    let refused: CheckedResponse | undefined;
    while (!refused && responses.length <= start.remaining) {
      // One request at a time beyond the limit: see `MAX_OPERATIONS_OVER_LIMIT`.
      const count = Math.max(1, Math.min(EXHAUST_CONCURRENCY, start.remaining - responses.length));
      responses.push(...(await Promise.all(Array.from({ length: count }, send))));
      refused = responses.find(({ status }) => status === 429);
    }
    const passed = responses.filter(({ status }) => status !== 429).length;
    const isNewWindow = responses.some((response) => rateLimitOf(response).resetSeconds > start.resetSeconds);
    return {
      exact: refused !== undefined && passed === start.remaining,
      isNewWindow,
      expected: start.remaining,
      passed,
      next: refused ?? (responses.at(-1) as CheckedResponse),
    };
  }, MAX_WINDOWS);
  if (!result.exact && result.isNewWindow)
    throw new SkippedError(`the limit of ${rateLimitOf(result.next).limit} cannot be used up within a window`);
  return result;
}

/** Requests outside the contract's operations, which count in the general bucket. */
const OTHER_LIMITED_REQUESTS: [wanted: number, request: string][] = [
  [404, 'GET /no-such-path'],
  [405, 'PATCH /posts'],
  [400, 'GET /%ff'],
  [204, 'OPTIONS /posts'],
];

/** Requests that are not rate limited. */
const UNLIMITED: [wanted: number, request: string, headers: Record<string, string>][] = [
  [200, 'GET /docs', {}],
  [200, 'GET /openapi.yaml', {}],
  [200, 'GET /openapi.json', {}],
  [204, 'OPTIONS /posts/create', { Origin: OTHER_ORIGIN, 'Access-Control-Request-Method': 'POST' }],
];

const exceededRule = (bucket: Bucket) =>
  rule(
    `limits.exceeded.${bucket}`,
    `X-RateLimit-Remaining is the number of requests that the ${bucket} limit still allows in a window. Further requests of all its operations return 429 rate_limit_exceeded with Retry-After. The other limit is not affected.`,
    async (users) => {
      const send = () => sendRejected(users, operationById(PROBES[bucket]), { allow429: true });
      const { limit, resetSeconds } = rateLimitOf(await send());
      if (limit > MAX_REQUESTS[bucket]) throw new SkippedError(`the ${bucket} limit of ${limit} is too high to exceed`);
      requireShortWindow(resetSeconds);
      // Earlier rules may have used up the other bucket, which must allow a request afterwards.
      const otherProbe = operationById(PROBES[bucket === 'strict' ? 'general' : 'strict']);
      const other = rateLimitOf(await sendRejected(users, otherProbe));
      if (other.remaining === 0) {
        requireShortWindow(other.resetSeconds);
        await untilReset(other.resetSeconds);
      }
      const { expected, passed, next } = await exhaust(send);
      expectThat(next.status === 429, `429 after ${expected} requests`, next);
      expectEqual(next, 'the number of requests that passed', passed, expected);
      const operations = contract.filter(({ rateLimit }) => rateLimit === bucket);
      const step = Math.ceil(operations.length / MAX_OPERATIONS_OVER_LIMIT);
      const responses = [next];
      for (const operation of operations.filter((_, index) => index % step === 0)) {
        responses.push(await sendRejected(users, operation, { allow429: true }));
      }
      if (bucket === 'general') {
        for (const [wanted, request] of OTHER_LIMITED_REQUESTS) {
          responses.push(await users.anonymous.send([wanted, 429], request, { allow429: true }));
        }
        for (const [wanted, request, headers] of UNLIMITED) {
          const unlimited = await users.anonymous.send(wanted, request, { headers, allow429: true });
          expectNoRateLimit(unlimited);
        }
      }
      for (const response of responses) {
        // A new window may have started meanwhile.
        if (response.status !== 429 && rateLimitOf(response).remaining > 0) continue;
        expectThat(response.status === 429, '429', response);
        policyOf(response);
        expectCode(expectErrorShape(response), 'rate_limit_exceeded');
        const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
        expectThat(
          Number.isInteger(seconds) && seconds > 0 && Math.abs(seconds - rateLimitOf(response).resetSeconds) <= 1,
          'a Retry-After at the end of the window, in seconds',
          response,
        );
        expectEqual(response, 'X-RateLimit-Remaining', rateLimitOf(response).remaining, 0);
      }
      // Without a retry, which would hide a 429.
      const otherResponse = await sendRejected(users, otherProbe, { allow429: true });
      expectThat(otherResponse.status !== 429, 'requests of the other bucket to pass', otherResponse);
    },
  );

const newWindowRule = rule(
  'limits.new-window',
  'When the window ends, a new one allows as many requests as X-RateLimit-Limit states.',
  async (users) => {
    const probe = async (bucket: Bucket) => {
      const response = await sendRejected(users, operationById(PROBES[bucket]), { allow429: true });
      return { response, ...rateLimitOf(response) };
    };
    const probeBoth = async () => [await probe('strict'), await probe('general')];
    const { states } = await untilExact(async () => {
      const resetSeconds = Math.max(...(await probeBoth()).map((state) => state.resetSeconds));
      requireShortWindow(resetSeconds);
      await untilReset(resetSeconds);
      const states = await probeBoth();
      return { states, exact: states.every(({ limit, remaining }) => remaining === limit - 1) };
    }, MAX_WINDOWS);
    for (const { response, limit, remaining } of states)
      expectEqual(response, 'X-RateLimit-Remaining after the first request of a window', remaining, limit - 1);
  },
);

const resetRule = rule(
  'limits.reset',
  'X-RateLimit-Reset is the number of seconds until the window ends, and decreases as time passes.',
  async (users) => {
    const probe = () => sendRejected(users, operationById('getCurrentAccount'));
    if (windowSecondsOf(await probe()) < 2) throw new SkippedError('the window is too short to observe its end');
    const { exact, before, response } = await untilExact(async () => {
      let before = rateLimitOf(await probe());
      // The window would end before the second request.
      if (before.resetSeconds < 2) {
        await untilReset(before.resetSeconds);
        before = rateLimitOf(await probe());
      }
      await sleep(1100);
      const response = await probe();
      const decrease = before.resetSeconds - rateLimitOf(response).resetSeconds;
      return { exact: decrease >= 1 && decrease <= 3, before, response };
    }, MAX_WINDOWS);
    expectThat(exact, `X-RateLimit-Reset to fall from ${before.resetSeconds} by the second that has passed`, response);
  },
);

type CountedCase = [
  id: string,
  description: string,
  bucket: Bucket,
  send: (users: TestUsers) => Promise<CheckedResponse>,
];

/** Not read from the document, to detect errors in it. All other operations are in the general bucket. */
const STRICT_OPERATIONS = ['register', 'login', 'deleteAccount'];

/** Every operation, and other requests, with the bucket in which each counts once. */
const COUNTED: CountedCase[] = [
  ...contract.map(
    (operation): CountedCase => [
      operation.id,
      methodAndPath(operation),
      STRICT_OPERATIONS.includes(operation.id) ? 'strict' : 'general',
      (users) => sendRejected(users, operation),
    ],
  ),
  ['unknown-path', 'an unknown path', 'general', (users) => users.anonymous.send(404, 'GET /no-such-path')],
  ['method', 'a method that a path does not support', 'general', (users) => users.anonymous.send(405, 'PATCH /posts')],
  ['head', 'HEAD', 'general', (users) => users.anonymous.send(401, 'HEAD /posts')],
  ['options', 'OPTIONS', 'general', (users) => users.anonymous.send(204, 'OPTIONS /posts')],
  [
    'options-with-origin',
    'OPTIONS with an Origin, but without Access-Control-Request-Method',
    'general',
    (users) => users.anonymous.send(204, 'OPTIONS /posts', { headers: { Origin: users.origin } }),
  ],
  [
    'cross-site-with-authorization',
    'a cross-origin request with an Authorization header',
    'general',
    (users) => users.anonymous.send(401, 'GET /auth/me', { token: 'invalid', headers: CROSS_SITE }),
  ],
  [
    'cross-site-login-with-authorization',
    'a cross-origin login with an Authorization header',
    'strict',
    (users) => users.anonymous.send(400, 'POST /auth/login', { token: 'invalid', headers: CROSS_SITE, json: {} }),
  ],
  ['url', 'a URL that cannot be decoded', 'general', (users) => users.anonymous.send(400, 'GET /%ff')],
  [
    'method-of-strict',
    'a method that the path of a strict operation does not support',
    'general',
    (users) => users.anonymous.send(405, 'GET /auth/login'),
  ],
];

const countRules = (selected: Bucket) =>
  COUNTED.filter(([, , bucket]) => bucket === selected).map(([id, description, bucket, send]) =>
    rule(
      `limits.counted.${id}`,
      `Every request counts once, even if it is rejected. The ${bucket} limit counts ${description}.`,
      async (users) => {
        const probe = operationById(PROBES[bucket]);
        const { exact, before, response, after } = await untilExact(async () => {
          const before = rateLimitOf(await sendRejected(users, probe));
          const response = await send(users);
          // A general request, which must not count in the strict bucket.
          if (bucket === 'strict') await sendRejected(users, operationById('getCurrentAccount'));
          const after = rateLimitOf(await sendRejected(users, probe));
          const { limit, remaining } = rateLimitOf(response);
          expectEqual(response, 'X-RateLimit-Limit, as for other operations of the bucket', limit, before.limit);
          const exact = before.remaining - remaining === 1 && remaining - after.remaining === 1;
          return { exact, before, response, after };
        });
        expectThat(exact, 'X-RateLimit-Remaining to fall by one', response);
        expectThat(
          after.resetSeconds <= before.resetSeconds,
          'X-RateLimit-Reset not to rise within a window',
          response,
        );
      },
    ),
  );

/** For each bucket, an operation and the status of its cross-origin request without credentials. */
const CROSS_SITE_REQUESTS: [id: string, status: number][] = [
  ['getCurrentAccount', 401],
  ['login', 403],
];

const FORGED_HEADERS = ['X-Forwarded-For', 'X-Real-IP', 'Forwarded', 'True-Client-IP', 'X-Client-IP'];

const forgedRule = rule(
  'limits.forged',
  `A client that sends ${FORGED_HEADERS.join(', ')} does not get a separate limit: only trusted proxies may set these headers.`,
  async (users) => {
    let addressCount = 0;
    for (const name of FORGED_HEADERS) {
      const { exact, response } = await untilExact(async () => {
        const before = rateLimitOf(await sendRejected(users, operationById('getCurrentAccount')));
        // A new address for each attempt: the bucket of a forged address that was used before could match by chance.
        addressCount += 1;
        const address = `203.0.113.${addressCount}`;
        const headers = { [name]: name === 'Forwarded' ? `for=${address}` : address };
        const response = await sendRejected(users, operationById('getCurrentAccount'), { headers });
        return { exact: rateLimitOf(response).remaining === before.remaining - 1, response };
      });
      expectThat(exact, `${name} not to open a separate bucket`, response);
    }
  },
);

/** These rules count requests, so no other rules may run at the same time. */
export const limits: Subject = {
  name: 'Rate limits',
  rules: [
    // First, because the requests of the other rules have already used up a part of the bucket.
    exceededRule('general'),
    newWindowRule,
    exceededRule('strict'),
    // The rules for the general bucket come next. Meanwhile, the window of the strict bucket, which is used up, may end.
    resetRule,
    ...countRules('general'),
    forgedRule,
    ...countRules('strict'),

    rule(
      'limits.fields',
      'RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers) state the numbers of X-RateLimit-Limit, -Remaining and -Reset. Each limit has one policy.',
      async (users) => {
        const policies: Partial<Record<Bucket, string>> = {};
        for (const [, , bucket, send] of COUNTED) {
          const response = await send(users);
          const policy = policyOf(response);
          policies[bucket] ??= policy;
          expectEqual(response, `the policy of the ${bucket} bucket`, policy, policies[bucket]);
          expectThat(policies.strict !== policies.general, 'different policies for the two buckets', response);
        }
      },
    ),

    rule(
      'limits.cross-site',
      'A cross-origin request without an Authorization header counts only in a bucket of its own with the general limit, so that no web page can use up the limits of its visitors.',
      async (users) => {
        const general = rateLimitOf(await sendRejected(users, operationById('getCurrentAccount')));
        for (const [id, status] of CROSS_SITE_REQUESTS) {
          const operation = operationById(id);
          const sendCrossSite = () =>
            users.anonymous.send(status, validRequest(operation), {
              headers: CROSS_SITE,
              ...(status === 403 && { json: {} }),
            });
          const { exact, response } = await untilExact(async () => {
            const before = rateLimitOf(await sendRejected(users, operation));
            const first = rateLimitOf(await sendCrossSite());
            const response = await sendCrossSite();
            const second = rateLimitOf(response);
            const after = rateLimitOf(await sendRejected(users, operation));
            expectEqual(response, 'X-RateLimit-Limit, as for general operations', second.limit, general.limit);
            const exact = after.remaining === before.remaining - 1 && second.remaining === first.remaining - 1;
            return { exact, response };
          });
          expectThat(exact, 'cross-origin requests to count only in their own bucket', response);
        }
      },
    ),
  ],
};
