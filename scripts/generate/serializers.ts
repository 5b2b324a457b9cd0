import fastJsonStringify from 'fast-json-stringify';
import { bundle } from './bundle.js';
import type { Operation } from './document.js';

/** fast-json-stringify's standalone code for every JSON body that an operation answers with. */
export async function generateSerializers(operations: Operation[]): Promise<string> {
  const builders = new Map<string, { name: string; code: string }>();
  const nameOf = (schema: object): string => {
    const key = JSON.stringify(schema);
    const known = builders.get(key);
    if (known) return known.name;
    const name = `serialize${builders.size}`;
    const code = fastJsonStringify(schema, { mode: 'standalone' }) as unknown as string;
    builders.set(key, { name, code });
    return name;
  };
  const table = operations.map(({ id, answers }) => {
    const statuses = Object.entries(answers).map(([status, schema]) => `${status}: v.${nameOf(schema)}`);
    return `  ${id}: { ${statuses.join(', ')} },`;
  });
  const modules = [...builders.values()].map(
    ({ name, code }) => `exports.${name} = (() => { const module = {};\n${code}\nreturn module.exports; })();`,
  );
  return bundle(modules.join('\n'), `export const serializers = {\n${table.join('\n')}\n};`);
}

export const SERIALIZERS_TYPES = `import type { OperationId } from './handlers.js';

/** By operation and status: the body as JSON, with nothing that the contract does not name. */
export declare const serializers: Readonly<Record<OperationId, Readonly<Record<number, (body: unknown) => string>>>>;
`;
