import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Document, resolveReferences, type Schema } from '../generate/document.js';

/** The declaration of a response header. */
export interface HeaderDeclaration {
  required?: boolean;
  schema: Schema;
}

interface Parameter {
  name: string;
  required: boolean;
  schema: Schema;
  example: unknown;
}

export interface ContractOperation {
  id: string;
  method: string;
  path: string;
  secured: boolean;
  rateLimit: 'strict' | 'general';
  requestBody:
    | { mediaType: string; schema: Schema; examples: Record<string, { value: Record<string, unknown> }> }
    | undefined;
  /** Whether an operation without a request body rejects even the JSON object `{}` (`x-no-body`). */
  refusesEmptyObject: boolean;
  query: Parameter[];
  pathParameters: Parameter[];
  responses: Record<
    string,
    { headers?: Record<string, HeaderDeclaration>; content?: Record<string, { schema: Schema }> }
  >;
}

type RequestBody = NonNullable<ContractOperation['requestBody']>;

type RawOperation = Pick<ContractOperation, 'responses'> & {
  operationId: string;
  security?: unknown[];
  parameters?: { name: string; in: string; required?: boolean; schema: Schema; example: unknown }[];
  requestBody?: { content: Record<string, Omit<RequestBody, 'mediaType'>> };
  'x-rate-limit': ContractOperation['rateLimit'];
  'x-no-body'?: boolean;
};

const { resolve } = createRequire(import.meta.url);

/** The OpenAPI document as published. */
export const document = JSON.parse(readFileSync(resolve('#openapi.json'), 'utf8'));

/** The version of the contract. */
export const version: string = document.info.version;

/** The whole document, with every `$ref` resolved. */
export const resolvedDocument: Document = resolveReferences(document);

/** The operations of the contract, read from the document. */
export const contract: ContractOperation[] = Object.entries(resolvedDocument.paths).flatMap(([path, item]) =>
  ['get', 'put', 'post', 'delete']
    .filter((method) => method in item)
    .map((method) => readOperation(method, path, item[method] as unknown as RawOperation)),
);

function readOperation(method: string, path: string, raw: RawOperation): ContractOperation {
  const [body] = Object.entries(raw.requestBody?.content ?? {});
  const parameters = (place: string): Parameter[] =>
    (raw.parameters ?? [])
      .filter((parameter) => parameter.in === place)
      .map(({ name, required = false, schema, example }) => ({ name, required, schema, example }));
  return {
    id: raw.operationId,
    method: method.toUpperCase(),
    path,
    secured: raw.security?.length !== 0,
    rateLimit: raw['x-rate-limit'],
    requestBody: body && { mediaType: body[0], ...body[1] },
    refusesEmptyObject: raw['x-no-body'] === true,
    query: parameters('query'),
    pathParameters: parameters('path'),
    responses: raw.responses,
  };
}

/** Returns the method and path of an operation, such as `GET /posts/{id}`. */
export const methodAndPath = ({ method, path }: ContractOperation) => `${method} ${path}`;

/** Returns the operation of a request. Literal paths take precedence over paths with parameters. */
export function operationFor(method: string, pathname: string): ContractOperation | undefined {
  const literal = contract.filter(({ path }) => path === pathname);
  const candidates =
    literal.length > 0
      ? literal
      : contract.filter(({ path }) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname));
  return candidates.find((operation) => operation.method === method);
}
