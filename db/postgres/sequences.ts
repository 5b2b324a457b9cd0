import { sql } from 'kysely';
import type { DatabaseTransaction } from './index.js';

export type TableWithIds = 'accounts' | 'posts';

const sequenceOf = (table: TableWithIds) => sql.table(`${table}_id_seq`);

/**
 * Raises a sequence, if necessary, so that no id up to `highestUsedId` is assigned again. Locks the table against inserts,
 * because `setval` could otherwise lower a sequence that an insert has raised since the check.
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
