import { access } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { openStores, type Stores } from '../db/stores.js';
import type { App } from './app.js';
import type { Config } from './http/config.js';
import { readDocument } from './http/docs.js';
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

/** Opens the stores and listens. */
export async function startService(config: Config, log: Logger): Promise<Service> {
  const stores = await openStores({ dataDir: config.dataDir }, log);
  const { db, graph, directory } = stores;
  const app: App = {
    ...stores,
    config,
    log,
    tokens: createTokens(config.tokenKeys ?? (await keptTokenKeys(directory.tokenKeys))),
    publicUrl: config.publicUrl ?? new URL(urlOf(config.host, config.port)),
    uploadsDir: directory.uploads,
  };
  const server = await buildServer(app, await readDocument());
  const ops = buildOpsServer({
    postgres: () => sql`select 1`.execute(db),
    graph: () => graph.friendsOf(0),
    images: () => access(directory.images),
  });
  try {
    await server.listen({ host: config.host, port: config.port });
    await ops.server.listen({ host: config.opsHost, port: config.opsPort });
  } catch (error) {
    await server.close();
    await stores.close();
    throw error;
  }

  return {
    url: listeningAt(config.host, server.server.address()),
    opsUrl: listeningAt(config.opsHost, ops.server.server.address()),
    app,
    stores,
    async stop() {
      ops.drain();
      const impatience = setTimeout(() => server.server.closeAllConnections(), GRACE);
      await server.close();
      clearTimeout(impatience);
      await ops.server.close();
      await stores.close();
    },
  };
}

const listeningAt = (host: string, address: string | AddressInfo | null) => urlOf(host, (address as AddressInfo).port);

const urlOf = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
