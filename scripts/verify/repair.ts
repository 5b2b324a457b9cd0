import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { type EntityReference, enqueue, type OutboxEntry } from '../../db/outbox/entries.js';
import { createOutbox } from '../../db/outbox/index.js';
import { NOW } from '../../db/postgres/clock.js';
import type { Database } from '../../db/postgres/index.js';
import type { BareStores } from '../../db/stores.js';
import type { Log } from '../../db/support/log.js';
import { chunks } from '../support/pages.js';

/**
 * Repairs the other stores through the outbox, as the service does: under the same locks, and from the current rows. It
 * therefore works with or without a running service.
 */
export interface Repair {
  /** Updates the other stores from the rows of these entities. Returns the number of successful updates. */
  reconcile(entities: readonly EntityReference[]): Promise<number>;
  /** Tries to deliver each entry, and leaves retries to the relay. Returns the number of delivered entries. */
  deliver(entries: readonly OutboxEntry[]): Promise<number>;
  stop(): Promise<void>;
}

/** The number of entries that are delivered, one after another, before their results are checked. */
const DELIVERY_BATCH_SIZE = 50;

const POLL_INTERVAL_MS = 50;

export function createRepair(
  stores: Pick<BareStores, 'db' | 'graphTransactions' | 'graph' | 'images'>,
  log: Log,
): Repair {
  const { db } = stores;
  const outbox = createOutbox(stores, log);

  /**
   * Delivers entries until each has been tried once. After that, an entry is deleted or due later: for its second delivery, or
   * for a retry. Retries are left to the relay, so that this ends even if a store rejects every delivery.
   */
  async function deliverBatch(entries: readonly OutboxEntry[]): Promise<number> {
    const startedAt = await readClock(db);
    let due = entries;
    while (due.length > 0) {
      await outbox.deliver(due);
      due = await filterDue(db, idsOf(entries), startedAt);
      // Another process may be delivering them.
      if (due.length > 0) await sleep(POLL_INTERVAL_MS);
    }
    return entries.length - (await countFailed(db, idsOf(entries)));
  }

  async function deliver(entries: readonly OutboxEntry[]): Promise<number> {
    let delivered = 0;
    for await (const batch of chunks(entries, DELIVERY_BATCH_SIZE)) delivered += await deliverBatch(batch);
    return delivered;
  }

  return {
    deliver,
    reconcile: async (entities) => deliver(await db.transaction().execute((trx) => enqueue(trx, entities))),
    stop: () => outbox.stop(),
  };
}

const idsOf = (entries: readonly OutboxEntry[]) => entries.map(({ id }) => id);

/** Returns PostgreSQL's time, as text because a Date would lack the microseconds. */
async function readClock(db: Database): Promise<string> {
  const { rows } = await sql<{ now: string }>`select ${NOW}::text as now`.execute(db);
  return rows[0]?.now ?? '';
}

/** Returns those of the entries that were already due at this time. */
async function filterDue(db: Database, ids: readonly number[], dueBy: string): Promise<OutboxEntry[]> {
  return db
    .selectFrom('outbox')
    .select(['id', 'kind', 'key'])
    .where(sql<boolean>`id = any(${ids}::int8[]) and due_at <= ${dueBy}::timestamptz`)
    .execute();
}

async function countFailed(db: Database, ids: readonly number[]): Promise<number> {
  const { failed } = await db
    .selectFrom('outbox')
    .select(({ fn }) => fn.countAll<number>().as('failed'))
    .where(sql<boolean>`id = any(${ids}::int8[]) and not delivered`)
    .executeTakeFirstOrThrow();
  return failed;
}
