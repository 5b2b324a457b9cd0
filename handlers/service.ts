import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { readBacklog } from '../db/outbox/backlog.js';
import { openRedis } from '../db/redis.js';
import { openStores, type Stores } from '../db/stores.js';
import type { Config } from './config/index.js';
import { configWarnings } from './config/warnings.js';
import type { AppContext } from './context.js';
import { startControlServer } from './http/control.js';
import { readDocument } from './http/docs/index.js';
import { createMetrics } from './http/metrics.js';
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
  /** Fails readiness checks for `shutdownDelaySeconds`, then completes the requests in progress and closes the stores. */
  stop(): Promise<void>;
}

/** How long requests in progress may take at shutdown before their connections are closed. */
const SHUTDOWN_GRACE_PERIOD_MS = 7000;

/**
 * Opens the stores and starts both servers.
 *
 * @throws DataDirectoryInUseError
 * @throws StoresDisagreeError
 * @throws StoreUnavailableError
 */
export async function startService(config: Config, log: Logger): Promise<Service> {
  for (const warning of configWarnings(config)) log.warn(warning);
  const metrics = createMetrics();
  // Loads the server modules while the embedded database starts in its worker thread.
  const [stores, { buildServer }, { buildOpsServer }] = await Promise.all([
    openStores(config.stores, log, metrics),
    import('./http/server.js'),
    import('./http/ops.js'),
  ]);
  const redis = config.redis && (await openRedis(config.redis, log, metrics));
  const { db, graph, images, directory, embedded } = stores;
  const context: AppContext = {
    ...stores,
    config,
    log,
    tokens: createTokens(config.tokenKeys ?? (await readOrCreateTokenKeys(directory.tokenKeys))),
    failedPasswords: createFailedPasswords(config.account.failedPasswordsMax, redis),
    publicUrl: config.publicUrl ?? new URL(urlOf(config.host, config.port)),
    uploadsDir: directory.uploads,
    metrics,
  };
  metrics.watchStores({
    pools: stores.pools,
    backlog: () => readBacklog(db),
    embedded: embedded && (async () => ({ ...(await embedded.usage()), freeBytes: embedded.freeSpace.freeBytes })),
  });
  const server = await buildServer(context, { document: await readDocument(), metrics, redis });
  const checks = {
    postgres: () => sql`select 1`.execute(db),
    graph: () => graph.friendsOf(0),
    images: () => images.check(),
    ...(redis && { redis: redis.check }),
  };
  const ops = buildOpsServer(checks, metrics);
  const control = embedded && (await startControlServer(directory.control, embedded.backup, log));
  const close = async () => {
    await control?.close();
    await ops.server.close();
    await redis?.close();
    await stores.close();
    metrics.close();
  };
  try {
    await server.listen({ host: config.host, port: config.port });
    await ops.server.listen({ host: config.opsHost, port: config.opsPort });
  } catch (error) {
    await server.close();
    await close();
    throw error;
  }

  return {
    url: listeningUrl(config.host, server.server.address()),
    opsUrl: listeningUrl(config.opsHost, ops.server.server.address()),
    context,
    stores,
    async stop() {
      ops.drain();
      await sleep(config.shutdownDelaySeconds * 1000);
      const forceCloseTimer = setTimeout(() => server.server.closeAllConnections(), SHUTDOWN_GRACE_PERIOD_MS);
      await server.close();
      clearTimeout(forceCloseTimer);
      await close();
    },
  };
}

const listeningUrl = (host: string, address: string | AddressInfo | null) => urlOf(host, (address as AddressInfo).port);

const urlOf = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
