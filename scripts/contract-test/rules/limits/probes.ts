import {
  type Bucket,
  type CheckedResponse,
  type ContractOperation,
  contract,
  type RequestContent,
} from '../../client/index.js';
import { expectEqual, expectThat } from '../../expect.js';
import type { TestUsers } from '../../users.js';
import { validRequest } from '../operations.js';

/** Returns the state of a bucket from the headers of a response. */
export function rateLimitOf(response: CheckedResponse) {
  const read = (name: string) => Number(response.headers.get(`x-ratelimit-${name}`) ?? Number.NaN);
  const state = { limit: read('limit'), remaining: read('remaining'), resetSeconds: read('reset') };
  const areValid = Object.values(state).every((value) => Number.isInteger(value) && value >= 0);
  expectThat(areValid, 'X-RateLimit-Limit, -Remaining and -Reset as integers', response);
  return state;
}

/** Returns `RateLimit-Policy`. Checks that it and `RateLimit` state the same numbers as the `X-RateLimit` headers. */
export function policyOf(response: CheckedResponse): string {
  const { limit, remaining, resetSeconds } = rateLimitOf(response);
  const policy = response.headers.get('ratelimit-policy') ?? '';
  const [, name, quota, windowSeconds] = /^"(.+)";q=(\d+);w=(\d+)$/.exec(policy) ?? [];
  expectEqual(response, 'the quota in RateLimit-Policy', Number(quota), limit);
  expectThat(Number(windowSeconds) >= resetSeconds, 'a window in RateLimit-Policy that has not ended', response);
  const expected = `"${name}";r=${remaining};t=${resetSeconds}`;
  expectEqual(response, 'RateLimit', response.headers.get('ratelimit'), expected);
  return policy;
}

/** Sends a request that changes nothing, but counts against the rate limit. */
export const sendRejected = (users: TestUsers, operation: ContractOperation, content: RequestContent = {}) => {
  // Registration may be closed, which returns 403.
  const rejections = operation.requiresAuthentication ? [401] : [400, ...(operation.id === 'register' ? [403] : [])];
  return users.anonymous.send([...rejections, 429], validRequest(operation), {
    ...(operation.rateLimit === 'strict' && { json: {} }),
    ...content,
  });
};

const operationById = (id: string) => contract.find((operation) => operation.id === id) as ContractOperation;

/** For each bucket, an operation that counts in it. */
export const PROBES = { strict: operationById('login'), general: operationById('getCurrentAccount') };

/** Sends a request that shows the state of a bucket. */
export const probe = (users: TestUsers, bucket: Bucket, content?: RequestContent) =>
  sendRejected(users, PROBES[bucket], content);

/**
 * Repeats a measurement until its numbers are exact, at most `maxAttempts` times, and returns the last result. A new window may
 * start meanwhile, and requests of other clients from the same address count too.
 */
export async function untilExact<Result extends { exact: boolean }>(
  measure: () => Promise<Result>,
  maxAttempts = 8,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const result = await measure();
    if (result.exact || attempt === maxAttempts) return result;
  }
}
