import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { COMMONJS_PRELUDE } from './commonjs.js';
import { type ContractOperation, isFile, type Schema, schemaOf } from './document.js';

const NO_PROPERTIES: Schema = { type: 'object', additionalProperties: false };

const mapProperties = (schema: Schema, map: (property: Schema) => Schema): Schema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [name, map(property)]),
  ),
});

/** Returns a schema that accepts any value for a file. The signature of the file is checked when the form is read. */
const withoutFiles = (schema: Schema): Schema =>
  mapProperties(schema, (property) => (isFile(property) ? {} : property));

/** Returns the schemas of an operation's input, by location. */
const schemasOf = ({
  query,
  pathParameters,
  headerParameters,
  requestBody,
}: ContractOperation): Record<string, Schema> => ({
  query: schemaOf(query),
  path: schemaOf(pathParameters),
  header: schemaOf(headerParameters),
  body: requestBody ? withoutFiles(requestBody.schema) : NO_PROPERTIES,
});

/**
 * Returns a schema that checks `minLength` and `pattern` only if `maxLength` is met. With `allErrors`, Ajv would otherwise
 * match the pattern against input of any length.
 */
const checkMaxLengthFirst = (schema: Schema): Schema => {
  const { maxLength, minLength, pattern, ...rest } = schema;
  if (maxLength === undefined || (minLength === undefined && pattern === undefined)) return schema;
  const others = { ...(minLength !== undefined && { minLength }), ...(pattern !== undefined && { pattern }) };
  // biome-ignore lint/suspicious/noThenProperty: this is JSON Schema's `then`
  return { ...rest, if: { maxLength }, then: others, else: { maxLength } };
};

/**
 * Returns a module with validators for the query, path, header parameters and body of every operation, compiled by Ajv. They
 * report all errors. They insert no defaults, so that handlers know what was sent, and coerce nothing.
 */
export async function generateValidators(operations: ContractOperation[]): Promise<string> {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: true,
    strictTypes: false,
    validateFormats: false,
    code: { source: true, esm: false, lines: true },
    keywords: ['example', 'x-normalize'],
  });
  const names = new Map<string, string>();
  const nameOf = (schema: Schema): string => {
    const key = JSON.stringify(mapProperties(schema, checkMaxLengthFirst));
    const name = names.get(key) ?? `validate${names.size}`;
    if (!names.has(key)) ajv.addSchema(JSON.parse(key), name);
    names.set(key, name);
    return name;
  };
  const table = operations.map((operation) => {
    const members = Object.entries(schemasOf(operation)).map(
      ([location, schema]) => `${location}: exports.${nameOf(schema)}`,
    );
    return `  ${operation.id}: { ${members.join(', ')} },`;
  });
  const ids = Object.fromEntries([...names.values()].map((name) => [name, name]));
  const code = (standaloneCode as unknown as typeof standaloneCode.default)(ajv, ids);
  return `${COMMONJS_PRELUDE}const exports = {};\n\n${code}\n\nexport const validators = {\n${table.join('\n')}\n};\n`;
}
