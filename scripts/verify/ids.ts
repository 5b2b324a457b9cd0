import { sql } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import { raiseSequence, sequenceOf, type TableWithIds } from '../../db/postgres/sequences.js';
import type { CheckContext } from './rules.js';

/**
 * Checks that each sequence is ahead of all ids in use. A reused id would inherit the likes and friendships of the old one.
 * The sequences are read last: they only increase, so ids that are assigned in between cause no false alarm.
 */
export async function checkIds({ stores, findings, repair }: CheckContext): Promise<void> {
  const { db, maintenanceDb, graph } = stores;
  const { person, post } = await graph.highestIds();
  for (const [table, highestInGraph] of [['accounts', person] as const, ['posts', post] as const]) {
    const highest = Math.max(highestInGraph, await highestId(maintenanceDb, table));
    const lastIssued = await lastIssuedId(maintenanceDb, table);
    if (lastIssued >= highest) continue;
    if (repair) await db.transaction().execute((trx) => raiseSequence(trx, table, highest));
    const violation = `${table}: the last issued id is ${lastIssued}, but ${highest} is in use`;
    findings.add('sequencesAhead', [violation], repair ? 1 : 0);
  }
}

async function highestId(db: Database, table: TableWithIds): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirst();
  return row?.id ?? 0;
}

async function lastIssuedId(db: Database, table: TableWithIds): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    select case when is_called then last_value else last_value - 1 end as last from ${sequenceOf(table)}`.execute(db);
  return rows[0]?.last ?? 0;
}
