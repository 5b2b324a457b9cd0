import type pg from 'pg';
import { StoreUnavailableError } from '../support/errors.js';
import { createAvailabilityLog, type Log } from '../support/log.js';
import { noopObserver, type Observer } from '../support/observer.js';
import { createPool, databaseOver, usageOf } from './client.js';
import type { Postgres } from './index.js';

export interface PostgresOptions {
  /** `postgres://…`. Must not be logged, because it may contain a password. */
  url: string;
  /** The maximum number of connections of one process for requests. */
  poolSize: number;
  /** The maximum number of connections of one process for `graphTransactions`. */
  graphPoolSize: number;
  /** The timeout of a statement. Half of it is the timeout of waiting for a connection. */
  timeoutMs: number;
}

/**
 * The options of the pool for migrations, verification and moves. Few of their statements run at a time, but some take long.
 * The server ends a transaction that is idle for `idleTimeoutMs`, for example because its process is suspended. A transaction
 * is also idle while it waits for the migration of the graph, which normally takes less time.
 */
const MAINTENANCE = { poolSize: 2, timeoutMs: 24 * 60 * 60 * 1000, idleTimeoutMs: 60 * 60 * 1000 };

/** The server ends a transaction that is idle for this many statement timeouts. It is idle while it waits for the graph. */
const IDLE_IN_TRANSACTION_FACTOR = 5;

/**
 * How often PostgreSQL checks, while it runs a statement, whether the connection is still open. When a call times out, its
 * connection is closed. Without the check, the statement would occupy a server process as long as it runs or waits for a table,
 * and such processes, together with the new connections, could exceed the maximum of the server.
 */
const CONNECTION_CHECK_INTERVAL_MS = 1000;

/**
 * Connects to a PostgreSQL server. Settings that matter to other clients are made per transaction, not per session, so that
 * connections can go through PgBouncer in transaction mode.
 *
 * There is no circuit breaker: the timeouts of pg limit how long a call waits while the server is unavailable. A call waits at
 * most half a timeout for a connection of the pool, and then one for its statement. A call that waits for a batch of others fails
 * with them: see `batched`.
 */
export function openPostgres(
  { url, poolSize, graphPoolSize, timeoutMs }: PostgresOptions,
  log: Log,
  observer: Observer = noopObserver,
): Postgres {
  const clients = new Set<pg.PoolClient>();
  const setCheckInterval = {
    text: `set client_connection_check_interval = ${CONNECTION_CHECK_INTERVAL_MS}`,
    // Also in the pool for maintenance, whose statements may take long.
    query_timeout: timeoutMs,
  };
  const open = (max: number, statementTimeoutMs: number) =>
    createPool({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: timeoutMs / 2,
      query_timeout: statementTimeoutMs,
      max,
      onConnect: (client) =>
        client.query(setCheckInterval).catch((error) => {
          // Otherwise the server is one for Windows, which cannot check connections.
          if (error instanceof StoreUnavailableError) throw error;
        }),
    })
      .on('connect', (client) => void clients.add(client))
      .on('remove', (client) => void clients.delete(client));
  // The names of the pools appear in the metrics.
  const pools = {
    main: open(poolSize, timeoutMs),
    graph: open(graphPoolSize, timeoutMs),
    maintenance: open(MAINTENANCE.poolSize, MAINTENANCE.timeoutMs),
  };
  // With these timeouts, the server soon releases the locks of a transaction if this process loses its connection.
  const beginWith = (idleTimeoutMs: number) =>
    `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`;
  const begin = `${beginWith(timeoutMs * IDLE_IN_TRANSACTION_FACTOR)}; set local statement_timeout = ${timeoutMs}`;
  const availability = createAvailabilityLog(log, 'postgres');
  const databases = {
    db: databaseOver(pools.main, observer, begin, availability),
    graphTransactions: databaseOver(pools.graph, observer, begin, availability),
    maintenanceDb: databaseOver(pools.maintenance, observer, beginWith(MAINTENANCE.idleTimeoutMs), availability),
  };

  return {
    ...databases,
    pools: () => Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, usageOf(pool)])),
    async close() {
      // Ends statements in progress, so that a server that does not respond cannot delay the shutdown.
      for (const client of clients) void (client as pg.PoolClient & pg.Client).end();
      await Promise.all(Object.values(databases).map((db) => db.destroy()));
    },
  };
}
