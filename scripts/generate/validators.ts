import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { COMMONJS } from './commonjs.js';
import { isFile, type Operation, type Schema } from './document.js';

const NOTHING: Schema = { type: 'object', additionalProperties: false };

/** A file is judged by its signature when it is read; to the validator it is anything at all. */
const withoutFiles = (schema: Schema): Schema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [name, isFile(property) ? {} : property]),
  ),
});

/** The schemas of an operation's input, by where it is sent. */
const schemasOf = ({ query, pathParameters, headerParameters, body }: Operation): Record<string, Schema> => ({
  query,
  path: pathParameters,
  ...(headerParameters && { header: headerParameters }),
  body: body ? withoutFiles(body.schema) : NOTHING,
});

/**
 * Has a text's length checked first, and nothing else of a text that is too long. Ajv alone would match a pattern against
 * whatever was sent.
 */
const lengthFirst = (schema: Schema): Schema => {
  const { maxLength, minLength, pattern, ...rest } = schema;
  if (maxLength === undefined || (minLength === undefined && pattern === undefined)) return schema;
  const others = { ...(minLength !== undefined && { minLength }), ...(pattern !== undefined && { pattern }) };
  // biome-ignore lint/suspicious/noThenProperty: this is JSON Schema's `then`
  return { ...rest, if: { maxLength }, then: others, else: { maxLength } };
};

const withLengthFirst = (schema: Schema): Schema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [name, lengthFirst(property)]),
  ),
});

/**
 * Returns Ajv's standalone code for the query, path, header parameters and body of every operation. All problems are
 * reported, nothing is coerced.
 */
export async function generateValidators(operations: Operation[]): Promise<string> {
  const ajv = new Ajv2020({
    allErrors: true,
    useDefaults: true,
    strict: true,
    strictTypes: false,
    validateFormats: false,
    code: { source: true, esm: false, lines: true },
    keywords: ['example', 'x-normalize'],
  });
  const names = new Map<string, string>();
  const nameOf = (schema: Schema): string => {
    const key = JSON.stringify(withLengthFirst(schema));
    const name = names.get(key) ?? `validate${names.size}`;
    if (!names.has(key)) ajv.addSchema(JSON.parse(key), name);
    names.set(key, name);
    return name;
  };
  const table = operations.map((operation) => {
    const places = Object.entries(schemasOf(operation)).map(([place, schema]) => `${place}: exports.${nameOf(schema)}`);
    return `  ${operation.id}: { ${places.join(', ')} },`;
  });
  const ids = Object.fromEntries([...names.values()].map((name) => [name, name]));
  const code = (standaloneCode as unknown as typeof standaloneCode.default)(ajv, ids);
  return `${COMMONJS}const exports = {};\n\n${code}\n\nexport const validators = {\n${table.join('\n')}\n};\n`;
}

export const VALIDATORS_TYPES = `import type { ErrorObject } from 'ajv';
import type { OperationId } from './types.js';

export interface Validate {
  (data: unknown): boolean;
  errors?: ErrorObject[] | null;
}

export interface Validators {
  readonly query: Validate;
  readonly path: Validate;
  readonly body: Validate;
  /** Only where the operation declares header parameters. */
  readonly header?: Validate;
}

export declare const validators: Readonly<Record<OperationId, Validators>>;
`;
