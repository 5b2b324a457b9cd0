import { isDeepStrictEqual } from 'node:util';
import type { Cast } from './cast.js';
import type { Answer, Exchange } from './client.js';

/** One sentence of the contract, as something that can be seen from outside to be kept or broken. */
export interface Rule {
  /** Where the sentence stands, and what it says. */
  name: string;
  check(cast: Cast): Promise<void>;
}

/** Rules about one thing, which are checked one after the other: they may share people. */
export interface Subject {
  name: string;
  rules: Rule[];
}

export const rule = (where: string, says: string, check: Rule['check']): Rule => ({ name: `${where}: ${says}`, check });

/** A rule is broken: what the contract wants, and the answer that is not so. */
export class Broken extends Error {
  constructor(
    readonly wanted: string,
    readonly exchange?: Exchange,
  ) {
    super(wanted);
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
  want(isDeepStrictEqual(actual, wanted), `${what}: ${JSON.stringify(wanted)}, not ${JSON.stringify(actual)}`, answer);
}

/** @throws Broken unless the answer is of one of these statuses */
export function status(answer: Answer, wanted: number | number[]): Answer {
  want([wanted].flat().includes(answer.status), `${[wanted].flat().join(' or ')}`, answer);
  return answer;
}

/** @throws Broken unless these are all that a 400 objects to, as `in.field`, in any order */
export function problems(answer: Answer, ...wanted: string[]): Answer {
  const { errors = [] } = status(answer, 400).body as { errors?: { in: string; field: string }[] };
  const named = [...new Set(errors.map((problem) => `${problem.in}.${problem.field}`))].sort();
  want(
    isDeepStrictEqual(named, [...wanted].sort()),
    `400 that names exactly ${wanted.join(', ')}; named are ${named.join(', ') || 'none'}`,
    answer,
  );
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
