import { sql } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import { lockExclusive } from '../../db/postgres/locks.js';
import { paginate } from '../support/pages.js';
import type { CheckContext } from './rules.js';

const ACTUAL_BYTES = sql`picture_bytes + coalesce((select sum(image_bytes) from posts where author_id = accounts.id), 0)::int8`;

/**
 * Finds accounts whose `stored_bytes` is wrong. No second check is needed: one statement reads the sum and the sizes, which
 * change in one transaction.
 */
export async function checkStoredBytes({ stores, findings, repair, track, pageSize }: CheckContext): Promise<void> {
  const { maintenanceDb } = stores;
  const readIncorrect = async (after: number, limit: number) => {
    const { rows } = await sql<{ id: number; stored: number; actual: number }>`
      select id, stored_bytes as stored, actual
      from accounts cross join lateral (select ${ACTUAL_BYTES} as actual) sizes
      where id > ${after} and stored_bytes <> actual
      order by id limit ${limit}`.execute(maintenanceDb);
    return rows;
  };
  for await (const accounts of track(paginate(readIncorrect, pageSize))) {
    if (repair) for (const { id } of accounts) await recalculate(maintenanceDb, id);
    const violations = accounts.map(({ id, stored, actual }) => `account ${id}: ${stored} instead of ${actual}`);
    findings.add('storedBytes', violations, repair ? accounts.length : 0);
  }
}

/** Locks the account, so that its uploads and deletions wait. */
async function recalculate(db: Database, id: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockExclusive(trx, { accounts: [id] });
    await sql`update accounts set stored_bytes = ${ACTUAL_BYTES} where id = ${id}`.execute(trx);
  });
}
