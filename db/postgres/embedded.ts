import type { Log } from '../support/log.js';
import { noopObserver, type Observer } from '../support/observer.js';
import { createPool, databaseOver, usageOf } from './client.js';
import { startEmbeddedServer } from './embedded/server.js';
import type { Postgres } from './index.js';

/** The maximum time that a statement or transaction waits for the only connection. */
const QUEUE_TIMEOUT_MS = 10_000;

/**
 * Opens the embedded PostgreSQL, which runs in a thread of this process. It has a single connection, and so runs one
 * transaction at a time. If the thread ends, its statements fail with StoreUnavailableError. They may nevertheless have been
 * committed.
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
  });
  const db = databaseOver(pool, observer);
  return {
    db,
    graphTransactions: db,
    maintenanceDb: db,
    pools: () => ({ main: usageOf(pool) }),
    async close() {
      await db.destroy();
      await server.close();
    },
  };
}
