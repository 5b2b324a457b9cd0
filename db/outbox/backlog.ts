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
  const backlogs: Backlog[] = await db
    .selectFrom('outbox')
    .select((eb) => [
      'kind',
      eb.fn.count<number>('id').as('waiting'),
      eb.fn.count<number>('id').filterWhere(IS_OVERDUE).as('overdue'),
      sql<number>`coalesce(extract(epoch from ${NOW} - min(created_at) filter (where ${IS_OVERDUE})), 0)::float8`.as(
        'ageSeconds',
      ),
    ])
    .groupBy('kind')
    .execute();
  const empty = { waiting: 0, overdue: 0, ageSeconds: 0 };
  return OUTBOX_KINDS.map((kind) => backlogs.find((backlog) => backlog.kind === kind) ?? { kind, ...empty });
}
