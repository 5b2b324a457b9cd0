import { setTimeout as sleep } from 'node:timers/promises';
import { type Bucket, type CheckedResponse, contract } from '../../client/index.js';
import {
  expectCode,
  expectEqual,
  expectErrorShape,
  expectNoRateLimit,
  expectThat,
  SkippedError,
} from '../../expect.js';
import { OTHER_ORIGIN } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { isBehindGateway } from '../http-parsing.js';
import { policyOf, probe, rateLimitOf, sendRejected, untilExact } from './probes.js';

/** Higher limits and longer windows are not tested, because a service that has them is probably not set up for tests. */
const MAX_TESTED_LIMITS = { strict: 300, general: 2000 };
const MAX_TESTED_WINDOW_SECONDS = 20;

/** The maximum number of operations requested over the limit. A service may delay clients that continue to send. */
const MAX_OPERATIONS_OVER_LIMIT = 4;

/** Returns the length of the window from `RateLimit-Policy`. */
const windowSecondsOf = (response: CheckedResponse) => Number(policyOf(response).split('w=')[1]);

/** Throws SkippedError if it would take too long to wait for the end of the window. */
function requireShortWindow(resetSeconds: number): void {
  if (resetSeconds > MAX_TESTED_WINDOW_SECONDS)
    throw new SkippedError(`the window of ${resetSeconds} s is too long to wait for`);
}

const MAX_WINDOWS_TO_WAIT = 3;

const untilReset = (resetSeconds: number) => sleep((resetSeconds + 0.2) * 1000);

/** With less time, the window could end before its bucket is used up. With fewer requests, the result would mean little. */
const MIN_TO_EXHAUST = { seconds: 2, requests: 10 };

const EXHAUST_CONCURRENCY = 8;

/**
 * Uses up a bucket. Returns how many requests should have been accepted and how many were, and the first refused response.
 *
 * @throws SkippedError if the window is too long to wait for, or a new one starts before the bucket is used up
 */
