import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../schema.js';

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;

/** Numbers of connections, and of calls that wait for one. */
export interface PoolUsage {
  total: number;
  idle: number;
  waiting: number;
}

/** Access to PostgreSQL. On a server, each `Database` has its own pool; the embedded one has one connection for all three. */
export interface Postgres {
  db: Database;
  /**
   * For transactions that call the graph while they are open: an unresponsive graph cannot exhaust the connections that logins
   * need.
   */
  graphTransactions: Database;
  /** For migrations, `npm run verify`, `npm run move` and other long statements, with a timeout of a day. */
  maintenanceDb: Database;
  /** The timeout of a statement of `db` and `graphTransactions`; 0 for none. */
  statementTimeoutMs: number;
  /** Returns the current usage by pool name. */
  pools(): Record<string, PoolUsage>;
  close(): Promise<void>;
}
