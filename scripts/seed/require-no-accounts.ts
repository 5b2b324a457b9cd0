import type { Database } from '../../db/postgres/index.js';
import { CommandError } from '../support/command-error.js';

/** Throws CommandError if the database has accounts, because it may be that of a production service. */
export async function requireNoAccounts(db: Database): Promise<void> {
  const existing = await db.selectFrom('accounts').select('id').limit(1).executeTakeFirst();
  if (existing) throw new CommandError('The database has accounts. To add more, use --yes.');
}
