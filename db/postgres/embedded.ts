import { Kysely, PostgresDialect } from 'kysely';
import type { Tables } from '../schema.js';
import { StoreUnavailableError } from '../support/errors.js';
import type { Log } from '../support/log.js';
import { noopObserver, type Observer } from '../support/observer.js';
import { createPool, isUnavailable, NamingClient, observedClient, types } from './client.js';
import { startEmbeddedServer } from './embedded/server.js';
import type { Postgres } from './index.js';

/** How long a statement or a transaction waits for the only connection. Clients give up soon after. */
const QUEUE_TIMEOUT_MS = 10_000;

/**
 * PostgreSQL in a thread of this process, its files in `directory`. It has one connection: see the rule in `locks.ts`.
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
    stream: server.connection,
    // As PGlite names them.
    user: 'postgres',
    database: 'postgres',
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: QUEUE_TIMEOUT_MS,
    types,
    Client: observedClient(EmbeddedClient, observer),
  });
  const dialect = new PostgresDialect({
    pool: { connect: () => pool.connect().catch(rethrow), end: () => pool.end() },
  });
  const db = new Kysely<Tables>({ dialect });
  return {
    db,
    graphTransactions: db,
    maintenanceDb: db,
    statementTimeoutMs: 0,
    pools: () => ({ main: { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount } }),
    async close() {
      await db.destroy();
      await server.close();
    },
  };
}

/** A statement that is under way when the thread ends is not known to have happened or not. */
class EmbeddedClient extends NamingClient {
  // biome-ignore lint/suspicious/noExplicitAny: as in `client.ts`.
  override async query(...statement: [any, ...any[]]): Promise<any> {
    return super.query(...statement).catch(rethrow);
  }
}

function rethrow(error: unknown): never {
  if (error instanceof StoreUnavailableError || !isUnavailable(error)) throw error;
  throw new StoreUnavailableError('postgres', { cause: error });
}
