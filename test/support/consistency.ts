import type { Test } from 'tap';
import type { Stores } from '../../db/stores.js';
import { verify } from '../../scripts/verify/verify.js';
import { drainOutbox } from './contents.js';
import { silentLog } from './stores.js';

/** Drains the outbox, then fails the test if any rule of `npm run verify` is violated. */
export async function expectConsistentStores(t: Test, stores: Stores): Promise<void> {
  await drainOutbox(stores);
  const { findings } = await verify(stores, { repair: false, log: silentLog });
  const violated = findings.filter(({ rule, found }) => found > 0 && !rule.note);
  t.same(
    violated.map(({ rule, examples }) => [rule.title, examples]),
    [],
    'the stores are consistent',
  );
}
