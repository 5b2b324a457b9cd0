import { type Kysely, sql } from 'kysely';

/**
 * Adds an index of the private accounts. Scans of many posts use it to find the authors whose posts are hidden from a
 * viewer.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index accounts_private on accounts (id) where private is true`.execute(db);
}
