import { isDeepStrictEqual } from 'node:util';
import type { CheckedResponse, Exchange } from './exchange.js';

/** A rule fails: what was expected, and the exchange in which something else was received. */
export class ExpectationError extends Error {
  constructor(
    readonly expected: string,
    readonly exchange?: Exchange,
    /** What was received instead, if the response alone does not show it. */
    readonly actual?: string,
  ) {
    super(expected);
  }
}

/** A rule cannot be checked on this service, which is no fault of it. */
export class SkippedError extends Error {}

/** @throws Broken */
export function expectThat(holds: unknown, wanted: string, answer?: CheckedResponse): asserts holds {
  if (!holds) throw new ExpectationError(wanted, answer?.exchange);
}

/** @throws Broken unless `actual`, which was found in the answer, is what is wanted */
export function expectEqual(answer: CheckedResponse, what: string, actual: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(actual, wanted)) return;
  throw new ExpectationError(`${what}: ${JSON.stringify(wanted)}`, answer.exchange, `${JSON.stringify(actual)}`);
}

/** @throws Broken unless the answer is of one of these statuses */
export function expectStatus(answer: CheckedResponse, wanted: number | number[]): CheckedResponse {
  if ([wanted].flat().includes(answer.status)) return answer;
  throw new ExpectationError(`status ${[wanted].flat().join(' or ')}`, answer.exchange, `status ${answer.status}`);
}

/** @throws Broken unless these are all that a 400 objects to, as `in.field`, in any order */
export function expectProblems(answer: CheckedResponse, ...wanted: string[]): CheckedResponse {
  const { errors = [] } = expectStatus(answer, 400).body as { errors?: { in: string; field: string }[] };
  const named = [...new Set(errors.map((problem) => `${problem.in}.${problem.field}`))].sort();
  expectEqual(answer, 'the fields that the 400 names', named, [...wanted].sort());
  return answer;
}

/** @throws Broken unless an error is of the one shape: `message`, and `errors` for a 400 alone */
export function expectErrorShape(answer: CheckedResponse): CheckedResponse {
  const { body, headers } = answer;
  expectThat(headers.get('content-type')?.startsWith('application/json'), 'an error as application/json', answer);
  expectThat(typeof body?.message === 'string' && body.message !== '', 'an error with a message', answer);
  expectEqual(
    answer,
    'the fields of an error',
    Object.keys(body).filter((name) => name !== 'errors'),
    ['message'],
  );
  return answer;
}

export const fieldsOf = (value: object | null | undefined): string =>
  Object.keys(value ?? {})
    .sort()
    .join(' ');
