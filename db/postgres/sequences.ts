import { sql } from 'kysely';
import type { DatabaseTransaction } from './index.js';

export type TableWithIds = 'accounts' | 'posts';

export const sequenceOf = (table: TableWithIds) => sql.table(`${table}_id_seq`);

/**
 * Raises the sequence so that no id up to `highestUsedId` is assigned again. Locks the table against inserts: `setval` would
 * otherwise reset ids assigned between the check and the change.
 */
export async function raiseSequence(
  trx: DatabaseTransaction,
  table: TableWithIds,
  highestUsedId: number,
): Promise<void> {
  const isBehind = sql`last_value < ${highestUsedId}::int8 or (last_value = ${highestUsedId}::int8 and not is_called)`;
  const { rows } = await sql`select from ${sequenceOf(table)} where ${isBehind}`.execute(trx);
  if (rows.length === 0) return;
  await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(trx);
  await sql`
    select setval(${`${table}_id_seq`}::regclass, ${highestUsedId}::int8) from ${sequenceOf(table)} where ${isBehind}`.execute(
    trx,
  );
}

/** Skips `count` ids. Needs no lock: `nextval` runs first, so the sequence can only rise. */
export async function skipIds(trx: DatabaseTransaction, table: TableWithIds, count: number): Promise<void> {
  await sql`select setval(${`${table}_id_seq`}::regclass, nextval(${`${table}_id_seq`}::regclass) + ${count}::int8)`.execute(
    trx,
  );
}
