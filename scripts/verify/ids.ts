import { sql } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import { type Numbered, raiseSequence, sequenceOf } from '../../db/postgres/sequences.js';
import type { Inspection } from './inspection.js';

/**
 * A sequence behind an id that is in use would give it out again, and the likes and friendships of the old one with it.
 * The ids in use are read first: a sequence only moves on.
 */
export async function checkIds({ stores, findings, repair }: Inspection): Promise<void> {
  const { db, maintenanceDb, graph } = stores;
  const { person, post } = await graph.highestIds();
  for (const [table, inGraph] of [['accounts', person] as const, ['posts', post] as const]) {
    const used = Math.max(inGraph, await highestId(maintenanceDb, table));
    const last = await lastGiven(maintenanceDb, table);
    if (last >= used) continue;
    if (repair) await db.transaction().execute((trx) => raiseSequence(trx, table, used));
    findings.add('idsAreNew', [`${table}: ${last} was given out last, and ${used} is in use`], repair ? 1 : 0);
  }
}

async function highestId(db: Database, table: Numbered): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirst();
  return row?.id ?? 0;
}

async function lastGiven(db: Database, table: Numbered): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    select case when is_called then last_value else last_value - 1 end as last from ${sequenceOf(table)}`.execute(db);
  return rows[0]?.last ?? 0;
}
