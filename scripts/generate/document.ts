import { CommandError } from '../support/command-error.js';

/** The parts of an OpenAPI document that the generators read. All `$ref`s are resolved. */
export interface Document {
  security?: Requirement[];
  paths: Record<string, Record<string, RawOperation>>;
}

export type Schema = Record<string, unknown> & {
  type?: string | string[];
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  'x-normalize'?: string;
};

type Requirement = Record<string, string[]>;

interface RawOperation extends Pick<ContractOperation, 'responses'> {
  operationId: string;
  summary: string;
  tags: [string];
  security?: Requirement[];
  parameters?: (Parameter & { in: 'query' | 'path' | 'header' })[];
  requestBody?: { required?: boolean; content: Record<string, Pick<RequestBody, 'schema' | 'examples'>> };
  'x-rate-limit': RateLimit;
  'x-no-body'?: boolean;
}

interface Parameter {
  name: string;
  required?: boolean;
  schema: Schema;
}

interface RequestBody {
  mediaType: string;
  required: boolean;
  schema: Schema;
  examples: Record<string, { value: Record<string, unknown> }>;
}

/** An operation of the document, in the form that the generators use. */
export interface ContractOperation {
  id: string;
  tag: string;
  method: string;
  path: string;
  summary: string;
  requiresAuthentication: boolean;
  rateLimit: RateLimit;
  /** Whether an operation without a body refuses even `{}`, which otherwise counts as no body (`x-no-body`). */
  refusesEmptyObject: boolean;
  query: Parameter[];
  pathParameters: Parameter[];
  headerParameters: Parameter[];
  requestBody: RequestBody | undefined;
  /** The responses, by status. */
  responses: Record<
    string,
    { headers?: Record<string, { required?: boolean; schema: Schema }>; content?: Record<string, { schema: Schema }> }
  >;
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const RATE_LIMITS = ['strict', 'general'] as const;
type RateLimit = (typeof RATE_LIMITS)[number];

/** Returns a copy with every local `$ref` replaced by its target. Recursive schemas are not supported. */
export function resolveReferences(document: unknown): Document {
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve);
    if (typeof node !== 'object' || node === null) return node;
    if ('$ref' in node && typeof node.$ref === 'string') return resolve(lookUp(document, node.$ref));
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]));
  };
  return resolve(document) as Document;
}

/** Returns the target of a local `$ref`, such as `#/components/schemas/Post`. */
function lookUp(document: unknown, reference: string): unknown {
  const keys = reference.replace(/^#\//, '').split('/');
  const target = keys.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document);
  if (target === undefined) throw new CommandError(`$ref: ${reference} does not exist in the document`);
  return target;
}

/**
 * Returns the operations of a document.
 *
 * @throws CommandError if an operation lacks a property that the service relies on, or has the id of another one
 */
export function operationsOf(document: Document): ContractOperation[] {
  if (!document?.paths) throw new CommandError('The document has no paths');
  const ids = new Set<string>();
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => {
      const raw = item[method] as RawOperation;
      if (ids.has(raw.operationId)) throw new CommandError(`Two operations have the operationId ${raw.operationId}`);
      ids.add(raw.operationId);
      if (!RATE_LIMITS.includes(raw['x-rate-limit'])) {
        throw new CommandError(`${raw.operationId}: x-rate-limit must be one of ${RATE_LIMITS.join(', ')}`);
      }
      return {
        id: raw.operationId,
        tag: raw.tags[0],
        method: method.toUpperCase(),
        path,
        summary: raw.summary,
        requiresAuthentication: (raw.security ?? document.security ?? []).length > 0,
        rateLimit: raw['x-rate-limit'],
        refusesEmptyObject: raw['x-no-body'] ?? false,
        query: parametersIn(raw, 'query'),
        pathParameters: parametersIn(raw, 'path'),
        headerParameters: parametersIn(raw, 'header'),
        requestBody: bodyOf(raw),
        responses: raw.responses,
      };
    }),
  );
}

const parametersIn = ({ parameters = [] }: RawOperation, location: string): Parameter[] =>
  parameters.filter((parameter) => parameter.in === location);

function bodyOf({ operationId, requestBody }: RawOperation): ContractOperation['requestBody'] {
  if (!requestBody) return undefined;
  const [entry, ...others] = Object.entries(requestBody.content);
  if (!entry || others.length > 0)
    throw new CommandError(`${operationId}: expected exactly one media type for the body`);
  return { mediaType: entry[0], required: requestBody.required ?? false, ...entry[1] };
}

/** Returns the schema of an object with these parameters. */
export const schemaOf = (parameters: readonly Parameter[]): Schema => ({
  type: 'object',
  properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
  required: parameters.filter(({ required }) => required).map(({ name }) => name),
  additionalProperties: false,
});

export const isFile = (schema: Schema): boolean => schema.type === 'string' && schema.format === 'binary';
