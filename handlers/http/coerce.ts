import type { FieldType } from '../operation.js';
import type { Fields } from '../validation.js';

const INTEGER = /^(0|-?[1-9]\d*)$/;
const BOOLEAN = /^(true|false)$/i;

/**
 * Converts the values of integer and boolean fields from strings to these types. A string that is not an integer or boolean is
 * kept, so that the schema reports it.
 */
export function coerceAll(fields: Fields, types: Readonly<Record<string, FieldType>>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, coerce(value, types[name])]));
}

function coerce(value: unknown, type: FieldType | undefined): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'integer' && INTEGER.test(value)) return Number(value);
  if (type === 'boolean' && BOOLEAN.test(value)) return value.toLowerCase() === 'true';
  return value;
}
