import { CompiledQuery, type DatabaseConnection, Kysely, PostgresDialect, PostgresDriver } from 'kysely';
import pg from 'pg';
import type { Tables } from '../schema.js';
import {
  type CircuitBreaker,
  createCircuitBreaker,
  MAX_PROBE_TIMEOUT_MS,
  type StoreCall,
} from '../support/circuit-breaker.js';
import type { Log } from '../support/log.js';
import { noopObserver, type Observer } from '../support/observer.js';
import { clientWithBreaker, clientWithMetrics, createPool, isUnavailable, typeParsers, usageOf } from './client.js';
import type { Database, Postgres } from './index.js';

export interface PostgresOptions {
  /** `postgres://…`. Must not be logged, because it may contain a password. */
  url: string;
  /** The maximum number of connections of one process for requests. */
  poolSize: number;
  /** The maximum number of connections of one process for `graphTransactions`. */
  graphPoolSize: number;
  /** The timeout of a statement, and of opening a connection. */
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
 */
export function openPostgres(
  { url, poolSize, graphPoolSize, timeoutMs }: PostgresOptions,
  log: Log,
  observer: Observer = noopObserver,
): Postgres {
  const createBreaker = (callTimeoutMs: number) =>
    createCircuitBreaker({
      store: 'postgres',
      timeoutMs: callTimeoutMs,
      isUnavailable,
      probe: () => probe(url, Math.min(timeoutMs, MAX_PROBE_TIMEOUT_MS)),
      log,
    });
  const breakers = {
    requests: createBreaker(timeoutMs),
    maintenance: createBreaker(MAINTENANCE.timeoutMs),
  };
  const createPoolWithBreaker = (max: number, breaker: CircuitBreaker) =>
    createPool({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: timeoutMs,
      types: typeParsers,
      max,
      Client: clientWithMetrics(clientWithBreaker(breaker), observer),
      // Fails on a server for Windows, which cannot check connections.
      onConnect: (client) =>
        client.query(`set client_connection_check_interval = ${CONNECTION_CHECK_INTERVAL_MS}`).catch(() => undefined),
    });
  // The names of the pools appear in the metrics.
  const pools = {
    main: createPoolWithBreaker(poolSize, breakers.requests),
    graph: createPoolWithBreaker(graphPoolSize, breakers.requests),
    maintenance: createPoolWithBreaker(MAINTENANCE.poolSize, breakers.maintenance),
  };
  // With these timeouts, the server soon releases the locks of a transaction if this process loses its connection.
  const beginWith = (idleTimeoutMs: number) =>
    `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`;
  const begin = `${beginWith(timeoutMs * IDLE_IN_TRANSACTION_FACTOR)}; set local statement_timeout = ${timeoutMs}`;
  const databases = {
    db: databaseOver(pools.main, breakers.requests, begin),
    graphTransactions: databaseOver(pools.graph, breakers.requests, begin),
    maintenanceDb: databaseOver(pools.maintenance, breakers.maintenance, beginWith(MAINTENANCE.idleTimeoutMs)),
  };

  return {
    ...databases,
    statementTimeoutMs: timeoutMs,
    pools: () => Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, usageOf(pool)])),
    async close() {
      for (const breaker of Object.values(breakers)) breaker.shutDown();
      await Promise.all(Object.values(databases).map((db) => db.destroy()));
    },
  };
}

function databaseOver(pool: pg.Pool, breaker: CircuitBreaker, begin: string): Database {
  const dialect = new PostgresDialect({ pool });
  dialect.createDriver = () => new BreakerDriver(pool, breaker, begin);
  return new Kysely<Tables>({ dialect });
}

/** Runs a trivial query on a separate connection. */
async function probe(url: string, timeoutMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    await client.end();
  }
}

/** Acquires connections through the circuit breaker, and begins transactions with their timeouts. */
class BreakerDriver extends PostgresDriver {
  readonly #breaker: CircuitBreaker;
  readonly #begin: string;

  constructor(pool: pg.Pool, breaker: CircuitBreaker, begin: string) {
    super({ pool });
    this.#breaker = breaker;
    this.#begin = begin;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const acquire = async (call: StoreCall) => {
      const connection = await super.acquireConnection();
      // The breaker has abandoned the call meanwhile, so its caller will not release the connection.
      if (call.isAbandoned) await this.releaseConnection(connection as never);
      return connection;
    };
    // An idle connection is acquired without a request to the server.
    return this.#breaker.run(acquire, { isResponse: false });
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(this.#begin));
  }
}