async function exhaust(send: () => Promise<CheckedResponse>) {
  const result = await untilExact(async () => {
    let start = rateLimitOf(await send());
    if (start.resetSeconds < MIN_TO_EXHAUST.seconds || start.remaining < MIN_TO_EXHAUST.requests) {
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
  }, MAX_WINDOWS_TO_WAIT);
  if (!result.exact && result.isNewWindow)
    throw new SkippedError(`the limit of ${rateLimitOf(result.next).limit} cannot be used up within a window`);
  return result;
}

/** Requests outside the contract's operations, which count in the general bucket. */
const OTHER_LIMITED_REQUESTS: [expectedStatus: number, request: string][] = [
  [404, 'GET /no-such-path'],
  [405, 'PATCH /posts'],
  [400, 'GET /%ff'],
  [204, 'OPTIONS /posts'],
];

/** Requests that are not rate limited. */
const UNLIMITED_REQUESTS: [expectedStatus: number, request: string, headers: Record<string, string>][] = [
  [200, 'GET /docs', {}],
  [200, 'GET /openapi.yaml', {}],
  [200, 'GET /openapi.json', {}],
  [204, 'OPTIONS /posts/create', { Origin: OTHER_ORIGIN, 'Access-Control-Request-Method': 'POST' }],
];

export const uncountedRule = rule(
  'limits.uncounted',
  'Requests for the document and the explorer, and CORS preflights, do not count toward the general limit.',
  async (users) => {
    for (const [status, request, headers] of UNLIMITED_REQUESTS) {
      const { exact, response } = await untilExact(async () => {
        const before = rateLimitOf(await probe(users, 'general'));
        const response = await users.anonymous.send(status, request, { headers });
        const after = rateLimitOf(await probe(users, 'general'));
        return { exact: before.remaining - after.remaining === 1, response };
      });
      expectThat(exact, 'X-RateLimit-Remaining not to fall', response);
    }
  },
);

/** Checks the response to a request that exceeds a limit. */
function expectExceeded(response: CheckedResponse): void {
  expectThat(response.status === 429, '429', response);
  policyOf(response);
  expectCode(expectErrorShape(response), 'rate_limit_exceeded');
  const { remaining, resetSeconds } = rateLimitOf(response);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const isEndOfWindow = Number.isInteger(seconds) && seconds > 0 && Math.abs(seconds - resetSeconds) <= 1;
  expectThat(isEndOfWindow, 'a Retry-After at the end of the window, in seconds', response);
  expectEqual(response, 'X-RateLimit-Remaining', remaining, 0);
}

export const exceededRule = (bucket: Bucket) =>
  rule(
    `limits.exceeded.${bucket}`,
    `X-RateLimit-Remaining is the number of requests that the ${bucket} limit still allows in a window. When none are left, every operation with this limit returns 429 rate_limit_exceeded with Retry-After, and the connection is closed. The other limit is not affected.`,
    async (users) => {
      const send = () => probe(users, bucket, { immediate: true });
      const { limit, resetSeconds } = rateLimitOf(await send());
      if (limit > MAX_TESTED_LIMITS[bucket])
        throw new SkippedError(`the ${bucket} limit of ${limit} is too high to exceed`);
      requireShortWindow(resetSeconds);
      // Earlier rules may have used up the other bucket, which must allow a request afterwards.
      const otherBucket = bucket === 'strict' ? 'general' : 'strict';
      const other = rateLimitOf(await probe(users, otherBucket));
      if (other.remaining === 0) {
        requireShortWindow(other.resetSeconds);
        await untilReset(other.resetSeconds);
      }
      const closesConnection = !(await isBehindGateway(users));
      const { expected, passed, next } = await exhaust(send);
      expectThat(next.status === 429, `429 after ${expected} requests`, next);
      expectEqual(next, 'the number of requests that passed', passed, expected);
      const operations = contract.filter(({ rateLimit }) => rateLimit === bucket);
      const step = Math.ceil(operations.length / MAX_OPERATIONS_OVER_LIMIT);
      const responses = [next];
      for (const operation of operations.filter((_, index) => index % step === 0)) {
        responses.push(await sendRejected(users, operation, { immediate: true }));
      }
      if (bucket === 'general') {
        for (const [expectedStatus, request] of OTHER_LIMITED_REQUESTS) {
          responses.push(await users.anonymous.send([expectedStatus, 429], request, { immediate: true }));
        }
        for (const [expectedStatus, request, headers] of UNLIMITED_REQUESTS) {
          expectNoRateLimit(await users.anonymous.send(expectedStatus, request, { headers, immediate: true }));
        }
      }
      for (const response of responses) {
        // A new window may have started meanwhile.
        if (response.status !== 429 && rateLimitOf(response).remaining > 0) continue;
        expectExceeded(response);
        // A gateway has a connection of its own to the client.
        if (closesConnection) expectEqual(response, 'Connection', response.headers.get('connection'), 'close');
      }
      // A retry would hide a 429.
      const otherResponse = await probe(users, otherBucket, { immediate: true });
      expectThat(otherResponse.status !== 429, 'requests of the other bucket to pass', otherResponse);
    },
  );

export const newWindowRule = rule(
  'limits.new-window',
  'When the window ends, a new one allows as many requests as X-RateLimit-Limit states, and lasts as long as RateLimit-Policy states. Requests that return 429 do not extend a window.',
  async (users) => {
    const readState = async (bucket: Bucket) => {
      const response = await probe(users, bucket, { immediate: true });
      return { response, ...rateLimitOf(response) };
    };
    const readStates = async () => [await readState('strict'), await readState('general')] as const;
    const { states } = await untilExact(async () => {
      const [strict, general] = await readStates();
      const resetSeconds = Math.max(strict.resetSeconds, general.resetSeconds);
      requireShortWindow(resetSeconds);
      // Usually, earlier rules have used up the general bucket, so that a request halfway through the rest of its window is
      // refused. One second is subtracted because X-RateLimit-Reset is rounded up.
      const halfway = sleep((general.resetSeconds - 1) * 500).then(() => readState('general'));
      await Promise.all([untilReset(resetSeconds), halfway]);
      const states = await readStates();
      return { states, exact: states.every(({ limit, remaining }) => remaining === limit - 1) };
    }, MAX_WINDOWS_TO_WAIT);
    for (const { response, limit, remaining } of states)
      expectEqual(response, 'X-RateLimit-Remaining after the first request of a window', remaining, limit - 1);
    const isWholeWindow = states.some(({ response, resetSeconds }) => windowSecondsOf(response) - resetSeconds <= 1);
    expectThat(isWholeWindow, 'X-RateLimit-Reset of a new window as in RateLimit-Policy', states.at(-1)?.response);
  },
);

export const resetRule = rule(
  'limits.reset',
  'X-RateLimit-Reset is the number of seconds until the window ends, and decreases as time passes.',
  async (users) => {
    const probeGeneral = () => probe(users, 'general');
    if (windowSecondsOf(await probeGeneral()) < 2)
      throw new SkippedError('the window is too short to observe the decrease');
    const { exact, before, response } = await untilExact(async () => {
      let before = rateLimitOf(await probeGeneral());
      // Otherwise the window could end before the second request.
      if (before.resetSeconds < 2) {
        await untilReset(before.resetSeconds);
        before = rateLimitOf(await probeGeneral());
      }
      await sleep(1100);
      const response = await probeGeneral();
      const decrease = before.resetSeconds - rateLimitOf(response).resetSeconds;
      return { exact: decrease >= 1 && decrease <= 3, before, response };
    }, MAX_WINDOWS_TO_WAIT);
    expectThat(exact, `X-RateLimit-Reset to fall from ${before.resetSeconds} by the second that has passed`, response);
  },
);
