import { sql } from 'kysely';
import { NOW } from '../../db/postgres/clock.js';
import type { Database } from '../../db/postgres/index.js';
import type { OutboxTable } from '../../db/schema.js';
import type { Inspection } from './inspection.js';
import { pages } from './pages.js';

/** What waits in the outbox, which is no disagreement: a store is about to follow, or an upload is under way. */
export interface Waiting {
  kind: OutboxTable['kind'];
  for: 'delivery' | 'second delivery' | 'its row';
  count: number;
  /** The most that any of them has been tried in vain. */
  attempts: number;
  /** When the oldest was entered. */
  since: string;
}

const OVERDUE = sql<boolean>`due_at < ${NOW} - interval '5 minutes'`;

const HOPELESS = 10;

export async function checkOutbox({ stores, findings, repair, pageSize }: Inspection): Promise<void> {
  const entries = (condition: typeof OVERDUE) => (after: number, limit: number) =>
    stores.maintenanceDb
      .selectFrom('outbox')
      .select(['id', 'kind', 'key', 'created_at', 'attempts'])
      .where(condition)
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute();
  for await (const late of pages(entries(OVERDUE), pageSize, ({ id }) => id)) {
    const delivered = await repair?.deliver(late.map(({ id }) => id));
    findings.add(
      'onTime',
      late.map(({ kind, key, created_at }) => `${kind} ${key} since ${created_at}`),
      delivered,
    );
  }
  for await (const failing of pages(entries(sql`attempts >= ${HOPELESS}`), pageSize, ({ id }) => id)) {
    findings.add(
      'deliverable',
      failing.map(({ kind, key, attempts }) => `${kind} ${key}, ${attempts} times`),
    );
  }
}

/** An image that is not due was entered before its bytes: its upload is under way, or has been cut off. */
export async function readWaiting(db: Database): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    select kind, stage as for, count(*) as count, max(attempts) as attempts, min(created_at) as since
    from (
      select *, case
        when delivered then 'second delivery'
        when kind = 'image' and attempts = 0 and due_at > ${NOW} then 'its row'
        else 'delivery' end as stage
      from outbox
    ) entry
    group by kind, stage
    order by kind, stage`.execute(db);
  return rows;
}
