import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { ERROR_STATUSES, FIELD_MESSAGES } from '../../handlers/http/error-codes.js';

const document = parse(readFileSync('openapi.yaml', 'utf8'));

/** The statuses in the document's tables of codes, by code. The status of a field problem is `field`. */
const table = new Map<string, string>(
  [...document.info.description.matchAll(/^\| `([a-z_]+)` \|(?: (\d+) \|)? [^|]+ \|$/gm)].map(
    ([, code, status = 'field']) => [code, status],
  ),
);

/** All codes that a client can receive. */
const { client_closed_request, ...sentErrors } = ERROR_STATUSES;

t.test('the tables of codes list exactly the codes of errors and field problems, with their statuses', async (t) => {
  t.same(Object.fromEntries(table), {
    ...Object.fromEntries(Object.entries(sentErrors).map(([code, status]) => [code, String(status)])),
    ...Object.fromEntries(Object.keys(FIELD_MESSAGES).map((code) => [code, 'field'])),
  });
  for (const code of table.keys()) t.match(code, /^[a-z]+(_[a-z]+)*$/);
});

t.test('every code is used', async (t) => {
  const files = readdirSync('handlers', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const sources = files
    .filter((name) => !name.endsWith('error-codes.ts'))
    .map((name) => readFileSync(`handlers/${name}`, 'utf8'))
    .join('\n')
    // The source composes these codes, and no others, from parts.
    .replace(/`\$\{field\}_taken`/, "'username_taken', 'email_taken'");
  for (const code of [...Object.keys(ERROR_STATUSES), ...Object.keys(FIELD_MESSAGES)])
    t.ok(sources.includes(`'${code}'`), code);
});

t.test('the codes in the examples of a response are in the table, with the status of the response', async (t) => {
  const responses: Record<string, { content?: Record<string, { examples?: object }> }> = document.components.responses;
  const statuses = new Map<string, Set<string>>();
  for (const item of Object.values<object>(document.paths)) {
    for (const operation of Object.values<{ responses: Record<string, { $ref?: string }> }>(item as never)) {
      for (const [status, { $ref = '' }] of Object.entries(operation.responses)) {
        const name = $ref.split('/').at(-1) ?? '';
        statuses.set(name, new Set([...(statuses.get(name) ?? []), status]));
      }
    }
  }
  let checked = 0;
  for (const [name, { content }] of Object.entries(responses)) {
    const examples = Object.values(content?.['application/json']?.examples ?? {});
    for (const { value } of examples as { value: { code: string; errors?: { code: string }[] } }[]) {
      t.same([table.get(value.code)], [...(statuses.get(name) ?? [])], `${name}: ${value.code}`);
      for (const { code } of value.errors ?? []) t.equal(table.get(code), 'field', `${name}: ${code}`);
      checked += 1;
    }
  }
  t.ok(checked > 60, `${checked} examples`);
});
