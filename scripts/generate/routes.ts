import { type ContractOperation, isFile, type Schema, schemaOf } from './document.js';

const typesByName = (schema: Schema) =>
  Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      isFile(property) ? 'file' : property.type,
    ]),
  );

/** Returns the names of the fields that the service normalizes as email addresses. */
const emailFields = (schema: Schema) =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    property['x-normalize'] === 'email' ? [name] : [],
  );

function formatRoute(operation: ContractOperation): string {
  const { id, method, path, requiresAuthentication, rateLimit, refusesEmptyObject, requestBody } = operation;
  const route = {
    id,
    method,
    path,
    requiresAuthentication,
    rateLimit,
    pathParameters: typesByName(schemaOf(operation.pathParameters)),
    query: typesByName(schemaOf(operation.query)),
    headers: typesByName(schemaOf(operation.headerParameters)),
    body: requestBody && {
      mediaType: requestBody.mediaType,
      fields: typesByName(requestBody.schema),
      emails: emailFields(requestBody.schema),
    },
    refusesEmptyObject,
  };
  return `  ${id}: ${JSON.stringify(route)},`;
}

/** Returns the module with the route table: the properties of each operation that the server needs before its handler runs. */
export const generateRoutes = (operations: ContractOperation[]): string =>
  `export const routes = {\n${operations.map(formatRoute).join('\n')}\n} as const;\n`;
