import { type Kysely, Migrator } from 'kysely';
import { migrations } from './migrations/index.js';
import type { Tables } from './tables.js';

/** Brings the schema up to date. Safe when several processes do it at once: the migrator takes a lock. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}
