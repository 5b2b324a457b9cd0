import { sql } from 'kysely';
import type { DatabaseTransaction } from './index.js';

export type Numbered = 'accounts' | 'posts';

export const sequenceOf = (table: Numbered) => sql.table(`${table}_id_seq`);

/**
 * Makes sure that no id up to `used` is given out any more. Nobody inserts meanwhile: an id that was given out between the
 * look and the step would be given out again.
 */
export async function raiseSequence(trx: DatabaseTransaction, table: Numbered, used: number): Promise<void> {
  const behind = sql`last_value < ${used}::int8 or (last_value = ${used}::int8 and not is_called)`;
  const { rows } = await sql`select from ${sequenceOf(table)} where ${behind}`.execute(trx);
  if (rows.length === 0) return;
  await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(trx);
  await sql`
    select setval(${`${table}_id_seq`}::regclass, ${used}::int8) from ${sequenceOf(table)} where ${behind}`.execute(
    trx,
  );
}

/** Skips this many ids. It blocks no other transaction: a sequence only ever rises. */
export async function skipIds(trx: DatabaseTransaction, table: Numbered, count: number): Promise<void> {
  await sql`select setval(${`${table}_id_seq`}::regclass, nextval(${`${table}_id_seq`}::regclass) + ${count}::int8)`.execute(
    trx,
  );
}
