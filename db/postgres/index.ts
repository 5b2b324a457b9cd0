import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../schema.js';

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;

export interface Pool {
  total: number;
  idle: number;
  waiting: number;
}

export interface Postgres {
  db: Database;
  /**
   * For transactions that call the graph while they are open. They have a separate pool, so that an unresponsive graph cannot
   * exhaust the connections that logins need.
   */
  graphTransactions: Database;
  /** For migrations, verification and moves: a small pool with a deadline of a day. */
  maintenanceDb: Database;
  /** The deadline of a statement of `db` and `graphTransactions`; 0 for none. */
  statementTimeoutMs: number;
  /** Returns the current numbers of connections and of waiting calls by pool. */
  pools(): Record<string, Pool>;
  close(): Promise<void>;
}
