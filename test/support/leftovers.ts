import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Test } from 'tap';
import { expectConsistentStores } from './consistency.js';
import { openTestStores } from './stores.js';

/**
 * Makes all outbox entries due, and waits until they are processed. Then expects interrupted writes to have left nothing in
 * the stores. No service may be using the stores.
 */
export async function expectNoLeftovers(t: Test, environment: NodeJS.ProcessEnv): Promise<void> {
  const stores = await openTestStores(t, environment);
  const { db, directory } = stores;
  const remainingEntries = () => db.selectFrom('outbox').select('id').execute();
  while ((await remainingEntries()).length > 0) {
    const now = sql<string>`clock_timestamp()`;
    await db.updateTable('outbox').set({ due_at: now }).where('due_at', '>', now).execute();
    await sleep(50);
  }
  await expectConsistentStores(t, stores);
  const uploadsName = basename(directory.uploads);
  t.same(
    await readdir(join(directory.uploads, '..')),
    [uploadsName, `${uploadsName}.lock`, 'lock'].sort(),
    'other processes have left no uploads',
  );
  t.same(await readdir(directory.uploads), [], 'this process has left no uploads');
  await stores.close();
}
