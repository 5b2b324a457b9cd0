import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { SocialGraph } from '../graph/index.js';
import type { ImageStore } from '../images/index.js';
import { after, NOW } from '../postgres/clock.js';
import type { Database, DatabaseTransaction } from '../postgres/index.js';
import type { OutboxTable } from '../schema.js';
import { batched } from '../support/batch.js';
import { StoreUnavailableError } from '../support/errors.js';
import { failpoint } from '../support/failpoints.js';
import type { Log } from '../support/log.js';
import { claimDueEntries } from './claim-due-entries.js';
import { createNodeDelivery } from './node-delivery.js';

type Kind = OutboxTable['kind'];

/** Something that another store has to agree about with PostgreSQL. */
export interface EntityReference {
  kind: Kind;
  key: string | number;
}

/** The images that these columns name, if any. */
export const imageReferences = (...names: (string | null)[]): EntityReference[] =>
  names.flatMap((key) => (key === null ? [] : [{ kind: 'image', key }]));

/** How long the relay rests when it has found nothing to do, in milliseconds. */
const POLL_INTERVAL_MS = 1000;

/** How many entries a request delivers itself, and how long it waits for that, in milliseconds; the relay takes the others. */
const MAX_INLINE_ENTRIES = 50;
const INLINE_TIMEOUT_MS = 1000;

/** In seconds: for an entry that fails by itself, and for one whose store is away, which is soon worth another try. */
const MAX_BACKOFF_SECONDS = 300;
const MAX_UNAVAILABLE_BACKOFF_SECONDS = 5;

/** What goes to one store: when that is away, the relay goes on with the other's. */
const KINDS_BY_STORE: readonly Kind[][] = [['person', 'post'], ['image']];

/**
 * Notes, in the transaction that changes a row, that the other stores have yet to follow. Answers the entries to deliver
 * after the commit.
 */
export async function enqueue(trx: DatabaseTransaction, things: readonly EntityReference[]): Promise<number[]> {
  if (things.length === 0) return [];
  const [kinds, keys] = [things.map(({ kind }) => kind), things.map(({ key }) => String(key))];
  const { rows } = await insertEntries(sql`select * from unnest(${kinds}::text[], ${keys}::text[])`).execute(trx);
  return rows.map(({ id }) => id);
}

/** The query that records what another one finds: kinds and keys. */
export const insertEntries = (things: RawBuilder<unknown>) =>
  sql<{ id: number }>`insert into outbox (kind, key) ${things} returning id`;

export interface Outbox {
  /** Delivers these entries now, as far as that is possible soon: what fails is logged, and left for the relay. */
  deliver(entries: readonly number[]): Promise<void>;
  /** Starts the relay, which delivers all that is due, again and again, until it is stopped. */
  start(): void;
  stop(): Promise<void>;
}

interface Stores {
  db: Database;
  graphTransactions: Database;
  graph: SocialGraph;
  images: ImageStore;
  log: Log;
}

/**
 * Delivery is level-triggered: it looks at the row as it is now and makes the other store agree. Delivered twice, late or
 * out of order, the result is the same.
 */
export function createOutbox({ db, graphTransactions, graph, images, log }: Stores): Outbox {
  const stopped = new AbortController();
  const findEntry = batched((ids: number[]) => findEntries(db, ids));
  const deliverNode = createNodeDelivery({ graphTransactions, graph });
  const prompt = new Set<Promise<void>>();
  let relay: Promise<void> | undefined;

  /**
   * False when there was nothing to do: the entry is gone, is not due, or is under way elsewhere.
   *
   * @throws StoreUnavailable when there is no point in trying others for the same store
   */
  async function deliverOne(id: number): Promise<boolean> {
    const entry = await findEntry(id);
    if (!entry) return false;
    try {
      return await (entry.kind === 'image' ? sweepImage(entry.id, entry.key) : deliverNode(entry.id));
    } catch (error) {
      const away = error instanceof StoreUnavailableError;
      const seconds = Math.min(2 ** entry.attempts, away ? MAX_UNAVAILABLE_BACKOFF_SECONDS : MAX_BACKOFF_SECONDS);
      // A store that is away has been logged, once, by whoever watches over it.
      if (!away) log.warn({ err: error, kind: entry.kind, retryIn: seconds }, 'delivery failed');
      await db
        .updateTable('outbox')
        .set({ attempts: entry.attempts + 1, due_at: after(seconds) })
        .where('id', '=', id)
        // Somebody else may have delivered it meanwhile, and put off its second delivery.
        .where('due_at', '<=', NOW)
        .execute();
      if (away) throw error;
      return true;
    }
  }

  /** Removes bytes that no row names. Names are never given twice, so what is unnamed once its entry is due stays so. */
  async function sweepImage(id: number, name: string): Promise<boolean> {
    if ((await claimDueEntries(db, [id])).length === 0) return false;
    const { rows } = await sql`
      select from posts where image = ${name} union all select from accounts where picture = ${name}`.execute(db);
    if (rows.length === 0) await images.remove(name);
    failpoint('image removed');
    await db.deleteFrom('outbox').where('id', '=', id).execute();
    return true;
  }

  /** How many were delivered, or put off. */
  async function deliverDue(kinds: readonly Kind[]): Promise<number> {
    const due = await db
      .selectFrom('outbox')
      .select('id')
      .where(sql<boolean>`kind = any(${kinds}::text[])`)
      .where('due_at', '<=', NOW)
      .orderBy('due_at')
      .orderBy('id')
      .limit(100)
      .execute();
    let delivered = 0;
    for (const { id } of due) {
      if (stopped.signal.aborted) break;
      if (await deliverOne(id)) delivered += 1;
    }
    return delivered;
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      let delivered = 0;
      for (const kinds of KINDS_BY_STORE) {
        delivered += await deliverDue(kinds).catch((error) => {
          if (!(error instanceof StoreUnavailableError)) log.warn({ err: error }, 'the relay has failed');
          return 0;
        });
      }
      if (delivered === 0) await sleep(POLL_INTERVAL_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  async function deliverAll(entries: readonly number[]): Promise<void> {
    failpoint('changes committed');
    try {
      for (const id of entries) await deliverOne(id);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) log.warn({ err: error }, 'delivery is left to the relay');
    }
  }

  return {
    async deliver(entries) {
      const delivery = deliverAll(entries.slice(0, MAX_INLINE_ENTRIES));
      prompt.add(delivery);
      void delivery.finally(() => prompt.delete(delivery));
      const impatience = new AbortController();
      await Promise.race([
        delivery,
        sleep(INLINE_TIMEOUT_MS, undefined, { signal: impatience.signal }).catch(() => undefined),
      ]);
      impatience.abort();
    },
    start() {
      relay = run();
    },
    async stop() {
      stopped.abort();
      await Promise.all([relay, ...prompt]);
    },
  };
}

/** One entry or undefined for each id, in the order of the ids. */
async function findEntries(db: Database, ids: readonly number[]) {
  const entries = await db
    .selectFrom('outbox')
    .select(['id', 'kind', 'key', 'attempts'])
    .where(sql<boolean>`id = any(${ids}::int8[])`)
    .execute();
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return ids.map((id) => byId.get(id));
}
