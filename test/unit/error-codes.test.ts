import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { ERROR_STATUSES, FIELD_MESSAGES } from '../../handlers/error-codes.js';
import { contract, document } from '../../scripts/contract-test/client/index.js';

/** The statuses in the document's tables of codes, by code. The status of a field problem is `field`. */
const table: Record<string, string> = Object.fromEntries(
  [...document.info.description.matchAll(/^\| `([a-z_]+)` \|(?: (\d+) \|)? [^|]+ \|$/gm)].map(
    ([, code, status = 'field']) => [code, status],
  ),
);

type Examples = Record<string, { value: { code: string; errors?: { code: string }[] } }>;

/** The error codes that a client can receive, with their statuses. */
const { client_closed_request, ...sentErrors } = ERROR_STATUSES;

t.test('the tables of codes list exactly the codes of errors and field problems, with their statuses', async (t) => {
  t.same(table, {
    ...Object.fromEntries(Object.entries(sentErrors).map(([code, status]) => [code, String(status)])),
    ...Object.fromEntries(Object.keys(FIELD_MESSAGES).map((code) => [code, 'field'])),
  });
  for (const code of Object.keys(table)) t.match(code, /^[a-z]+(_[a-z]+)*$/);
});

t.test('every code is used', async (t) => {
  const sources = readdirSync('handlers', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('error-codes.ts'))
    .map((name) => readFileSync(`handlers/${name}`, 'utf8'))
    .join('\n')
    // The source composes these codes, and no others, from parts.
    .replace(/`\$\{field\}_taken`/, "'username_taken', 'email_taken'");
  for (const code of [...Object.keys(ERROR_STATUSES), ...Object.keys(FIELD_MESSAGES)])
    t.ok(sources.includes(`'${code}'`), code);
});

t.test('the codes in the examples of a response are in the table, with the status of the response', async (t) => {
  let checked = 0;
  for (const { id, responses } of contract) {
    for (const [status, { content }] of Object.entries(responses).filter(([status]) => Number(status) >= 400)) {
      const { examples } = (content?.['application/json'] ?? {}) as { examples?: Examples };
      for (const { value } of Object.values(examples ?? {})) {
        t.equal(table[value.code], status, `${id}: ${value.code}`);
        for (const { code } of value.errors ?? []) t.equal(table[code], 'field', `${id}: ${code}`);
        checked += 1;
      }
    }
  }
  t.ok(checked > 60, `${checked} examples`);
});
