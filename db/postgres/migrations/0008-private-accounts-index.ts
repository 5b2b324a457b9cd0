import { type Kysely, sql } from 'kysely';

/** Adds an index of the private accounts, from which scans of many posts build the set of authors whose posts are hidden. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index accounts_private on accounts (id) where private is true`.execute(db);
}
