import { isFile, type Operation, type Schema } from './document.js';

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

function formatRoute(operation: Operation): string {
  const { id, method, path, secured, rateLimit, refusesEmptyObject, pathParameters, query, headerParameters, body } =
    operation;
  const route = {
    id,
    method,
    path,
    secured,
    rateLimit,
    pathParameters: typesByName(pathParameters),
    query: typesByName(query),
    headers: headerParameters && typesByName(headerParameters),
    body: body && {
      mediaType: body.mediaType,
      fields: typesByName(body.schema),
      emails: emailFields(body.schema),
    },
    refusesEmptyObject,
  };
  return `  ${id}: ${JSON.stringify(route)},`;
}

/** Returns the module with the route table: the properties of each operation that the server needs before its handler runs. */
export const generateRoutes = (operations: Operation[]): string =>
  `export const routes = {\n${operations.map(formatRoute).join('\n')}\n} as const;\n`;
