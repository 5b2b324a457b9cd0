import type { ErrorObject } from 'ajv';
import type { Validate } from '../../generated/validators.js';
import type { Problem } from './errors.js';

/** What a schema, and Unicode, hold against these fields. Defaults are filled in. */
export function judge(validate: Validate, data: Record<string, unknown>, place: Problem['in']): Problem[] {
  const valid = validate(data);
  const problems = valid ? [] : (validate.errors ?? []).map((error) => problemOf(error, data, place));
  const illFormed = Object.entries(data)
    .filter(([name, value]) => !name.isWellFormed() || (typeof value === 'string' && !value.isWellFormed()))
    .map(([name]) => ({ in: place, field: name.toWellFormed(), message: 'must not contain unpaired surrogates' }));
  return [...problems, ...illFormed];
}

function problemOf(error: ErrorObject, data: Record<string, unknown>, place: Problem['in']): Problem {
  const { keyword, params, instancePath } = error;
  const problem = (field: string, message: string) => ({ in: place, field, message });
  if (keyword === 'additionalProperties') return problem(params.additionalProperty.toWellFormed(), 'is not known');
  if (keyword === 'required') return problem(params.missingProperty, 'is required');
  const field = instancePath.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
  const repeated = place === 'query' && Array.isArray(data[field]);
  return problem(field, repeated ? 'must be given once' : wording(error));
}

function wording({ keyword, message = 'is not valid', params }: ErrorObject): string {
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
