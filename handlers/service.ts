import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { readBacklog } from '../db/backlog.js';
import { openRedis } from '../db/redis.js';
import { openStores, type Stores } from '../db/stores.js';
import type { App } from './app.js';
import type { Config } from './http/config.js';
import { readDocument } from './http/docs.js';
import { createMetrics } from './http/metrics.js';
import { buildOpsServer } from './http/ops.js';
import { buildServer } from './http/server.js';
import { keptTokenKeys } from './http/token-keys.js';
import { createTokens } from './tokens.js';

export interface Service {
  /** Where the API listens, and where the operations do. */
  url: string;
  opsUrl: string;
  app: App;
  stores: Stores;
  /** Answers what is under way, refuses what is new, and closes the stores. */
  stop(): Promise<void>;
}

/** How long requests under way may still take once the service is stopping, in milliseconds. */
const GRACE = 7000;

/**
 * Opens the stores and listens.
 *
 * @throws DataDirectoryInUse
 * @throws StoresDisagree
 * @throws StoreUnavailable
 */
export async function startService(config: Config, log: Logger): Promise<Service> {
  const metrics = createMetrics();
  const stores = await openStores(config.stores, log, metrics);
  const redis = config.redis && (await openRedis(config.redis, log, metrics));
  const { db, graph, images, directory } = stores;
  const app: App = {
    ...stores,
    config,
    log,
    tokens: createTokens(config.tokenKeys ?? (await keptTokenKeys(directory.tokenKeys))),
    publicUrl: config.publicUrl ?? new URL(urlOf(config.host, config.port)),
    uploadsDir: directory.uploads,
  };
  metrics.watch({ pools: stores.pools, backlog: () => readBacklog(db) });
  const server = await buildServer(app, { document: await readDocument(), metrics, redis });
  const checks = {
    postgres: () => sql`select 1`.execute(db),
    graph: () => graph.friendsOf(0),
    images: () => images.check(),
    ...(redis && { redis: redis.check }),
  };
  const ops = buildOpsServer(checks, metrics);
  const close = async () => {
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
    url: listeningAt(config.host, server.server.address()),
    opsUrl: listeningAt(config.opsHost, ops.server.server.address()),
    app,
    stores,
    async stop() {
      ops.drain();
      await sleep(config.shutdownDelay * 1000);
      const impatience = setTimeout(() => server.server.closeAllConnections(), GRACE);
      await server.close();
      clearTimeout(impatience);
      await close();
    },
  };
}

const listeningAt = (host: string, address: string | AddressInfo | null) => urlOf(host, (address as AddressInfo).port);

const urlOf = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
