import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Node = Record<string, unknown>;

interface Answered {
  status: number;
  headers: Headers;
  body: unknown;
}

export interface ContractOperation {
  id: string;
  method: string;
  path: string;
  secured: boolean;
  requestBody: { mediaType: string; schema: Node; examples: Record<string, { value: Node }> } | undefined;
  refusesEmptyObject: boolean;
  query: { name: string; required: boolean; schema: Node; example: unknown }[];
  responses: Record<string, { headers?: Record<string, { required?: boolean }>; content?: Record<string, Node> }>;
}

const document = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as Node;

/** The whole document, every `$ref` replaced by what it names. */
export const resolvedDocument = resolve(document) as { paths: Record<string, Record<string, Node>> };

/** The contract's operations, read from the document itself so that none can be forgotten. */
export const contract: ContractOperation[] = readOperations();

function readOperations(): ContractOperation[] {
  return Object.entries(resolvedDocument.paths).flatMap(([path, item]) =>
    ['get', 'put', 'post', 'delete'].flatMap((method) => {
      const operation = item[method] as
        | (Node & {
            operationId: string;
            security?: unknown[];
            parameters?: { name: string; in: string; required?: boolean; schema: Node; example: unknown }[];
            requestBody?: { content: Record<string, { schema: Node; examples: Record<string, { value: Node }> }> };
            responses: ContractOperation['responses'];
          })
        | undefined;
      if (!operation) return [];
      const [body] = Object.entries(operation.requestBody?.content ?? {});
      return [
        {
          id: operation.operationId,
          method: method.toUpperCase(),
          path,
          secured: operation.security?.length !== 0,
          requestBody: body && { mediaType: body[0], ...body[1] },
          refusesEmptyObject: operation['x-no-body'] === true,
          query: (operation.parameters ?? [])
            .filter((parameter) => parameter.in === 'query')
            .map(({ name, required = false, schema, example }) => ({ name, required, schema, example })),
          responses: operation.responses,
        },
      ];
    }),
  );
}

function resolve(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(resolve);
  if (typeof node !== 'object' || node === null) return node;
  const { $ref } = node as Node;
  if (typeof $ref === 'string') {
    const steps = $ref.slice(2).split('/');
    return resolve(steps.reduce<unknown>((found, step) => (found as Node)[step], document));
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]));
}

/** The operation that a request is for. A literal path is never taken for a parameter's value. */
export function operationFor(method: string, pathname: string): ContractOperation | undefined {
  const literal = contract.filter(({ path }) => path === pathname);
  const fits =
    literal.length > 0
      ? literal
      : contract.filter(({ path }) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname));
  return fits.find((operation) => operation.method === method);
}

const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { int64: true, password: true, binary: true } });
(addFormats as unknown as typeof addFormats.default)(ajv, ['date-time', 'uuid']);
const compiled = new WeakMap<Node, ValidateFunction>();

/** What an answer has that the contract does not declare for it, or lacks that it does. */
export function breaches(operation: ContractOperation, { status, headers, body }: Answered): string[] {
  const declared = operation.responses[status];
  if (!declared) return [`${operation.id}: status ${status} is not declared`];
  const missing = Object.entries(declared.headers ?? {})
    .filter(([name, { required }]) => required && !headers.has(name))
    .map(([name]) => `${operation.id} ${status}: header ${name} is missing`);
  const type = headers.get('content-type')?.split(';')[0];
  if (!declared.content) return type ? [...missing, `${operation.id} ${status}: has a body`] : missing;
  const media = type && declared.content[type];
  if (!media) return [...missing, `${operation.id} ${status}: type ${type} is not declared`];
  if (type !== 'application/json') return missing;
  return [
    ...missing,
    ...misfits((media as { schema: Node }).schema, body).map((misfit) => `${operation.id} ${status}: ${misfit}`),
  ];
}

/** What is wrong with a value by a schema of the document, which takes nothing that it does not name. */
export function misfits(schema: Node, value: unknown): string[] {
  const validate = compiled.get(schema) ?? ajv.compile(closed(schema));
  compiled.set(schema, validate);
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** The same schema, taking nothing that it does not name. */
function closed(schema: unknown): Node {
  if (Array.isArray(schema)) return schema.map(closed) as unknown as Node;
  if (typeof schema !== 'object' || schema === null) return schema as unknown as Node;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  if ('allOf' in inner) {
    // What several parts name together is closed around all of them.
    const parts = (schema as { allOf: Node[] }).allOf.map((part) => ({ ...part, additionalProperties: true }));
    return { allOf: parts, unevaluatedProperties: false };
  }
  return 'properties' in inner && !('additionalProperties' in inner)
    ? { ...inner, additionalProperties: false }
    : inner;
}
