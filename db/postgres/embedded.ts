import { Kysely, PostgresDialect } from 'kysely';
import type { Tables } from '../schema.js';
import { StoreUnavailableError } from '../support/errors.js';
import type { Log } from '../support/log.js';
import { noopObserver, type Observer } from '../support/observer.js';
import {
  clientWithMetrics,
  createPool,
  isUnavailable,
  PreparedStatementClient,
  typeParsers,
  usageOf,
} from './client.js';
import { startEmbeddedServer } from './embedded/server.js';
import type { Postgres } from './index.js';

/** The maximum time that a statement or transaction waits for the only connection. */
const QUEUE_TIMEOUT_MS = 10_000;

/**
 * Opens the embedded PostgreSQL, which runs in a thread of this process. It has a single connection, and so runs one
 * transaction at a time.
 *
 * @throws DatabaseNotOpenedError
 */
export async function openEmbeddedPostgres(
  directory: string,
  log: Log,
  observer: Observer = noopObserver,
): Promise<Postgres> {
  const server = await startEmbeddedServer(directory, log);
  const pool = createPool({
    stream: server.createConnection,
    // The user and database that PGlite creates.
    user: 'postgres',
    database: 'postgres',
    // Otherwise PGSSLMODE and PGSSLNEGOTIATION, which are meant for a server, would apply.
    ssl: false,
    sslnegotiation: 'postgres',
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: QUEUE_TIMEOUT_MS,
    types: typeParsers,
    Client: clientWithMetrics(EmbeddedClient, observer),
  });
  const dialect = new PostgresDialect({
    pool: { connect: () => pool.connect().catch(throwUnavailable), end: () => pool.end() },
  });
  const db = new Kysely<Tables>({ dialect });
  return {
    db,
    graphTransactions: db,
    maintenanceDb: db,
    statementTimeoutMs: 0,
    pools: () => ({ main: usageOf(pool) }),
    async close() {
      await db.destroy();
      await server.close();
    },
  };
}

/** A client whose statements fail with StoreUnavailableError if the thread ends. They may nevertheless have been committed. */
class EmbeddedClient extends PreparedStatementClient {
  // biome-ignore lint/suspicious/noExplicitAny: as in `client.ts`.
  override async query(...statement: [any, ...any[]]): Promise<any> {
    return super.query(...statement).catch(throwUnavailable);
  }
}

function throwUnavailable(error: unknown): never {
  if (error instanceof StoreUnavailableError || !isUnavailable(error)) throw error;
  throw new StoreUnavailableError('postgres', { cause: error });
}
