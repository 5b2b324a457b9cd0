import { sql } from 'kysely';
import { NOW, STATEMENT_TIME } from '../../db/postgres/clock.js';
import type { Database } from '../../db/postgres/index.js';
import type { OutboxKind } from '../../db/schema.js';
import { paginate } from '../support/pages.js';
import type { CheckContext } from './rules.js';

/**
 * The pending outbox entries of one kind that wait for the same thing, including overdue ones. Most belong to a delivery or
 * an upload in progress.
 */
export interface PendingEntries {
  kind: OutboxKind;
  /** What the entries wait for. */
  stage: 'delivery' | 'second delivery' | 'its row';
  count: number;
  /** The highest number of failed attempts. */
  attempts: number;
  /** When the oldest entry was added, in ISO 8601. */
  since: string;
}

const OVERDUE = sql<boolean>`due_at < ${STATEMENT_TIME} - interval '5 minutes'`;

/** Excludes entries that wait for their second delivery: their attempts failed before the first delivery succeeded. */
const FAILING = sql<boolean>`attempts >= 10 and not delivered`;

/** Finds overdue entries, which a repair delivers, and entries that have failed repeatedly. */
export async function checkOutbox({ stores, findings, repair, track, pageSize }: CheckContext): Promise<void> {
  const readEntries = (condition: typeof OVERDUE) => (after: number, limit: number) =>
    stores.maintenanceDb
      .selectFrom('outbox')
      .select(['id', 'kind', 'key', 'created_at', 'attempts'])
      .where(condition)
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute();
  for await (const overdue of track(paginate(readEntries(OVERDUE), pageSize))) {
    const delivered = await repair?.deliver(overdue);
    const violations = overdue.map(({ kind, key, created_at }) => `${kind} ${key} since ${created_at}`);
    findings.add('noOverdueEntry', violations, delivered);
  }
  for await (const failing of track(paginate(readEntries(FAILING), pageSize))) {
    const violations = failing.map(({ kind, key, attempts }) => `${kind} ${key}, ${attempts} times`);
    findings.add('noFailingDelivery', violations);
  }
}

/**
 * Counts entries by kind and what they wait for. An image entry that is not due and has never failed belongs to an upload
 * that is in progress or was aborted.
 */
export async function countPendingEntries(db: Database): Promise<PendingEntries[]> {
  const { rows } = await sql<PendingEntries>`
    select kind, stage, count(*) as count, max(attempts) as attempts, min(created_at) as since
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
