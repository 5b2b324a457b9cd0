import { access } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { openStores, type Stores } from '../../db/stores.js';
import type { App } from '../app.js';
import { createTokens } from '../tokens.js';
import type { Config } from './config.js';
import { readDocument } from './docs.js';
import { buildOpsServer } from './ops.js';
import { buildServer } from './server.js';
import { keptTokenKeys } from './token-keys.js';

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
  const { db, graph, images, outbox, read, directory } = stores;
  const app: App = {
    db,
    graph,
    images,
    outbox,
    read,
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
  await server.listen({ host: config.host, port: config.port });
  await ops.server.listen({ host: config.opsHost, port: config.opsPort });

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
