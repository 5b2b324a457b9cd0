import { createHash } from 'node:crypto';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
} from 'kysely';
import pg from 'pg';
import type { Tables } from '../schema.js';
import { StoreUnavailableError } from '../support/errors.js';
import type { createAvailabilityLog } from '../support/log.js';
import { type Observer, outcomeOf } from '../support/observer.js';
import type { Database, PoolUsage } from './index.js';

const { INT8, TIMESTAMPTZ } = pg.types.builtins;
const parseTimestamp = pg.types.getTypeParser(TIMESTAMPTZ);

/**
 * The `types` option of a pool. Parses `int8` as a number, because ids are always safe integers, and `timestamptz` as a
 * string in the format of the API.
 */
export const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return Number;
    if (oid === TIMESTAMPTZ) return formatTimestamp;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

/** A timestamp in UTC, as PostgreSQL formats it: date, time, and the fraction of a second without its trailing zeros. */
const UTC_TIMESTAMP = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00$/;

/** Converts a timestamp of PostgreSQL to the format of the API. Avoids `Date` if possible, because it is much slower. */
function formatTimestamp(text: string): string {
  const [, date, time, fraction = ''] = UTC_TIMESTAMP.exec(text) ?? [];
  if (date === undefined) return parseTimestamp(text).toISOString();
  return `${date}T${time}.${fraction.padEnd(3, '0')}Z`;
}

/**
 * A client that prepares every parameterized statement under a name, so that PostgreSQL parses it only once per connection. The
 * queries of this service pass a list as one array parameter, so the number of different statements is small.
 *
 * A statement rejects with StoreUnavailableError if PostgreSQL is unavailable. If the server did not report the error itself, the
 * connection is closed, because it may never respond. The server then rolls back an open transaction, but a statement outside a
 * transaction may still complete.
 */
export class PreparedStatementClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg.Client has a dozen overloads, of which Kysely uses one.
  override async query(statement: any, ...rest: any[]): Promise<any> {
    const [values] = rest;
    const isPrepared = typeof statement === 'string' && Array.isArray(values) && values.length > 0;
    try {
      if (!isPrepared) return await super.query(statement, ...rest);
      return await super.query({ name: statementName(statement), text: statement, values });
    } catch (error) {
      // The pool discards a client after `end`.
      if (isUnavailable(error) && !(error instanceof pg.DatabaseError)) void this.end();
      return throwUnavailable(error);
    }
  }
}

const statementNames = new Map<string, string>();

/** Returns the name of a statement: a hash of its text. */
function statementName(text: string): string {
  let name = statementNames.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url');
    statementNames.set(text, name);
  }
  return name;
}

/** Creates a pool that replaces lost connections. */
export function createPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ types: typeParsers, Client: PreparedStatementClient, ...options });
  // Without these listeners, a lost connection would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The message of the pool's error if no connection became free in time. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect';

/** Returns a database whose statements run on connections of the pool, and are reported to the observer. */
export function databaseOver(
  pool: pg.Pool,
  observer: Observer,
  begin = 'begin',
  availability?: ReturnType<typeof createAvailabilityLog>,
): Database {
  async function connect(): Promise<pg.PoolClient> {
    const startedAt = performance.now();
    return pool.connect().catch((error) => {
      if (error.message === POOL_TIMEOUT) error.message = 'all connections of the pool are in use';
      if (isUnavailable(error)) availability?.failed(error, performance.now() - startedAt);
      return throwUnavailable(error);
    });
  }
  const config: PostgresDialectConfig = { pool: { connect, end: () => pool.end() } };
  const dialect = new PostgresDialect(config);
  dialect.createDriver = () => new DriverWithBegin(config, begin);
  return new Kysely<Tables>({
    dialect,
    log(event) {
      const outcome = event.level === 'error' ? outcomeOf(event.error) : 'ok';
      observer.storeCall('postgres', 'query', event.queryDurationMillis / 1000, outcome);
      if (event.level === 'query') availability?.succeeded();
      // An error that PostgreSQL itself reports concerns the statement. At shutdown, the statements in progress are ended.
      else if (event.error instanceof StoreUnavailableError && !event.error.responded && !pool.ending)
        availability?.failed(event.error.cause, event.queryDurationMillis);
    },
  });
}

/** Begins transactions with a statement that also sets their timeouts. Ignores Kysely's `setIsolationLevel`. */
class DriverWithBegin extends PostgresDriver {
  readonly #begin: CompiledQuery;

  constructor(config: PostgresDialectConfig, begin: string) {
    super(config);
    this.#begin = CompiledQuery.raw(begin);
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(this.#begin);
  }
}

export const usageOf = (pool: pg.Pool): PoolUsage => ({
  total: pool.totalCount,
  idle: pool.idleCount,
  waiting: pool.waitingCount,
});

/**
 * SQLSTATEs of errors that are not caused by the statement: connection failures (08), failed authorization (28), a missing
 * database (3D), serialization failures and deadlocks (40), insufficient resources (53), statement timeouts and shutdowns (57),
 * system errors (58), read-only transactions on a standby or a full disk (25006), transaction timeouts (25P03, 25P04), lock
 * timeouts (55P03).
 */
const UNAVAILABLE = /^(08|28|3D|40|53|57|58)|^(25006|25P0[34]|55P03)$/;

/**
 * Returns whether an error means that PostgreSQL is unavailable. This includes all errors that PostgreSQL did not report, such
 * as lost connections, but not TypeErrors, which are bugs in this service.
 */
export function isUnavailable(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? UNAVAILABLE.test(error.code ?? '') : !(error instanceof TypeError);
}

/** Throws an error of pg, as the cause of a StoreUnavailableError if PostgreSQL is unavailable. */
function throwUnavailable(error: unknown): never {
  if (error instanceof StoreUnavailableError || !isUnavailable(error)) throw error;
  throw new StoreUnavailableError('postgres', { cause: error, responded: error instanceof pg.DatabaseError });
}
