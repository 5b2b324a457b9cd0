import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { readBacklog } from '../db/outbox/backlog.js';
import { readFreeBytes } from '../db/postgres/free-space.js';
import { openRedis } from '../db/redis/index.js';
import { openStores, type Stores } from '../db/stores/index.js';
import { readTotals } from '../db/stores/totals.js';
import { Closers } from '../db/support/closers.js';
import { type Config, urlOf } from './config/index.js';
import type { AppContext } from './context.js';
import { buildControlServer, listenOnSocket } from './control.js';
import { readDocument } from './http/docs/index.js';
import { createMetrics } from './metrics/index.js';
import { createFailedPasswords } from './security/failed-passwords.js';
import { readOrCreateTokenKeys } from './security/token-keys.js';
import { createTokens } from './security/tokens.js';

export interface Service {
  /** The base URL of the API server. */
  url: string;
  /** The base URL of the server for health checks and metrics. */
  opsUrl: string;
  context: AppContext;
  stores: Stores;
  /**
   * Stops the service: fails readiness checks for `shutdownDelaySeconds`, then completes the requests in progress and closes
   * the stores.
   */
  stop(): Promise<void>;
}

/** How long requests in progress may still take at shutdown before their connections are closed. */
const SHUTDOWN_GRACE_PERIOD_MS = 7000;

/**
 * Opens the stores, and starts the API server, the operations server and, with an embedded database, the control server.
 *
 * @throws ConfigError if the file with the token keys is invalid
 * @throws PortInUseError, DataDirectoryInUseError, UnfinishedRestoreError
 * @throws DiskFullError, DatabaseNotOpenedError for the embedded PostgreSQL
 * @throws StoresDisagreeError
 * @throws StoreUnavailableError
 */
export async function startService(config: Config, log: Logger): Promise<Service> {
  const closers = new Closers();
  try {
    const metrics = createMetrics();
    closers.add(metrics.close);
    // Loads the modules of the servers while the embedded database starts in its worker thread.
    const modules = Promise.all([import('./http/server.js'), import('./http/ops.js')]);
    const stores = await openStores(config.stores, log, metrics);
    closers.add(stores.close);
    const [{ buildServer }, { buildOpsServer, readStoreStates }] = await modules;
    const redis = config.redis && (await openRedis(config.redis, log, metrics));
    if (redis) closers.add(redis.close);
    const { db, graph, images, directory, embedded } = stores;
    const tokenKeys = config.tokenKeys ?? (await readOrCreateTokenKeys(directory.tokenKeys));
    metrics.signingKey(tokenKeys[0].id);
    const context: AppContext = {
      ...stores,
      config,
      log,
      tokens: createTokens(tokenKeys),
      failedPasswords: createFailedPasswords(config.account.failedPasswordsMax, redis),
      uploadsDir: directory.uploads,
      metrics,
    };
    const checks = {
      async postgres() {
        await sql`select 1`.execute(db);
        if (embedded?.freeSpace.isLow) throw new Error('The disk of DATA_DIR is full: writes are refused');
      },
      graph: () => graph.friendsOfEach([0]),
      images: () => images.check(),
      ...(redis && { redis: redis.check }),
    };
    metrics.watchStores({
      pools: stores.pools,
      readStates: () => readStoreStates(checks),
      backlog: () => readBacklog(db),
      totals: () => readTotals(db),
      freeBytes: () => readFreeBytes(directory.root),
      embeddedUsage: embedded?.usage,
    });
    const ops = buildOpsServer(checks, metrics, log, config.opsHost);
    closers.add(() => ops.server.close());
    if (embedded) {
      const control = buildControlServer({ backup: embedded.backup, admin: context }, log);
      closers.add(() => control.close());
      await listenOnSocket(control, directory.control);
    }
    const server = await buildServer(context, { document: await readDocument(), metrics, redis });
    closers.add(async () => {
      const forceCloseTimer = setTimeout(() => server.server.closeAllConnections(), SHUTDOWN_GRACE_PERIOD_MS);
      await server.close().finally(() => clearTimeout(forceCloseTimer));
    });
    const { api, operations } = addressesOf(config);
    await listening(server.listen(api), api);
    await listening(ops.server.listen(operations), operations);

    return {
      url: listeningUrl(config.host, server.server.address()),
      opsUrl: listeningUrl(config.opsHost, ops.server.server.address()),
      context,
      stores,
      async stop() {
        ops.drain();
        await sleep(config.shutdownDelaySeconds * 1000);
        await closers.close();
      },
    };
  } catch (error) {
    return closers.closeAfter(error);
  }
}

/** Another process listens on a port. */
class PortInUseError extends Error {
  override readonly name = 'PortInUseError';
  readonly code = 'port_in_use';
}

/** Returns where the servers listen, and the variable that sets each port. */
export const addressesOf = ({ host, port, opsHost, opsPort }: Config) => ({
  api: { host, port, variable: 'PORT' },
  operations: { host: opsHost, port: opsPort, variable: 'OPS_PORT' },
});

type Address = ReturnType<typeof addressesOf>['api'];

/** Waits until a server listens. @throws PortInUseError, whose message names the variable */
export async function listening(started: Promise<unknown>, { host, port, variable }: Address): Promise<void> {
  await started.catch((error) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new PortInUseError(`Port ${port} of ${host} is in use. Set ${variable} to another one.`);
  });
}

const listeningUrl = (host: string, address: string | AddressInfo | null) => urlOf(host, (address as AddressInfo).port);
