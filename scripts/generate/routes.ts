import { isFile, type Operation, type Schema } from './document.js';

const typesByName = (schema: Schema) =>
  Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      isFile(property) ? 'file' : property.type,
    ]),
  );

const normalizedFields = (schema: Schema) =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => (property['x-normalize'] ? [name] : []));

function formatRoute(operation: Operation): string {
  const { id, method, path, secured, rateLimit, refusesEmptyObject, query, headerParameters, body } = operation;
  const route = {
    id,
    method,
    path,
    secured,
    rateLimit,
    query: typesByName(query),
    headers: headerParameters && typesByName(headerParameters),
    body: body && {
      mediaType: body.mediaType,
      fields: typesByName(body.schema),
      emails: normalizedFields(body.schema),
    },
    refusesEmptyObject,
  };
  return `  ${id}: ${JSON.stringify(route)},`;
}

/** Returns the module with the route table: the properties of each operation that the server needs before its handler runs. */
export function generateRoutes(operations: Operation[]): string {
  return `import type { OperationId } from './types.js';

export type Kind = 'string' | 'integer' | 'boolean' | 'file';

export interface Operation {
  id: OperationId;
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** As in the contract: \`/posts/{id}\`. */
  path: string;
  /** Whether it needs credentials. */
  secured: boolean;
  /** The rate limit that its requests count against. */
  rateLimit: 'strict' | 'general';
  query: Readonly<Record<string, Kind>>;
  /** The header parameters, with names spelled as in the contract. */
  headers?: Readonly<Record<string, Kind>>;
  body?: {
    mediaType: 'application/json' | 'multipart/form-data';
    fields: Readonly<Record<string, Kind>>;
    /** The fields that are trimmed and lower-cased before validation. */
    emails: readonly string[];
  };
  /** Whether the operation rejects even the body \`{}\`. */
  refusesEmptyObject: boolean;
}

export const operations: Readonly<Record<OperationId, Operation>> = {
${operations.map(formatRoute).join('\n')}
};
`;
}
