import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { SocialGraph } from '../graph/index.js';
import type { ImageStore } from '../images/index.js';
import { NOW } from '../postgres/clock.js';
import type { Database } from '../postgres/index.js';
import { OUTBOX_KINDS, type OutboxKind } from '../schema.js';
import { StoreUnavailableError } from '../support/errors.js';
import { failpoint } from '../support/failpoints.js';
import type { Log } from '../support/log.js';
import { noopObserver, type Observer } from '../support/observer.js';
import { withTimeout } from '../support/timeout.js';
import { claimDueEntries, findDueEntries, type OutboxEntry } from './entries.js';
import { createNodeDelivery } from './node-delivery.js';

/*
 * Transactional outbox: keeps the graph and the image store consistent with PostgreSQL without distributed transactions.
 *
 * 1. The transaction that changes a row also inserts an outbox entry. The entry names the changed entity: a person (the
 *    graph node of an account), a post or an image.
 * 2. After the commit, the request delivers its own entries, within a time limit. This is called inline delivery.
 * 3. A relay in every process polls for due entries that inline delivery did not reach or could not deliver. It retries
 *    them with exponential backoff until they are delivered.
 *
 * Delivery is level-triggered: an entry contains no change to replay. Instead, delivery reads the current row and makes the
 * other store match it. If the row exists, it creates the node. If not, it removes the node or the image. The result is
 * therefore the same if an entry is delivered twice, late or out of order.
 */

/** How long the relay waits after a round in which it handled no entry. */
const POLL_INTERVAL_MS = 1000;

/** The maximum number of entries of one inline delivery. The relay delivers the others. */
const MAX_INLINE_ENTRIES = 50;

/** How long a request waits for its inline delivery, which then continues in the background. */
const INLINE_TIMEOUT_MS = 1000;

/** The maximum wait before the next attempt. It is shorter if the attempt failed because the store was unavailable. */
const MAX_BACKOFF_SECONDS = 300;
const MAX_UNAVAILABLE_BACKOFF_SECONDS = 5;

export interface Outbox {
  /** Runs an inline delivery. Resolves after a second at the latest. Leaves failed entries to the relay. */
  deliver(entries: readonly OutboxEntry[]): Promise<void>;
  /** Starts the relay. */
  start(): void;
  /**
   * Stops the relay and waits for deliveries in progress. The removal of a node with many edges stops after its current
   * transaction; the next delivery of its entry continues it.
   */
  stop(): Promise<void>;
}

interface OutboxStores {
  db: Database;
  graphTransactions: Database;
  graph: SocialGraph;
  images: ImageStore;
}

export function createOutbox(
  { db, graphTransactions, graph, images }: OutboxStores,
  log: Log,
  observer: Observer = noopObserver,
): Outbox {
  const stopped = new AbortController();
  const deliverNode = createNodeDelivery({ graphTransactions, graph }, observer, stopped.signal);
  const inlineDeliveries = new Set<Promise<void>>();
  let relay: Promise<unknown> | undefined;

  /**
   * Delivers an entry, or reschedules it if the delivery fails. Returns false if there was nothing to do: the entry has already
   * been delivered, is not due, or is being delivered elsewhere.
   *
   * @throws StoreUnavailableError if the store is unavailable, because other entries of the same store would fail too
   */
  async function deliverOne({ id, kind, key }: OutboxEntry): Promise<boolean> {
    try {
      return await (kind === 'image' ? deliverImage(id, key) : deliverNode(id));
    } catch (error) {
      const unavailable = error instanceof StoreUnavailableError;
      const attempts = await reschedule(id, unavailable ? MAX_UNAVAILABLE_BACKOFF_SECONDS : MAX_BACKOFF_SECONDS);
      // An outage of Neo4j or S3 is logged by its circuit breaker. Image files have none, so the first failure of each entry is
      // logged. An error without a cause is expected: a backup delays the removal (`images/holds.ts`).
      const isFirstFileError =
        unavailable &&
        images.kind === 'disk' &&
        error.store === 'images' &&
        error.cause !== undefined &&
        attempts === 1;
      if (!unavailable || isFirstFileError) log.warn({ err: error, kind, attempts }, 'delivery failed');
      if (unavailable) throw error;
      return true;
    }
  }

  /**
   * Reschedules an entry after a failed delivery, with exponential backoff. Returns the number of attempts so far, or undefined
   * if the entry has been deleted or is no longer due.
   */
  async function reschedule(id: number, maxBackoffSeconds: number): Promise<number | undefined> {
    const entry = await db
      .updateTable('outbox')
      .set((eb) => ({
        attempts: eb('attempts', '+', 1),
        due_at: sql<string>`${NOW} + least(power(2, least(attempts, 30)), ${maxBackoffSeconds}::int4) * interval '1 second'`,
      }))
      .where('id', '=', id)
      // Keeps the schedule if another process has removed the node and scheduled a second delivery: see `deliverRemoval`.
      .where('due_at', '<=', NOW)
      .returning('attempts')
      .executeTakeFirst();
    return entry?.attempts;
  }

  /**
   * Delivers the entry of an image: removes the image unless a row refers to it, then deletes the entry. No new reference can
   * appear meanwhile: names are never reused, and `claimImage` fails once the entry is due.
   */
  async function deliverImage(id: number, name: string): Promise<boolean> {
    // Skips an entry whose `claimImage` is not committed yet, because that transaction has locked its row. Outside a
    // transaction, no lock is kept: two deliveries of one image may overlap, with the same result.
    if ((await claimDueEntries(db, [id]).execute()).length === 0) return false;
    const posts = db.selectFrom('posts').select('id').where('image', '=', name);
    const isUsed = await posts
      .unionAll(db.selectFrom('accounts').select('id').where('picture', '=', name))
      .executeTakeFirst();
    if (!isUsed) await images.remove(name);
    failpoint('image removed');
    await db.deleteFrom('outbox').where('id', '=', id).execute();
    return true;
  }

  /** Delivers a batch of due entries. Returns the number of entries that were delivered or rescheduled. */
  async function deliverDue(kind: OutboxKind): Promise<number> {
    let handledCount = 0;
    for (const entry of await findDueEntries(db, kind).execute()) {
      if (stopped.signal.aborted) break;
      if (await deliverOne(entry)) handledCount += 1;
    }
    return handledCount;
  }

  /** Delivers due entries of one kind until the outbox is stopped. */
  async function runRelay(kind: OutboxKind): Promise<void> {
    while (!stopped.signal.aborted) {
      const handledCount = await deliverDue(kind).catch((error) => {
        if (!(error instanceof StoreUnavailableError)) log.warn({ err: error }, 'outbox relay failed');
        return 0;
      });
      if (handledCount === 0)
        await sleep(POLL_INTERVAL_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  async function deliverInline(entries: readonly OutboxEntry[]): Promise<void> {
    failpoint('transaction committed');
    try {
      for (const entry of entries) await deliverOne(entry);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError))
        log.warn({ err: error }, 'inline delivery failed: left to the relay');
    }
  }

  return {
    async deliver(entries) {
      const delivery = deliverInline(entries.slice(0, MAX_INLINE_ENTRIES));
      inlineDeliveries.add(delivery);
      void delivery.finally(() => inlineDeliveries.delete(delivery));
      await withTimeout(INLINE_TIMEOUT_MS, delivery).catch(() => undefined);
    },
    start() {
      // Each kind separately, so that one unavailable or slow store does not block the other.
      relay = Promise.all(OUTBOX_KINDS.map(runRelay));
    },
    async stop() {
      stopped.abort();
      await Promise.all([relay, ...inlineDeliveries]);
    },
  };
}
