import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../schema.js';

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;

/** The usage of a connection pool. */
export interface PoolUsage {
  /** The number of open connections. */
  total: number;
  /** The number of connections that are not in use. */
  idle: number;
  /** The number of calls that wait for a connection. */
  waiting: number;
}

/** Access to PostgreSQL. On a server, each `Database` has its own pool. The embedded PostgreSQL has one connection for all. */
export interface Postgres {
  /** For the statements of requests. */
  db: Database;
  /**
   * For transactions that call the graph while they are open. They have a pool of their own, so that an unresponsive graph
   * cannot exhaust the connections that logins need.
   */
  graphTransactions: Database;
  /** For migrations, `npm run verify`, `npm run move` and other long statements, with a timeout of a day. */
  maintenanceDb: Database;
  /** Returns the current usage of each pool, by name. */
  pools(): Record<string, PoolUsage>;
  close(): Promise<void>;
}
