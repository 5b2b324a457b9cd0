import { isDeepStrictEqual } from 'node:util';
import type { Answer, Exchange } from './exchange.js';

/** A rule fails: what was expected, and the exchange in which something else was received. */
export class Broken extends Error {
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
export class Skipped extends Error {}

/** @throws Broken */
export function want(holds: unknown, wanted: string, answer?: Answer): asserts holds {
  if (!holds) throw new Broken(wanted, answer?.exchange);
}

/** @throws Broken unless `actual`, which was found in the answer, is what is wanted */
export function same(answer: Answer, what: string, actual: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(actual, wanted)) return;
  throw new Broken(`${what}: ${JSON.stringify(wanted)}`, answer.exchange, `${JSON.stringify(actual)}`);
}

/** @throws Broken unless the answer is of one of these statuses */
export function status(answer: Answer, wanted: number | number[]): Answer {
  if ([wanted].flat().includes(answer.status)) return answer;
  throw new Broken(`status ${[wanted].flat().join(' or ')}`, answer.exchange, `status ${answer.status}`);
}

/** @throws Broken unless these are all that a 400 objects to, as `in.field`, in any order */
export function problems(answer: Answer, ...wanted: string[]): Answer {
  const { errors = [] } = status(answer, 400).body as { errors?: { in: string; field: string }[] };
  const named = [...new Set(errors.map((problem) => `${problem.in}.${problem.field}`))].sort();
  same(answer, 'the fields that the 400 names', named, [...wanted].sort());
  return answer;
}

/** @throws Broken unless an error is of the one shape: `message`, and `errors` for a 400 alone */
export function errorShape(answer: Answer): Answer {
  const { body, headers } = answer;
  want(headers.get('content-type')?.startsWith('application/json'), 'an error as application/json', answer);
  want(typeof body?.message === 'string' && body.message !== '', 'an error with a message', answer);
  same(
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
