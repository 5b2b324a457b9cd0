import { sql } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import { lockExclusive } from '../../db/postgres/locks.js';
import type { Inspection } from './inspection.js';
import { pages } from './pages.js';

const COUNTED = sql`picture_bytes + coalesce((select sum(image_bytes) from posts where author_id = accounts.id), 0)::int8`;

/** One statement sees the sum and what it is of, which change in one transaction. */
export async function checkStoredBytes({ stores, findings, repair, progress, pageSize }: Inspection): Promise<void> {
  const { maintenanceDb } = stores;
  const miscounted = async (after: number, limit: number) => {
    const { rows } = await sql<{ id: number; stored: number; counted: number }>`
      select id, stored_bytes as stored, counted
      from accounts cross join lateral (select ${COUNTED} as counted) sizes
      where id > ${after} and stored_bytes <> counted
      order by id limit ${limit}`.execute(maintenanceDb);
    return rows;
  };
  for await (const accounts of pages(miscounted, pageSize, ({ id }) => id)) {
    if (repair) for (const { id } of accounts) await recount(maintenanceDb, id);
    findings.add(
      'storedBytes',
      accounts.map(({ id, stored, counted }) => `account ${id}: ${stored} instead of ${counted}`),
      repair ? accounts.length : 0,
    );
    progress.advance(accounts.length);
  }
}

/** Uploads and deletions of the account wait meanwhile. */
async function recount(db: Database, id: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockExclusive(trx, { accounts: [id] });
    await sql`update accounts set stored_bytes = ${COUNTED} where id = ${id}`.execute(trx);
  });
}
