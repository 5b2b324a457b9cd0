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
   * For transactions that wait for the graph while they are open: connections of their own, so that a graph that is silent
   * cannot hold all those that logins need.
   */
  graphTransactions: Database;
  /** For what may take its time: without a deadline, and of few connections. */
  maintenanceDb: Database;
  /** How long a statement of a request may take, in milliseconds; 0 where nothing ends one. */
  statementTimeoutMs: number;
  /** What each pool of connections holds just now, by name. */
  pools(): Record<string, Pool>;
  close(): Promise<void>;
}
