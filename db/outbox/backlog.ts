import { sql } from 'kysely';
import { NOW } from '../postgres/clock.js';
import type { Database } from '../postgres/index.js';
import { OUTBOX_KINDS, type OutboxKind } from '../schema.js';

/** The undelivered outbox entries of one kind. */
export interface Backlog {
  kind: OutboxKind;
  /** The number of entries. */
  waiting: number;
  /** The number of entries that are due, or whose delivery has failed before. */
  overdue: number;
  /** The age of the oldest overdue entry; 0 without overdue entries. */
  ageSeconds: number;
}

const IS_OVERDUE = sql<boolean>`(attempts > 0 or due_at <= ${NOW})`;

/** Returns the backlog of each kind, including empty ones. */
export async function readBacklog(db: Database): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    select kind, count(id) as waiting,
      count(id) filter (where ${IS_OVERDUE}) as overdue,
      coalesce(extract(epoch from ${NOW} - min(created_at) filter (where ${IS_OVERDUE})), 0)::float8 as "ageSeconds"
    from unnest(${OUTBOX_KINDS}::text[]) as kind left join outbox using (kind)
    group by kind`.execute(db);
  return rows;
}
