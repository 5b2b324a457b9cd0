import { type Kysely, sql } from 'kysely';

/** Adds the time at which the operator disabled an account. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table accounts add column disabled_at timestamptz(3)`.execute(db);
}
