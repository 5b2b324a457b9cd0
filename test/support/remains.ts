import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Test } from 'tap';
import { agree } from './agreement.js';
import { openTestStores } from './stores.js';

/**
 * Looks for what is left of writes that were broken off, in stores that nobody uses any more: once all that waits has been
 * delivered, and delivered again where that is due, there must be nothing.
 */
export async function leavesNothing(t: Test, environment: NodeJS.ProcessEnv): Promise<void> {
  const stores = await openTestStores(t, environment);
  const { db, directory } = stores;
  const waiting = () => db.selectFrom('outbox').select('id').execute();
  while ((await waiting()).length > 0) {
    const now = sql<string>`clock_timestamp()`;
    await db.updateTable('outbox').set({ due_at: now }).where('due_at', '>', now).execute();
    await sleep(50);
  }
  await agree(t, stores);
  const own = basename(directory.uploads);
  t.same(
    await readdir(join(directory.uploads, '..')),
    [own, `${own}.lock`, 'lock'].sort(),
    'no process has left uploads',
  );
  t.same(await readdir(directory.uploads), [], 'and this one has none');
  await stores.close();
}
