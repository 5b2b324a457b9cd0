import { type Kysely, sql } from 'kysely';

/** Adds when the operator disabled an account, and the number of the operator's actions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table accounts add column disabled_at timestamptz(3)`.execute(db);
  await sql`alter table installation add column operator_actions int8 not null default 0`.execute(db);
}
