import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { bundle } from './bundle.js';
import { isFile, type Operation, type Schema } from './document.js';

const NOTHING: Schema = { type: 'object', additionalProperties: false };

/** A file is judged by its signature when it is read; to the validator it is anything at all. */
const withoutFiles = (schema: Schema): Schema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [name, isFile(property) ? {} : property]),
  ),
});

/** Ajv's standalone code for the query, path and body of every operation. All problems are reported, nothing is coerced. */
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
  const names: Record<string, string> = {};
  for (const operation of operations) {
    const { id, query, pathParameters, body } = operation;
    const schemas = { query, path: pathParameters, body: body ? withoutFiles(body.schema) : NOTHING };
    for (const [place, schema] of Object.entries(schemas)) {
      names[`${id}_${place}`] = `${id}/${place}`;
      ajv.addSchema(schema, `${id}/${place}`);
    }
  }
  const code = (standaloneCode as unknown as typeof standaloneCode.default)(ajv, names);
  const table = operations.map(
    ({ id }) => `  ${id}: { query: v.${id}_query, path: v.${id}_path, body: v.${id}_body },`,
  );
  return bundle(code, `export const validators = {\n${table.join('\n')}\n};`);
}

export const VALIDATORS_TYPES = `import type { ErrorObject } from 'ajv';
import type { OperationId } from './handlers.js';

export interface Validate {
  (data: unknown): boolean;
  errors?: ErrorObject[] | null;
}

export declare const validators: Readonly<Record<OperationId, Readonly<Record<'query' | 'path' | 'body', Validate>>>>;
`;
