import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { SocialGraph } from './graph/index.js';
import type { ImageStore } from './images/index.js';
import { lockExclusive } from './locks.js';
import type { Database, DatabaseTransaction } from './postgres.js';
import type { OutboxTable } from './tables.js';

/** Something that another store has to agree about with PostgreSQL. */
export interface Thing {
  kind: OutboxTable['kind'];
  key: string | number;
}

interface Log {
  warn(details: object, message: string): void;
}

/** The images that these columns name, if any. */
export const imagesOf = (...names: (string | null)[]): Thing[] =>
  names.flatMap((key) => (key === null ? [] : [{ kind: 'image', key }]));

/** How long the relay rests when it has found nothing to do, in milliseconds. */
const REST = 1000;

/** How many entries a request delivers itself; the relay takes the others. */
const PROMPT = 50;

const LONGEST_BACKOFF = 300;

/**
 * Notes, in the transaction that changes a row, that the other stores have yet to follow. Answers the entries to deliver
 * after the commit.
 */
export async function recordChanges(trx: DatabaseTransaction, things: readonly Thing[]): Promise<number[]> {
  if (things.length === 0) return [];
  const { rows } = await sql<{ id: number }>`
    insert into outbox (kind, key)
    select * from unnest(${things.map(({ kind }) => kind)}::text[], ${things.map(({ key }) => String(key))}::text[])
    returning id`.execute(trx);
  return rows.map(({ id }) => id);
}

export interface Outbox {
  /** Delivers these entries now, as far as that is possible: what fails is logged, and left for the relay. */
  deliver(entries: readonly number[]): Promise<void>;
  /** Starts the relay, which delivers all that is due, again and again, until it is stopped. */
  start(): void;
  stop(): Promise<void>;
}

interface Stores {
  db: Database;
  graph: SocialGraph;
  images: ImageStore;
  log: Log;
}

/**
 * Delivery is level-triggered: it looks at the row as it is now and makes the other store agree. Delivered twice, late or
 * out of order, the result is the same.
 */
export function createOutbox({ db, graph, images, log }: Stores): Outbox {
  const stopped = new AbortController();
  let relay: Promise<void> | undefined;

  async function deliverOne(id: number): Promise<void> {
    const entry = await db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst();
    if (!entry) return;
    try {
      await (entry.kind === 'image'
        ? sweepImage(entry.id, entry.key)
        : settleNode(entry.id, entry.kind, Number(entry.key)));
    } catch (error) {
      const seconds = Math.min(2 ** entry.attempts, LONGEST_BACKOFF);
      log.warn({ err: error, kind: entry.kind, attempts: entry.attempts + 1, retryIn: seconds }, 'delivery failed');
      await db
        .updateTable('outbox')
        .set({ attempts: entry.attempts + 1, due_at: sql`clock_timestamp() + ${seconds} * interval '1 second'` })
        .where('id', '=', id)
        .execute();
    }
  }

  /** Holds the lock from the look to the mark: two deliveries of one thing must not cross. */
  async function settleNode(id: number, kind: 'person' | 'post', key: number): Promise<void> {
    await db.transaction().execute(async (trx) => {
      await lockExclusive(trx, kind === 'person' ? { accounts: [key] } : { posts: [key] });
      const table = kind === 'person' ? 'accounts' : 'posts';
      const row = await trx.selectFrom(table).select('id').where('id', '=', key).executeTakeFirst();
      const nodes = graph.within(trx);
      if (kind === 'person') await (row ? nodes.keepPerson(key) : nodes.removePerson(key));
      else await (row ? nodes.keepPost(key) : nodes.removePost(key));
      await trx.deleteFrom('outbox').where('id', '=', id).execute();
    });
  }

  /** Removes bytes that no row names. Names are never given twice, so what is unnamed once its entry is due stays so. */
  async function sweepImage(id: number, name: string): Promise<void> {
    const due = await db
      .selectFrom('outbox')
      .select('id')
      .where('id', '=', id)
      .where('due_at', '<=', sql<Date>`clock_timestamp()`)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!due) return;
    const { rows } = await sql`
      select from posts where image = ${name} union all select from accounts where picture = ${name}`.execute(db);
    if (rows.length === 0) await images.remove(name);
    await db.deleteFrom('outbox').where('id', '=', id).execute();
  }

  async function deliverDue(): Promise<number> {
    const due = await db
      .selectFrom('outbox')
      .select('id')
      .where('due_at', '<=', sql<Date>`clock_timestamp()`)
      .orderBy('due_at')
      .orderBy('id')
      .limit(100)
      .execute();
    for (const { id } of due) {
      if (stopped.signal.aborted) break;
      await deliverOne(id);
    }
    return due.length;
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      const delivered = await deliverDue().catch((error) => {
        log.warn({ err: error }, 'the relay could not read the outbox');
        return 0;
      });
      if (delivered === 0) await sleep(REST, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  return {
    async deliver(entries) {
      try {
        for (const id of entries.slice(0, PROMPT)) await deliverOne(id);
      } catch (error) {
        log.warn({ err: error }, 'delivery is left to the relay');
      }
    },
    start() {
      relay = run();
    },
    async stop() {
      stopped.abort();
      await relay;
    },
  };
}
