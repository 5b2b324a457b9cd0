import type { ExpressionBuilder } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import { lockExclusive } from '../../db/postgres/locks.js';
import type { Tables } from '../../db/schema.js';

/** Builds the sum that `accounts.stored_bytes` should contain. */
const actualBytes = (eb: ExpressionBuilder<Tables, 'accounts'>) =>
  eb(
    'picture_bytes',
    '+',
    eb.fn.coalesce(
      eb
        .selectFrom('posts')
        .select(({ fn }) => fn.sum<number>('image_bytes').as('bytes'))
        .whereRef('author_id', '=', 'accounts.id'),
      eb.lit(0),
    ),
  );

/**
 * Returns the ids of the accounts whose `stored_bytes` are wrong. One statement reads the sum and the sizes, which change in one
 * transaction.
 */
export async function findWrongStoredBytes(db: Database): Promise<number[]> {
  const rows = await db
    .selectFrom('accounts')
    .select('id')
    .where((eb) => eb('stored_bytes', '<>', actualBytes(eb)))
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Recalculates the `stored_bytes` of an account. Locks the account, so that its uploads and deletions wait. */
export async function recalculateStoredBytes(db: Database, account: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockExclusive(trx, { accounts: [account] });
    await trx
      .updateTable('accounts')
      .set((eb) => ({ stored_bytes: actualBytes(eb) }))
      .where('id', '=', account)
      .execute();
  });
}
