import type { ErrorObject } from 'ajv';
import type { FieldCode } from './error-codes.js';
import { type FieldProblem, fieldProblem, type Reason, reason } from './errors.js';
import { usernameProblems } from './policy/usernames.js';

/*
 * Validates fields with the generated validators, and converts the errors of Ajv to field problems. NUL characters and unpaired
 * surrogates are checked here, because an error of a pattern does not tell which characters are invalid.
 *
 * A new keyword in openapi.yaml needs a case in `reasonsFor`, which otherwise throws. A new field with a `pattern` needs an
 * entry in `PATTERN_REASONS`, or its only problem is `invalid_characters`.
 */

/** A generated validator. */
export interface Validate {
  (data: unknown): boolean;
  errors?: ErrorObject[] | null;
}

/** Texts with one of these problems have no other: they are not checked for NUL and unpaired surrogates. */
const UNCHECKED_CODES: readonly FieldCode[] = ['unknown_field', 'too_long'];

/** Validates fields against a schema, and checks strings for NUL and unpaired surrogates. Returns the problems. */
export function validateFields(
  validate: Validate,
  data: Record<string, unknown>,
  location: FieldProblem['in'],
): FieldProblem[] {
  const valid = validate(data);
  // The generated schemas use `if` to skip all other checks of a text that is too long. Ajv reports this `if` as an error, too.
  const errors = valid ? [] : (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
  const fromSchema = errors.flatMap((error) => problemsOf(error, data, location));
  const unchecked = new Set(fromSchema.filter(({ code }) => UNCHECKED_CODES.includes(code)).map(({ field }) => field));
  const texts = Object.entries(data).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !unchecked.has(entry[0].toWellFormed()),
  );
  return [
    ...fromSchema,
    ...texts
      .filter(([, text]) => text.includes('\0'))
      .map(([field]) => fieldProblem(location, field, 'invalid_characters', 'must not contain NUL characters')),
    ...texts
      .filter(([, text]) => !text.isWellFormed())
      .map(([field]) => fieldProblem(location, field, 'invalid_encoding', 'must not contain unpaired surrogates')),
  ];
}

/** Converts an error of the validator to problems. */
function problemsOf(error: ErrorObject, data: Record<string, unknown>, location: FieldProblem['in']): FieldProblem[] {
  const { keyword, params, instancePath } = error;
  const field: string =
    params.additionalProperty?.toWellFormed() ??
    params.missingProperty ??
    instancePath.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
  const repeated = location === 'query' && keyword === 'type' && Array.isArray(data[field]);
  const reasons = repeated ? [reason('repeated')] : reasonsFor(field, error);
  return reasons.map((item) => ({ in: location, field, ...item }));
}

/** Returns the reasons for an error of the validator. The only reason for an empty text is `blank`. */
function reasonsFor(field: string, { keyword, params, data, parentSchema }: ErrorObject): Reason[] {
  if (data === '' && keyword !== 'type') return [reason('blank')];
  const range = `must be an integer between ${parentSchema?.minimum} and ${parentSchema?.maximum}`;
  switch (keyword) {
    case 'additionalProperties':
      return [reason('unknown_field')];
    case 'required':
      return [reason('required')];
    case 'minProperties':
      return [reason('no_changes')];
    case 'type':
      if (params.type === 'integer') return [reason('not_an_integer', range)];
      return [reason(params.type === 'boolean' ? 'not_a_boolean' : 'not_a_string')];
    case 'minimum':
    case 'maximum':
      return [reason('out_of_range', range)];
    case 'minLength':
      return [reason('too_short', `must have at least ${params.limit} characters`)];
    case 'maxLength':
      return [reason('too_long', `must have at most ${params.limit} characters`)];
    case 'pattern':
      return patternReasons(field, data as string, params.pattern);
    default:
      throw new Error(`Expected a message for the schema keyword ${keyword}`);
  }
}

/** By field: functions that return the reasons why a text does not match the pattern of the field. */
const PATTERN_REASONS: Readonly<Record<string, (text: string) => Reason[]>> = {
  cursor: () => [reason('invalid_cursor')],
  email: () => [reason('email')],
  username: (text) => usernameProblems(text).map((code) => reason(code)),
  'Idempotency-Key': () => [reason('invalid_characters', 'must contain only visible ASCII characters')],
};

/**
 * Returns the reasons why a text does not match the pattern of its field. NUL, unpaired surrogates and U+FFFD are ignored, because
 * `validateFields` and `rules` report them.
 */
function patternReasons(field: string, text: string, pattern: string): Reason[] {
  const rest = text.replace(/[\0\ufffd]|\p{Surrogate}/gu, '');
  if (rest !== text && new RegExp(pattern, 'u').test(rest)) return [];
  const reasons = PATTERN_REASONS[field]?.(rest) ?? [];
  return reasons.length > 0 ? reasons : [reason('invalid_characters')];
}
