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

interface RawOperation {
  operationId: string;
  summary: string;
  tags: [string];
  security?: Requirement[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
  'x-rate-limit': string;
  'x-no-body'?: boolean;
}

interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  schema: Schema;
}

/** One operation, flattened and checked. */
export interface Operation {
  id: string;
  tag: string;
  method: string;
  path: string;
  summary: string;
  secured: boolean;
  rateLimit: string;
  /** Whether an operation without a body refuses even `{}`, which otherwise counts as no body. */
  refusesEmptyObject: boolean;
  query: Schema;
  pathParameters: Schema;
  /** Undefined when the operation declares no header parameters. */
  headerParameters: Schema | undefined;
  body: { mediaType: string; required: boolean; schema: Schema } | undefined;
  /** The schemas of the JSON response bodies, by status. */
  responses: Record<string, Schema>;
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const RATE_LIMITS = ['strict', 'general'];

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
  if (target === undefined) throw new Error(`$ref: ${reference} does not exist in the document`);
  return target;
}

/**
 * Returns the operations of a document.
 *
 * @throws Error if an operation lacks a property that the service relies on
 */
export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => {
      const raw = item[method] as RawOperation;
      if (!RATE_LIMITS.includes(raw['x-rate-limit'])) {
        throw new Error(`${raw.operationId}: x-rate-limit must be one of ${RATE_LIMITS.join(', ')}`);
      }
      return {
        id: raw.operationId,
        tag: raw.tags[0],
        method: method.toUpperCase(),
        path,
        summary: raw.summary,
        secured: (raw.security ?? document.security ?? []).length > 0,
        rateLimit: raw['x-rate-limit'],
        refusesEmptyObject: raw['x-no-body'] ?? false,
        query: parametersSchema(raw, 'query'),
        pathParameters: parametersSchema(raw, 'path'),
        headerParameters: (raw.parameters ?? []).some((parameter) => parameter.in === 'header')
          ? parametersSchema(raw, 'header')
          : undefined,
        body: bodyOf(raw),
        responses: responsesOf(raw),
      };
    }),
  );
}

function parametersSchema(raw: RawOperation, location: Parameter['in']): Schema {
  const parameters = (raw.parameters ?? []).filter((parameter) => parameter.in === location);
  for (const { name, required, schema } of parameters) {
    // Handlers expect a value for every query parameter.
    if (location === 'query' && !required && !('default' in schema)) {
      throw new Error(`${raw.operationId}: ${name} needs a default`);
    }
  }
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

function bodyOf({ operationId, requestBody }: RawOperation): Operation['body'] {
  if (!requestBody) return undefined;
  const [entry, ...others] = Object.entries(requestBody.content);
  if (!entry || others.length > 0) throw new Error(`${operationId}: expected exactly one media type for the body`);
  return { mediaType: entry[0], required: requestBody.required ?? false, schema: entry[1].schema };
}

function responsesOf({ responses }: RawOperation): Operation['responses'] {
  return Object.fromEntries(
    Object.entries(responses).flatMap(([status, { content }]) => {
      const schema = content?.['application/json']?.schema;
      return schema ? [[status, schema]] : [];
    }),
  );
}

export const isFile = (schema: Schema): boolean => schema.type === 'string' && schema.format === 'binary';
