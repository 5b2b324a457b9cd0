import { sql } from 'kysely';
import { NOW } from '../postgres/clock.js';
import type { Database } from '../postgres/index.js';
import type { OutboxTable } from '../schema.js';

/** What of one kind waits in the outbox. */
export interface Backlog {
  kind: OutboxTable['kind'];
  waiting: number;
  /** Those that should have been delivered by now: their time has come, or they were tried in vain and will be again. */
  overdue: number;
  /** Since when the oldest has been waiting, in seconds; 0 without one. */
  age: number;
}

/** What waits in the outbox, for each kind. */
export async function readBacklog(db: Database): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    select kind, count(id) as waiting,
      count(id) filter (where attempts > 0 or due_at <= ${NOW}) as overdue,
      coalesce(extract(epoch from ${NOW} - min(created_at)), 0)::float8 as age
    from unnest(array['person', 'post', 'image']) as kind left join outbox using (kind)
    group by kind`.execute(db);
  return rows;
}
