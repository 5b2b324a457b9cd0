import type { ErrorObject } from 'ajv';
import type { Validate } from '../../generated/validators.js';
import type { FieldProblem } from './errors.js';

export interface Validation {
  problems: FieldProblem[];
  /** The fields whose text is too long or ill-formed. Rules must not normalize, match or hash such text. */
  invalidTexts: readonly string[];
}

/** Validates fields against a schema, and their names and text for unpaired surrogates. Adds default values to `data`. */
export function validateFields(
  validate: Validate,
  data: Record<string, unknown>,
  place: FieldProblem['in'],
): Validation {
  const valid = validate(data);
  // With `if`, the generated schemas check nothing but the length of a text that is too long. Ajv then also reports the `if`.
  const errors = valid ? [] : (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
  const problems = errors.map((error) => problemOf(error, data, place));
  const tooLong = errors.filter(({ keyword }) => keyword === 'maxLength').map(fieldOf);
  const illFormed = Object.entries(data)
    .filter(([name, value]) => !name.isWellFormed() || (typeof value === 'string' && !value.isWellFormed()))
    .map(([name]) => ({ in: place, field: name.toWellFormed(), message: 'must not contain unpaired surrogates' }));
  return { problems: [...problems, ...illFormed], invalidTexts: [...tooLong, ...illFormed.map(({ field }) => field)] };
}

const fieldOf = ({ instancePath }: ErrorObject): string =>
  instancePath.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');

function problemOf(error: ErrorObject, data: Record<string, unknown>, place: FieldProblem['in']): FieldProblem {
  const { keyword, params } = error;
  const problem = (field: string, message: string) => ({ in: place, field, message });
  if (keyword === 'additionalProperties') return problem(params.additionalProperty.toWellFormed(), 'is not known');
  if (keyword === 'required') return problem(params.missingProperty, 'is required');
  const field = fieldOf(error);
  const repeated = place === 'query' && Array.isArray(data[field]);
  return problem(field, repeated ? 'must not be repeated' : messageOf(error));
}

function messageOf({ keyword, message = 'is not valid', params }: ErrorObject): string {
  switch (keyword) {
    case 'minProperties':
      return 'at least one field is required';
    case 'minLength':
      return `must have at least ${params.limit} character${params.limit === 1 ? '' : 's'}`;
    case 'maxLength':
      return `must have at most ${params.limit} characters`;
    case 'pattern':
      return 'holds characters, or a form, that this field does not take';
    default:
      return message;
  }
}
