import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { createOutbox, type EntityReference, enqueue } from '../../db/outbox/index.js';
import { NOW } from '../../db/postgres/clock.js';
import type { Database } from '../../db/postgres/index.js';
import type { BareStores } from '../../db/stores.js';
import type { Log } from '../../db/support/log.js';

/**
 * Mends by the outbox, as the service does: with the same locks, and by a look at the row as it is then. So it needs no
 * service to be running, and is in no running service's way.
 */
export interface Repair {
  /** Makes the other stores agree about these, and answers about how many they do. */
  settle(things: readonly EntityReference[]): Promise<number>;
  /** Delivers entries that are due, and answers how many were delivered. */
  deliver(entries: readonly number[]): Promise<number>;
  stop(): Promise<void>;
}

/** How many entries are under way at once. */
const BATCH = 50;

/** Until entries that are still being delivered are looked at again, in milliseconds. */
const PAUSE = 50;

export function createRepair(
  stores: Pick<BareStores, 'db' | 'graphTransactions' | 'graph' | 'images'>,
  log: Log,
): Repair {
  const { db } = stores;
  const outbox = createOutbox({ ...stores, log });

  /** An entry that has been delivered is gone, or waits for its second time; one that has failed waits for its next try. */
  async function deliverBatch(entries: readonly number[]): Promise<number> {
    let due = entries;
    while (due.length > 0) {
      await outbox.deliver(due);
      due = await entriesDue(db, entries);
      // Somebody else may be at it.
      if (due.length > 0) await sleep(PAUSE);
    }
    return entries.length - (await countFailed(db, entries));
  }

  async function deliver(entries: readonly number[]): Promise<number> {
    let delivered = 0;
    for (let start = 0; start < entries.length; start += BATCH) {
      delivered += await deliverBatch(entries.slice(start, start + BATCH));
    }
    return delivered;
  }

  return {
    deliver,
    settle: async (things) => deliver(await db.transaction().execute((trx) => enqueue(trx, things))),
    stop: () => outbox.stop(),
  };
}

async function entriesDue(db: Database, entries: readonly number[]): Promise<number[]> {
  const due = await db
    .selectFrom('outbox')
    .select('id')
    .where(sql<boolean>`id = any(${entries}::int8[]) and due_at <= ${NOW}`)
    .execute();
  return due.map(({ id }) => id);
}

async function countFailed(db: Database, entries: readonly number[]): Promise<number> {
  const { failed } = await db
    .selectFrom('outbox')
    .select(({ fn }) => fn.countAll<number>().as('failed'))
    .where(sql<boolean>`id = any(${entries}::int8[]) and not delivered`)
    .executeTakeFirstOrThrow();
  return failed;
}
