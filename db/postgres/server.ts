import { CompiledQuery, type DatabaseConnection, Kysely, PostgresDialect, PostgresDriver } from 'kysely';
import pg from 'pg';
import type { Tables } from '../schema.js';
import { type CircuitBreaker, createCircuitBreaker } from '../support/circuit-breaker.js';
import type { Log } from '../support/log.js';
import { noopObserver } from '../support/observer.js';
import { createPool, guardedClient, isUnavailable, observedClient, types } from './client.js';
import type { Database, Postgres } from './index.js';
import { warmUpDatabase } from './warm-up.js';

export interface PostgresOptions {
  /** `postgres://…`; never to be logged. */
  url: string;
  /** The most connections of one process: those for requests, and besides those for transactions that wait for the graph. */
  poolSize: number;
  graphPoolSize: number;
  /** The deadline of one statement, in milliseconds. */
  timeout: number;
}

/** For a migration or a check of everything, each of which asks one thing at a time but may take long, in milliseconds. */
const PATIENT = { poolSize: 2, timeout: 24 * 60 * 60 * 1000 };

/** How much longer than a statement a transaction may stay idle before the server ends it: it may wait for another store. */
const IDLE_FACTOR = 5;

/** PostgreSQL over the network, straight or behind pgbouncer in transaction mode: no state is kept on a connection. */
export function openPostgres(
  { url, poolSize, graphPoolSize, timeout }: PostgresOptions,
  log: Log,
  observer = noopObserver,
): Postgres {
  const watch = (deadline: number, warmUp?: () => Promise<void>) =>
    createCircuitBreaker({
      store: 'postgres',
      timeout: deadline,
      isUnavailable,
      probe: () => ask(url, timeout),
      ...(warmUp && { warmUp }),
      log,
    });
  const guards = {
    hasty: watch(timeout, (): Promise<void> => warmUpDatabase(databases.maintenanceDb)),
    patient: watch(PATIENT.timeout),
  };
  const pool = (max: number, guard: CircuitBreaker) =>
    createPool({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: timeout,
      types,
      max,
      Client: observedClient(guardedClient(guard), observer),
    });
  const pools = {
    main: pool(poolSize, guards.hasty),
    graph: pool(graphPoolSize, guards.hasty),
    patient: pool(PATIENT.poolSize, guards.patient),
  };
  // Should this process be cut off in the middle of a transaction, the server must not hold its locks for long.
  const begin = `begin; set local statement_timeout = ${timeout}; set local idle_in_transaction_session_timeout = ${timeout * IDLE_FACTOR}`;
  const databases = {
    db: over(pools.main, guards.hasty, begin),
    graphTransactions: over(pools.graph, guards.hasty, begin),
    maintenanceDb: over(pools.patient, guards.patient, 'begin'),
  };

  return {
    ...databases,
    statementTimeoutMs: timeout,
    pools: () =>
      Object.fromEntries(
        Object.entries(pools).map(([name, pool]) => [
          name,
          { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount },
        ]),
      ),
    async close() {
      for (const guard of Object.values(guards)) guard.close();
      await Promise.all(Object.values(databases).map((db) => db.destroy()));
    },
  };
}

const over = (pool: pg.Pool, guard: CircuitBreaker, begin: string): Database =>
  new Kysely<Tables>({ dialect: new GuardedDialect(pool, guard, begin) });

async function ask(url: string, timeout: number): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeout, query_timeout: timeout });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    await client.end();
  }
}

class GuardedDialect extends PostgresDialect {
  readonly #create: () => GuardedDriver;

  constructor(pool: pg.Pool, guard: CircuitBreaker, begin: string) {
    super({ pool });
    this.#create = () => new GuardedDriver(pool, guard, begin);
  }

  override createDriver(): GuardedDriver {
    return this.#create();
  }
}

class GuardedDriver extends PostgresDriver {
  readonly #guard: CircuitBreaker;
  readonly #begin: string;

  constructor(pool: pg.Pool, guard: CircuitBreaker, begin: string) {
    super({ pool });
    this.#guard = guard;
    this.#begin = begin;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return this.#guard.run(async (attempt) => {
      const connection = await super.acquireConnection();
      // It came too late: whoever wanted it has gone.
      if (attempt.isGivenUp) await this.releaseConnection(connection as never);
      return connection;
    });
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(this.#begin));
  }
}
