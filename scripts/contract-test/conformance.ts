import { type Schema as Validated, Validator } from '@cfworker/json-schema';
import type { Schema } from '../generate/document.js';
import type { ContractOperation, Valued } from './document.js';

export interface Answered {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Headers that tell the caller to do something, so that none may go out where the contract does not declare it. */
const TELLING = ['Set-Cookie', 'WWW-Authenticate', 'Retry-After', 'Link'];

/** What an answer has that the contract does not declare for it, or lacks that it does. */
export function violations(operation: ContractOperation, answer: Answered): string[] {
  return found(operation, answer, ({ content }) => wrongBody(content, answer));
}

/** The same for the answer to a HEAD request, by what is declared for its GET. */
export function headViolations(operation: ContractOperation, answer: Answered): string[] {
  return found(operation, answer, ({ content }) => wrongType(content, answer) ?? []);
}

type Declared = ContractOperation['responses'][string];

function found({ id, responses }: ContractOperation, answer: Answered, judgeBody: (declared: Declared) => string[]) {
  const declared = responses[answer.status];
  if (!declared) return [`${id}: status ${answer.status} is not declared`];
  const problems = [...wrongHeaders(declared.headers ?? {}, answer.headers), ...judgeBody(declared)];
  return problems.map((problem) => `${id} ${answer.status}: ${problem}`);
}

function wrongHeaders(declared: Record<string, Valued>, headers: Headers): string[] {
  const undeclared = TELLING.filter((name) => headers.has(name) && !(name in declared));
  return [
    ...undeclared.map((name) => `header ${name} is not declared`),
    ...Object.entries(declared).flatMap(([name, { required, schema }]) => {
      const value = headers.get(name);
      if (value === null) return required ? [`header ${name} is missing`] : [];
      return misfits(schema, spelled(schema, value)).map((misfit) => `header ${name}: ${value}: ${misfit}`);
    }),
  ];
}

/** A header is text. Only what spells a whole number plainly is one. */
const spelled = ({ type }: Schema, value: string) =>
  type === 'integer' && /^(0|-?[1-9]\d*)$/.test(value) ? Number(value) : value;

/** Undefined when there is a body to look at, and its media type is one of those declared. */
function wrongType(content: Declared['content'], { headers }: Answered): string[] | undefined {
  const type = mediaType(headers);
  if (!content) return type ? ['has a body'] : [];
  return type && content[type] ? undefined : [`type ${type} is not declared`];
}

function wrongBody(content: Declared['content'], answer: Answered): string[] {
  const wrong = wrongType(content, answer);
  const media = mediaType(answer.headers) ?? '';
  if (wrong) return wrong;
  return media === 'application/json' && content?.[media] ? misfits(content[media].schema, answer.body) : [];
}

const mediaType = (headers: Headers) => headers.get('content-type')?.split(';')[0];

const compiled = new WeakMap<Schema, Validator>();

/** What is wrong with a value by a schema of the document, which takes nothing that it does not name. Formats count. */
export function misfits(schema: Schema, value: unknown): string[] {
  const validator = compiled.get(schema) ?? new Validator(closed(schema) as Validated, '2020-12', false);
  compiled.set(schema, validator);
  const { errors } = validator.validate(value);
  // Each problem is reported once more by every schema around it.
  const causes = errors.filter(({ keyword, error }) => !CONTAINERS.has(keyword) && error !== REFUSED);
  return (causes.length > 0 ? causes : errors).map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
}

const CONTAINERS = new Set(['properties', 'items', 'allOf', '$ref']);
const REFUSED = 'False boolean schema.';

/** The same schema, taking nothing that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  if ('allOf' in schema) {
    // What several parts name together is closed around all of them: a part closed by itself would refuse the others'.
    const parts = (schema.allOf as Schema[]).map((part) => ({ ...part, properties: closed(part.properties) }));
    return { allOf: parts, unevaluatedProperties: false };
  }
  return 'properties' in inner && !('additionalProperties' in inner)
    ? { ...inner, additionalProperties: false }
    : inner;
}
