import { Validator, type Schema as ValidatorSchema } from '@cfworker/json-schema';
import type { Schema } from '../../generate/document.js';
import type { ContractOperation } from './document.js';
import type { ReceivedResponse } from './exchange.js';

type ResponseData = Pick<ReceivedResponse, 'status' | 'headers' | 'body'>;

/** Headers that make a client act. A response may have them only if the contract declares them. */
const DIRECTIVE_HEADERS = ['Set-Cookie', 'WWW-Authenticate', 'Retry-After', 'Link', 'Location'];

/** The `WWW-Authenticate` of a 401 for an invalid token. */
export const INVALID_TOKEN_CHALLENGE = 'Bearer error="invalid_token"';

type DeclaredResponse = ContractOperation['responses'][string];

/**
 * Returns the violations of the contract in the status, headers and body of a response. A response to HEAD is declared as for
 * GET, but has no body.
 */
export function violations(
  { id, responses }: ContractOperation,
  response: ResponseData,
  { hasBody = true } = {},
): string[] {
  const declared = responses[response.status];
  if (!declared) return [`${id}: status ${response.status} is not declared`];
  const found = [
    ...headerViolations(declared, response.headers),
    ...(hasBody ? challengeViolations(response) : []),
    ...contentViolations(declared, response, hasBody),
  ];
  return found.map((violation) => `${id} ${response.status}: ${violation}`);
}

function headerViolations({ headers: declared = {} }: DeclaredResponse, headers: Headers): string[] {
  const undeclared = DIRECTIVE_HEADERS.filter((name) => headers.has(name) && !(name in declared));
  return [
    ...undeclared.map((name) => `header ${name} is not declared`),
    ...Object.entries(declared).flatMap(([name, { required, schema }]) => {
      const value = headers.get(name);
      if (value === null) return required ? [`header ${name} is missing`] : [];
      return schemaViolations(schema, parseHeaderValue(schema, value)).map(
        (violation) => `header ${name}: ${value}: ${violation}`,
      );
    }),
  ];
}

/**
 * Returns the violations in the challenge of a 401 (RFC 6750), which names an error only if a token was sent and rejected.
 * The body states whether it was, so a response to HEAD is not checked.
 */
function challengeViolations({ status, headers, body }: ResponseData): string[] {
  const challenge = headers.get('WWW-Authenticate');
  if (status !== 401 || challenge === null) return [];
  const expected = body?.code === 'invalid_token' ? INVALID_TOKEN_CHALLENGE : 'Bearer';
  return challenge === expected ? [] : [`header WWW-Authenticate: ${challenge}: expected ${expected}`];
}

/** Returns a header as a number if the schema requires an integer and the text is the canonical form of an integer. */
const parseHeaderValue = ({ type }: Schema, value: string) =>
  type === 'integer' && /^(0|-?[1-9]\d*)$/.test(value) ? Number(value) : value;

/** Returns the violations in the media type and, unless the request was HEAD, in the body. */
function contentViolations({ content }: DeclaredResponse, { headers, body }: ResponseData, hasBody: boolean): string[] {
  const type = headers.get('content-type')?.split(';')[0];
  if (!content) return type ? ['has a body'] : [];
  const declared = type && content[type];
  if (!declared) return [`type ${type} is not declared`];
  return hasBody && type === 'application/json' ? schemaViolations(declared.schema, body) : [];
}

const validators = new WeakMap<Schema, Validator>();

/** Returns the violations of a schema by a value. Formats are checked, and undeclared properties are violations. */
function schemaViolations(schema: Schema, value: unknown): string[] {
  const validator =
    validators.get(schema) ?? new Validator(withoutUnknownProperties(schema) as ValidatorSchema, '2020-12', false);
  validators.set(schema, validator);
  const { errors } = validator.validate(value);
  // Every enclosing schema reports the same error again.
  const innermost = errors.filter(
    ({ keyword, error }) => !CONTAINER_KEYWORDS.has(keyword) && error !== FALSE_SCHEMA_ERROR,
  );
  return (innermost.length > 0 ? innermost : errors).map(
    ({ instanceLocation, error }) => `${instanceLocation} ${error}`,
  );
}

const CONTAINER_KEYWORDS = new Set(['properties', 'items', 'allOf', '$ref']);
const FALSE_SCHEMA_ERROR = 'False boolean schema.';

/** Returns a copy of the schema that allows no undeclared properties. */
function withoutUnknownProperties(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutUnknownProperties);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, withoutUnknownProperties(value)]),
  );
  if ('allOf' in schema) {
    // A part must allow the properties of the other parts, so only the combination is closed.
    const parts = (schema.allOf as Schema[]).map((part) => ({
      ...part,
      properties: withoutUnknownProperties(part.properties),
    }));
    return { ...inner, allOf: parts, unevaluatedProperties: false };
  }
  return 'properties' in inner && !('additionalProperties' in inner)
    ? { ...inner, additionalProperties: false }
    : inner;
}
