import { isDeepStrictEqual } from 'node:util';
import type { components } from '../../generated/types.js';
import type { CheckedResponse, Exchange } from './client/index.js';

/** Thrown by a rule that fails, with the expectation and the exchange that did not meet it. */
export class ExpectationError extends Error {
  readonly code = 'expectation_failed';
  readonly time = new Date().toISOString();

  constructor(
    readonly expected: string,
    readonly exchange?: Exchange,
    /** The actual value, for the report. */
    readonly actual?: string,
  ) {
    super(expected);
  }
}

/** Thrown by a rule that cannot be checked on this service, for example because of its configuration. */
export class SkippedError extends Error {
  readonly code = 'rule_skipped';
}

/** Throws an ExpectationError if the condition is false. */
export function expectThat(holds: unknown, expected: string, response?: CheckedResponse): asserts holds {
  if (!holds) throw new ExpectationError(expected, response?.exchange);
}

/** Throws an ExpectationError if `actual`, a value from the response, does not deeply equal `expected`. */
export function expectEqual(response: CheckedResponse, subject: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new ExpectationError(`${subject}: ${JSON.stringify(expected)}`, response.exchange, `${JSON.stringify(actual)}`);
}

/** Returns the response. Throws an ExpectationError if it has none of these statuses. */
export function expectStatus(response: CheckedResponse, expected: number | number[]): CheckedResponse {
  const statuses = [expected].flat();
  if (statuses.includes(response.status)) return response;
  throw new ExpectationError(`status ${statuses.join(' or ')}`, response.exchange, `status ${response.status}`);
}

export type FieldProblem = components['schemas']['FieldProblem'];

/** Throws an ExpectationError unless the response is a 400 that names exactly these fields (`in.field`), each problem once. */
export function expectProblems(response: CheckedResponse, ...expected: string[]): CheckedResponse {
  const { errors = [] } = expectErrorShape(expectStatus(response, 400)).body as { errors?: FieldProblem[] };
  const named = [...new Set(errors.map((error) => `${error.in}.${error.field}`))].sort();
  expectEqual(response, 'the fields that the 400 names', named, [...expected].sort());
  expectThat(new Set(errors.map(describeProblem)).size === errors.length, 'each problem listed once', response);
  return response;
}

/** Returns a problem as `in.field code`. */
const describeProblem = (problem: FieldProblem) => `${problem.in}.${problem.field} ${problem.code}`;

/** Throws an ExpectationError unless the response is a 400 with exactly these problems (`in.field code`), in any order. */
export function expectProblemCodes(response: CheckedResponse, ...expected: string[]): CheckedResponse {
  expectCode(expectErrorShape(expectStatus(response, 400)), 'invalid_request');
  expectEqual(response, 'the problems', (response.body.errors ?? []).map(describeProblem).sort(), [...expected].sort());
  return response;
}

/** Throws an ExpectationError unless the response is an error with this code. */
export function expectCode(response: CheckedResponse, code: string): CheckedResponse {
  expectEqual(response, 'the code', response.body?.code, code);
  return response;
}

/** Throws an ExpectationError unless the body is an error: JSON with `code`, `message` and, optionally, `errors`. */
export function expectErrorShape(response: CheckedResponse): CheckedResponse {
  const { body, headers } = response;
  expectThat(headers.get('content-type')?.startsWith('application/json'), 'an error as application/json', response);
  expectThat(typeof body?.message === 'string' && body.message !== '', 'an error with a message', response);
  const { errors, ...fields } = body;
  expectEqual(response, 'the fields of an error', fieldsOf(fields), 'code message');
  expectThat(/^[a-z]+(_[a-z0-9]+)*$/.test(body.code), 'a code in snake case', response);
  return response;
}

/** Throws an ExpectationError unless the session cookie is set to an empty value. */
export const expectClearedCookie = (response: CheckedResponse) =>
  expectThat(/^fc_session_token=;/.test(response.headers.get('set-cookie') ?? ''), 'a cleared cookie', response);

/** Throws an ExpectationError unless a value of the response is an RFC 3339 time in UTC, with milliseconds. */
export const expectTimestamp = (response: CheckedResponse, field: string, value: string) =>
  expectThat(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value), `${field} in UTC, with milliseconds`, response);

/** Throws an ExpectationError if the response has a rate limit header. */
export function expectNoRateLimit(response: CheckedResponse): void {
  const found = [...response.headers.keys()].filter((name) => /^(x-)?ratelimit/.test(name));
  expectEqual(response, 'the rate limit headers', found, []);
}

/** The allowed difference between the clocks of the service and of this machine. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** Throws an ExpectationError unless a value of the response is a timestamp within five minutes of now. */
export function expectCurrentTime(response: CheckedResponse, field: string, time: string): void {
  expectTimestamp(response, field, time);
  const differenceMs = Math.abs(Date.parse(time) - Date.now());
  expectThat(differenceMs < CLOCK_TOLERANCE_MS, `${field} within five minutes of now, not ${time}`, response);
}

/** Returns the sorted names of the fields of an object, separated by spaces. */
export const fieldsOf = (value: object | null | undefined): string =>
  Object.keys(value ?? {})
    .sort()
    .join(' ');
