import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { SocialGraph } from '../graph/index.js';
import type { ImageStore } from '../images/index.js';
import { NOW } from '../postgres/clock.js';
import type { Database, DatabaseTransaction } from '../postgres/index.js';
import type { OutboxTable } from '../schema.js';
import { StoreUnavailableError } from '../support/errors.js';
import { failpoint } from '../support/failpoints.js';
import type { Log } from '../support/log.js';
import { noopObserver, type Observer } from '../support/observer.js';
import { claimDueEntries, createNodeDelivery } from './node-delivery.js';

/*
 * Transactional outbox: keeps the graph and the image store consistent with PostgreSQL without distributed transactions.
 *
 * The transaction that changes a row inserts an outbox entry, which names the changed entity: a person, a post or an image.
 * After the commit, the request delivers its own entries (inline delivery), within a time limit. A relay in every process
 * polls for due entries, which inline delivery has not reached or failed to deliver, and retries them with exponential
 * backoff until they succeed.
 *
 * Delivery is level-triggered: an entry contains no change to replay. Delivery reads the current row and makes the other
 * store match it: it creates the node if the row exists, and removes the node or image if it does not. So entries may be
 * delivered twice, late or out of order.
 */

type Kind = OutboxTable['kind'];

/** An entity of PostgreSQL that has a counterpart in another store. */
export interface EntityReference {
  kind: Kind;
  key: string | number;
}

/** An entry in the table `outbox`. */
export interface OutboxEntry {
  id: number;
  kind: Kind;
  key: string;
}

/** Returns references to the images with these names, skipping nulls. */
export const imageReferences = (...names: (string | null)[]): EntityReference[] =>
  names.flatMap((key) => (key === null ? [] : [{ kind: 'image', key }]));

/** How long the relay sleeps when nothing was due. */
const POLL_INTERVAL_MS = 1000;

/** The limits of one inline delivery. The relay delivers the rest. */
const MAX_INLINE_ENTRIES = 50;
const INLINE_TIMEOUT_MS = 1000;

/** An unavailable store is retried sooner than an entry that fails for another reason. */
const MAX_BACKOFF_SECONDS = 300;
const MAX_UNAVAILABLE_BACKOFF_SECONDS = 5;

const RELAY_BATCH_SIZE = 100;

/** The relay handles each store's kinds separately, so that one unavailable store does not block the other. */
const KINDS_BY_STORE: readonly Kind[][] = [['person', 'post'], ['image']];

/** Inserts entries in the transaction that changes the rows. Returns the entries to deliver after the commit. */
export async function enqueue(
  trx: DatabaseTransaction,
  references: readonly EntityReference[],
): Promise<OutboxEntry[]> {
  if (references.length === 0) return [];
  const kinds = references.map(({ kind }) => kind);
  const keys = references.map(({ key }) => String(key));
  const { rows } = await insertEntries(sql`select * from unnest(${kinds}::text[], ${keys}::text[])`).execute(trx);
  return rows;
}

/** Builds the statement that inserts an entry for each kind and key that `query` selects, and returns the entries. */
export const insertEntries = (query: RawBuilder<unknown>) =>
  sql<OutboxEntry>`insert into outbox (kind, key) ${query} returning id, kind, key`;

export interface Outbox {
  /** Runs an inline delivery. Resolves after a second at the latest; entries that fail are left to the relay. */
  deliver(entries: readonly OutboxEntry[]): Promise<void>;
  /** Starts the relay. */
  start(): void;
  /** Stops the relay, and waits for deliveries in progress. */
  stop(): Promise<void>;
}

interface Stores {
  db: Database;
  graphTransactions: Database;
  graph: SocialGraph;
  images: ImageStore;
  log: Log;
}

export function createOutbox(
  { db, graphTransactions, graph, images, log }: Stores,
  observer: Observer = noopObserver,
): Outbox {
  const stopped = new AbortController();
  const deliverNode = createNodeDelivery({ graphTransactions, graph }, observer);
  const inlineDeliveries = new Set<Promise<void>>();
  let relay: Promise<void> | undefined;

  /**
   * Delivers an entry, or reschedules it if the delivery fails. Returns false if there was nothing to do: the entry is already
   * delivered, not due, or being delivered elsewhere.
   *
   * @throws StoreUnavailableError if the store is unavailable: other entries of the same store would fail too
   */
  async function deliverOne({ id, kind, key }: OutboxEntry): Promise<boolean> {
    try {
      return await (kind === 'image' ? sweepImage(id, key) : deliverNode(id));
    } catch (error) {
      const unavailable = error instanceof StoreUnavailableError;
      const attempts = await reschedule(id, unavailable ? MAX_UNAVAILABLE_BACKOFF_SECONDS : MAX_BACKOFF_SECONDS);
      if (unavailable) throw error;
      // The circuit breaker logs an unavailable store once.
      log.warn({ err: error, kind, attempts }, 'delivery failed');
      return true;
    }
  }

  /** Reschedules an entry after a failed delivery, with exponential backoff. Returns the number of attempts so far. */
  async function reschedule(id: number, maxBackoffSeconds: number): Promise<number | undefined> {
    const entry = await db
      .updateTable('outbox')
      .set({
        attempts: sql`attempts + 1`,
        due_at: sql`${NOW} + least(power(2, least(attempts, 30)), ${maxBackoffSeconds}::int4) * interval '1 second'`,
      })
      .where('id', '=', id)
      // Another process may have delivered it meanwhile and scheduled its second delivery.
      .where('due_at', '<=', NOW)
      .returning('attempts')
      .executeTakeFirst();
    return entry?.attempts;
  }

  /**
   * Removes an image unless a row refers to it, and deletes the entry. Names are never reused, so a due, unreferenced image
   * stays unreferenced.
   */
  async function sweepImage(id: number, name: string): Promise<boolean> {
    if ((await claimDueEntries(db, [id]).execute()).length === 0) return false;
    const { rows } = await sql`
      select from posts where image = ${name} union all select from accounts where picture = ${name}`.execute(db);
    if (rows.length === 0) await images.remove(name);
    failpoint('image removed');
    await db.deleteFrom('outbox').where('id', '=', id).execute();
    return true;
  }

  /** Delivers a batch of due entries. Returns the number of entries that were delivered or rescheduled. */
  async function deliverDue(kinds: readonly Kind[]): Promise<number> {
    const due = await db
      .selectFrom('outbox')
      .select(['id', 'kind', 'key'])
      .where(sql<boolean>`kind = any(${kinds}::text[])`)
      .where('due_at', '<=', NOW)
      .orderBy('due_at')
      .orderBy('id')
      .limit(RELAY_BATCH_SIZE)
      .execute();
    let handledCount = 0;
    for (const entry of due) {
      if (stopped.signal.aborted) break;
      if (await deliverOne(entry)) handledCount += 1;
    }
    return handledCount;
  }

  async function runRelay(): Promise<void> {
    while (!stopped.signal.aborted) {
      let handledCount = 0;
      for (const kinds of KINDS_BY_STORE) {
        handledCount += await deliverDue(kinds).catch((error) => {
          if (!(error instanceof StoreUnavailableError)) log.warn({ err: error }, 'outbox relay failed');
          return 0;
        });
      }
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
      const raceEnded = new AbortController();
      await Promise.race([
        delivery,
        sleep(INLINE_TIMEOUT_MS, undefined, { signal: raceEnded.signal }).catch(() => undefined),
      ]);
      raceEnded.abort();
    },
    start() {
      relay = runRelay();
    },
    async stop() {
      stopped.abort();
      await Promise.all([relay, ...inlineDeliveries]);
    },
  };
}
