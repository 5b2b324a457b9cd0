import { setTimeout as sleep } from 'node:timers/promises';
import { claimDataDirectory, type DataDirectory } from './data-directory.js';
import { embeddedGraph } from './graph/embedded.js';
import type { SocialGraph } from './graph/index.js';
import type { Neo4jOptions } from './graph/neo4j.js';
import { diskImages } from './images/disk.js';
import type { ImageStore } from './images/index.js';
import type { S3Options } from './images/s3.js';
import type { Log } from './log.js';
import { measured } from './measured.js';
import { migrate } from './migrate.js';
import { type Observer, unobserved } from './observer.js';
import { createOutbox, type Outbox } from './outbox.js';
import { openEmbeddedPostgres } from './postgres/embedded.js';
import type { Database, Postgres } from './postgres/index.js';
import { openPostgres, type PostgresOptions } from './postgres/server.js';
import { createReaders, type Readers } from './readers.js';
import { purgeExpiredSessions } from './sessions.js';
import { StoreUnavailable } from './unavailable.js';
import { createWriters, type Writers } from './writers.js';

/** Which store serves: an embedded one, in `dataDir`, wherever nothing is named. */
export interface StoresConfig {
  dataDir: string;
  postgres?: PostgresOptions | undefined;
  /** Only with `postgres`. */
  neo4j?: Neo4jOptions | undefined;
  s3?: S3Options | undefined;
}

/** The stores as such, open and nothing more. */
export interface BareStores extends Pick<Postgres, 'db' | 'graphDb' | 'patientDb' | 'deadline' | 'pools'> {
  graph: SocialGraph;
  images: ImageStore;
  directory: DataDirectory;
  close(): Promise<void>;
}

export interface Stores extends BareStores {
  outbox: Outbox;
  read: Readers;
  write: Writers;
}

const PURGE_INTERVAL = 10 * 60 * 1000;

/** How long a start waits for stores that are being started too, in milliseconds, and how long between two tries. */
const START = { patience: 10_000, pause: 500 };

/**
 * Opens the stores without a look at what they hold.
 *
 * @throws DataDirectoryInUse
 */
export async function openBareStores(
  config: StoresConfig,
  log: Log,
  observer: Observer = unobserved,
): Promise<BareStores> {
  const directory = await claimDataDirectory(config.dataDir, { shared: config.postgres !== undefined });
  const { close, ...postgres } = await openDatabase(config, directory, log, observer);
  const graph = await openGraph(config, postgres.db, log);
  const images = await openImages(config, directory.images, log);
  return {
    ...postgres,
    graph,
    images,
    directory,
    async close() {
      await Promise.all([graph.close(), images.close()]);
      await close();
      await directory.release();
    },
  };
}

export async function openDatabase(
  { postgres }: StoresConfig,
  directory: DataDirectory,
  log: Log,
  observer: Observer = unobserved,
): Promise<Postgres> {
  return postgres ? openPostgres(postgres, log, observer) : openEmbeddedPostgres(directory.postgres, observer);
}

// A driver is loaded by whoever uses it: both are large.
export async function openGraph({ neo4j }: StoresConfig, db: Database, log: Log): Promise<SocialGraph> {
  if (!neo4j) return embeddedGraph(db);
  const { openNeo4j } = await import('./graph/neo4j.js');
  return openNeo4j(neo4j, log);
}

export async function openImages({ s3 }: StoresConfig, directory: string, log: Log): Promise<ImageStore> {
  if (!s3) return diskImages(directory);
  const { openS3 } = await import('./images/s3.js');
  return openS3(s3, log);
}

/**
 * Opens every store, brings the schemas up to date, and starts what runs in the background.
 *
 * @throws DataDirectoryInUse
 * @throws StoresDisagree
 * @throws StoreUnavailable
 */
export async function openStores(config: StoresConfig, log: Log, observer: Observer = unobserved): Promise<Stores> {
  const bare = await openBareStores(config, log, observer);
  const stores = {
    ...bare,
    graph: measured('graph', bare.graph, observer),
    images: measured('images', bare.images, observer),
  };
  const { db, graph } = stores;
  try {
    await onceAvailable(() => migrate(stores));
  } catch (error) {
    await stores.close();
    throw error;
  }
  const outbox = createOutbox({ ...stores, log });
  outbox.start();
  const purge = setInterval(() => {
    purgeExpiredSessions(db).catch((error) => log.warn({ err: error }, 'expired sessions could not be purged'));
  }, PURGE_INTERVAL);
  return {
    ...stores,
    outbox,
    read: createReaders(db, graph, observer),
    write: createWriters(stores, observer),
    async close() {
      clearInterval(purge);
      await outbox.stop();
      await stores.close();
    },
  };
}

/** Waits for stores that are being started too. @throws StoreUnavailable when they take too long */
export async function onceAvailable(attempt: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + START.patience;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || Date.now() > deadline) throw error;
      await sleep(START.pause);
    }
  }
}
