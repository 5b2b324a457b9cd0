import { setTimeout as sleep } from 'node:timers/promises';
import { type EntityReference, enqueue, type OutboxEntry } from '../../db/outbox/entries.js';
import { createOutbox, type Outbox } from '../../db/outbox/index.js';
import type { Database } from '../../db/postgres/index.js';
import { prepareGraph } from '../../db/stores/migrate.js';
import type { Log } from '../../db/support/log.js';
import { chunks, withProgress } from '../support/pages.js';
import type { Progress } from '../support/progress.js';
import { recalculateStoredBytes } from './stored-bytes.js';
import type { Finding, VerifiedStores } from './verify.js';

/** One inline delivery takes at most this many entries. */
const BATCH_SIZE = 50;

const POLL_INTERVAL_MS = 50;

/**
 * Repairs what differs through the outbox, as the service does: delivery takes locks and makes the other store match the row as it
 * is then. It therefore works with or without a running service.
 *
 * @returns the number of entries whose delivery failed, which the service retries
 */
export async function repair(
  stores: VerifiedStores,
  findings: readonly Finding[],
  log: Log,
  progress: Progress = () => undefined,
): Promise<number> {
  // As at a start: no new row may get the id of a node that is removed below.
  await prepareGraph(stores);
  const outbox = createOutbox(stores, log);
  const repairBatch = async (keys: Finding['keys'], repairedBy: NonNullable<Finding['repairedBy']>) => {
    if (repairedBy !== 'recalculation') {
      const references = keys.map((key) => ({ kind: repairedBy, key }));
      return deliver(stores.db, outbox, references);
    }
    for (const account of keys) await recalculateStoredBytes(stores.maintenanceDb, Number(account));
    return 0;
  };
  let failures = 0;
  try {
    for (const { title, keys, repairedBy } of findings) {
      if (!repairedBy) continue;
      const batches = withProgress(chunks(keys, BATCH_SIZE), `repairing: ${title}`, keys.length, progress);
      for await (const batch of batches) failures += await repairBatch(batch, repairedBy);
    }
    return failures;
  } finally {
    await outbox.stop();
  }
}

/** Enqueues entries and waits until each has been tried once. Returns the number of failures. */
async function deliver(db: Database, outbox: Outbox, references: readonly EntityReference[]): Promise<number> {
  const entries = await db.transaction().execute((trx) => enqueue(trx, references));
  const ids = entries.map(({ id }) => id);
  /** Returns the entries of which the first delivery has not succeeded. */
  const readUndelivered = () =>
    db
      .selectFrom('outbox')
      .select(['id', 'kind', 'key', 'attempts'])
      .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
      .where('delivered', '=', false)
      .execute();
  let untried: OutboxEntry[] = entries;
  for (;;) {
    await outbox.deliver(untried);
    const undelivered = await readUndelivered();
    untried = undelivered.filter(({ attempts }) => attempts === 0);
    if (untried.length === 0) return undelivered.length;
    // Another process may be delivering them.
    await sleep(POLL_INTERVAL_MS);
  }
}
