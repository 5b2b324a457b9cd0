import { isFile, type Operation, type Schema } from './document.js';

const kindsOf = (schema: Schema) =>
  Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      isFile(property) ? 'file' : property.type,
    ]),
  );

const normalizedOf = (schema: Schema) =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => (property['x-normalize'] ? [name] : []));

function entry(operation: Operation) {
  const { id, method, path, secured, rateLimit, refusesEmptyObject, query, headerParameters, body } = operation;
  const described = {
    id,
    method,
    path,
    secured,
    rateLimit,
    query: kindsOf(query),
    headers: headerParameters && kindsOf(headerParameters),
    body: body && {
      mediaType: body.mediaType,
      fields: kindsOf(body.schema),
      emails: normalizedOf(body.schema),
    },
    refusesEmptyObject,
  };
  return `  ${id}: ${JSON.stringify(described)},`;
}

/** The route table: what the server needs to know of an operation before its handler runs. */
export function generateRoutes(operations: Operation[]): string {
  return `import type { OperationId } from './types.js';

export type Kind = 'string' | 'integer' | 'boolean' | 'file';

export interface Operation {
  id: OperationId;
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** As the contract spells it: \`/posts/{id}\`. */
  path: string;
  /** Whether it needs credentials. */
  secured: boolean;
  /** The bucket that counts its requests. */
  rateLimit: 'strict' | 'general';
  query: Readonly<Record<string, Kind>>;
  /** The header parameters, by the contract's spelling of their names. */
  headers?: Readonly<Record<string, Kind>>;
  body?: {
    mediaType: 'application/json' | 'multipart/form-data';
    fields: Readonly<Record<string, Kind>>;
    /** The fields that are trimmed and lower-cased before they are judged. */
    emails: readonly string[];
  };
  /** Whether even \`{}\` is a body too much. */
  refusesEmptyObject: boolean;
}

export const operations: Readonly<Record<OperationId, Operation>> = {
${operations.map(entry).join('\n')}
};
`;
}
