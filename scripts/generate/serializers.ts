import fastJsonStringify from 'fast-json-stringify';
import { COMMONJS_PRELUDE } from './commonjs.js';
import type { ContractOperation } from './document.js';

/** Returns a module with a serializer for every JSON response body. They are compiled by fast-json-stringify. */
export async function generateSerializers(operations: ContractOperation[]): Promise<string> {
  const serializers = new Map<string, { name: string; code: string }>();
  const nameOf = (schema: object): string => {
    const key = JSON.stringify(schema);
    const existing = serializers.get(key);
    if (existing) return existing.name;
    const name = `serialize${serializers.size}`;
    const code = fastJsonStringify(schema, { mode: 'standalone' }) as unknown as string;
    serializers.set(key, { name, code });
    return name;
  };
  const table = operations.map(({ id, responses }) => {
    const statuses = Object.entries(responses).flatMap(([status, { content }]) => {
      const json = content?.['application/json'];
      return json ? [`${status}: ${nameOf(json.schema)}`] : [];
    });
    return `  ${id}: { ${statuses.join(', ')} },`;
  });
  const modules = [...serializers.values()].map(
    ({ name, code }) =>
      `const ${name} = (() => { const module = {};\n${code.replace(/\n\s*\n/g, '\n').trim()}\nreturn module.exports; })();`,
  );
  const exported = `export const serializers = {\n${table.join('\n')}\n};`;
  return `${[COMMONJS_PRELUDE.trimEnd(), withStableIds(modules.join('\n\n')), exported].join('\n\n')}\n`;
}

/** Numbers schema ids in order of appearance, because fast-json-stringify counts them across all calls in a process. */
function withStableIds(code: string): string {
  const ids = new Map<string, number>();
  return code.replace(/(__fjs_[a-z]+_)(\d+)/g, (id, prefix) => {
    if (!ids.has(id)) ids.set(id, ids.size);
    return `${prefix}${ids.get(id)}`;
  });
}
