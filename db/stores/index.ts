import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBackup } from '../backup/create.js';
import { createFeed, type Feed } from '../feed.js';
import type { SocialGraph } from '../graph/index.js';
import type { Neo4jOptions } from '../graph/neo4j-connection.js';
import { observedGraph } from '../graph/observed.js';
import { tableGraph } from '../graph/tables.js';
import { withCache } from '../images/cache.js';
import { diskImages } from '../images/disk.js';
import { type ImageHolds, withHolds } from '../images/holds.js';
import type { ImageStore } from '../images/index.js';
import { observedImages } from '../images/observed.js';
import type { S3Options } from '../images/s3.js';
import { createOutbox, type Outbox } from '../outbox/index.js';
import { openEmbeddedPostgres } from '../postgres/embedded.js';
import { type FreeSpace, requireRoomToStart, watchFreeSpace } from '../postgres/free-space.js';
import type { Database, Postgres } from '../postgres/index.js';
import { type Maintenance, startMaintenance } from '../postgres/maintenance.js';
import { openPostgres, type PostgresOptions } from '../postgres/server.js';
import { createReaders, type Readers } from '../readers.js';
import { Closers } from '../support/closers.js';
import { claimDataDirectory, type DataDirectory } from '../support/data-directory.js';
import { type StoreName, StoreUnavailableError } from '../support/errors.js';
import type { Log } from '../support/log.js';
import { type Gate, noopObserver, type Observer } from '../support/observer.js';
import { RETRY_INTERVAL_MS, retryUntilAvailable } from '../support/retry.js';
import { createWriters, type Writers } from '../writers.js';
import { prepareDatabase, prepareGraph, prepareImageStore } from './migrate.js';
import { startPurging } from './purge.js';

/** The configuration of the stores. If `postgres` or `s3` is undefined, that store is embedded, in `dataDir`. */
export interface StoresConfig {
  dataDir: string;
  postgres?: PostgresOptions | undefined;
  /** Requires `postgres`. If undefined, the graph consists of tables in PostgreSQL. */
  neo4j?: Neo4jOptions | undefined;
  s3?: S3Options | undefined;
}

/** The open stores, without background jobs. */
export interface BareStores extends Pick<Postgres, 'db' | 'graphTransactions' | 'maintenanceDb' | 'pools'> {
  graph: SocialGraph;
  images: ImageStore;
  /** Defined only if images are stored as files. */
  imageHolds?: ImageHolds | undefined;
  directory: DataDirectory;
  close(): Promise<void>;
}

export interface Stores extends BareStores {
  outbox: Outbox;
  read: Readers;
  write: Writers;
  feed: Feed;
  /** Defined only if the database is embedded. */
  embedded?: EmbeddedJobs | undefined;
  /**
   * Resolves when it is verified that the graph and the image store belong to this installation. This may be after the
   * start, if one of them is unavailable. Until a store is verified, all calls to it throw StoreUnavailableError. Rejects
   * with StoresDisagreeError if a store belongs to another installation; the process must then exit.
   */
  verified: Promise<void>;
}

/** The background jobs of the embedded database, and its backup. */
interface EmbeddedJobs extends Pick<Maintenance, 'usage'> {
  freeSpace: FreeSpace;
  /** Creates an archive of the database, the images in the data directory and the token keys. Yields its bytes. */
  backup(): AsyncGenerator<Uint8Array>;
  stop(): Promise<void>;
}

/**
 * Opens the stores. Does not migrate them or start background jobs. If one cannot be opened, closes the others.
 *
 * @throws DataDirectoryInUseError, UnfinishedRestoreError
 * @throws DiskFullError, DatabaseNotOpenedError for the embedded PostgreSQL
 * @throws StoreUnavailableError if S3 has neither a region nor an endpoint
 */
export async function openBareStores(
  config: StoresConfig,
  log: Log,
  observer: Observer = noopObserver,
): Promise<BareStores> {
  const closers = new Closers();
  try {
    const directory = await claimDataDirectory(config.dataDir, { shared: config.postgres !== undefined });
    closers.add(directory.release);
    const postgres = await openDatabase(config, directory, log, observer);
    closers.add(postgres.close);
    const graph = await openGraph(config, postgres.db, log);
    closers.add(graph.close);
    const images = await openImages(config, directory, log);
    closers.add(images.close);
    return { ...postgres, graph, images, imageHolds: images.holds, directory, close: closers.close };
  } catch (error) {
    return closers.closeAfter(error);
  }
}

/** Connects to a PostgreSQL server, or opens the embedded PostgreSQL. @throws DiskFullError, DatabaseNotOpenedError */
export async function openDatabase(
  { postgres, dataDir }: StoresConfig,
  directory: DataDirectory,
  log: Log,
  observer: Observer = noopObserver,
): Promise<Postgres> {
  if (postgres) return openPostgres(postgres, log, observer);
  await requireRoomToStart(directory.root);
  // Creating the database takes seconds, so the log says why the service takes so long to start.
  if (!existsSync(directory.postgres)) log.info({}, `Creating a database in ${dataDir} (first start only)…`);
  return openEmbeddedPostgres(directory.postgres, log, observer);
}

/** Opens the graph. The driver of Neo4j is large, so it is loaded only if it is used. */
export async function openGraph({ neo4j }: StoresConfig, db: Database, log: Log): Promise<SocialGraph> {
  if (!neo4j) return tableGraph(db);
  const { openNeo4j } = await import('../graph/neo4j.js');
  return openNeo4j(neo4j, log);
}

/** Opens the image store. The AWS SDK is large, so it is loaded only if it is used. */
export async function openImages(
  { s3 }: StoresConfig,
  { images, uploads }: Pick<DataDirectory, 'images' | 'uploads'>,
  log: Log,
): Promise<ImageStore & { holds?: ImageHolds }> {
  if (!s3) return withHolds(diskImages(images));
  const { openS3 } = await import('../images/s3.js');
  return openS3(s3, uploads, log);
}

/**
 * Opens and migrates the stores, and starts the background jobs. PostgreSQL must be available. The graph and the image
 * store need not be: see `verified`.
 *
 * @throws DataDirectoryInUseError, UnfinishedRestoreError
 * @throws DiskFullError, DatabaseNotOpenedError for the embedded PostgreSQL
 * @throws StoresDisagreeError
 * @throws StoreUnavailableError
 */
export async function openStores(config: StoresConfig, log: Log, observer: Observer = noopObserver): Promise<Stores> {
  const bare = await openBareStores(config, log, observer);
  const gates: Record<'graph' | 'images', Gate> = { graph: { allowsCalls: false }, images: { allowsCalls: false } };
  // Until a store has been verified, its gate rejects calls. The preparations below use the bare stores.
  const stores = {
    ...bare,
    graph: observedGraph(bare.graph, observer, gates.graph),
    images: observedImages(withCache(bare.images), observer, gates.images),
  };
  const closing = new AbortController();
  const preparations = [
    { store: 'graph', gate: gates.graph, prepare: () => prepareGraph(bare).then(bare.graph.warmUp) },
    { store: 'images', gate: gates.images, prepare: () => prepareImageStore(bare) },
  ] as const;
  const closers = new Closers();
  closers.add(bare.close);
  let embedded: EmbeddedJobs | undefined;
  try {
    await retryUntilAvailable(() => prepareDatabase(bare));
    // Repeated only while PostgreSQL is unavailable: an unavailable graph or image store is prepared later.
    for (const preparation of preparations) await retryUntilAvailable(() => tryPrepare(preparation));
    if (!config.postgres) {
      embedded = await startEmbeddedJobs(stores, log);
      closers.add(embedded.stop);
    }
  } catch (error) {
    return closers.closeAfter(error);
  }
  const verified = Promise.all(
    preparations.map((preparation) => prepareWhenAvailable(preparation, log, closing.signal)),
  ).then(() => undefined);
  // Prevents an unhandled rejection if `verified` rejects before it is awaited.
  verified.catch(() => undefined);
  const outbox = createOutbox(stores, log, observer);
  outbox.start();
  closers.add(outbox.stop);
  closers.add(startPurging(stores.db, log).stop);
  closers.add(() => closing.abort());
  const read = createReaders(stores, observer);
  return {
    ...stores,
    outbox,
    read,
    write: createWriters(stores, observer),
    feed: createFeed({ db: stores.db, read }, observer),
    embedded,
    verified,
    close: closers.close,
  };
}

/** Starts the maintenance of the embedded database, and the monitoring of free disk space. */
async function startEmbeddedJobs(stores: BareStores, log: Log): Promise<EmbeddedJobs> {
  const { db, directory } = stores;
  const freeSpace = await watchFreeSpace(directory.root, db, log);
  const maintenance = startMaintenance(stores, log, { hasRoom: () => !freeSpace.isLow });
  return {
    freeSpace,
    usage: maintenance.usage,
    async *backup() {
      log.info({}, 'backup started');
      yield* createBackup({ ...stores, maintenance });
      log.info({}, 'backup complete');
    },
    async stop() {
      await maintenance.stop();
      await freeSpace.stop();
    },
  };
}

/** How to prepare a store for requests, and the gate that lets calls to it pass afterwards. */
interface Preparation {
  store: StoreName;
  gate: Gate;
  /** Verifies that the store belongs to this installation. Also migrates and warms up the graph. */
  prepare(): Promise<void>;
}

/** Prepares a store and opens its gate. Does nothing if the store is unavailable. @throws StoresDisagreeError */
async function tryPrepare({ store, gate, prepare }: Preparation): Promise<void> {
  try {
    await prepare();
    gate.allowsCalls = true;
  } catch (error) {
    if (!(error instanceof StoreUnavailableError && error.store === store)) throw error;
    gate.cause = error.cause;
  }
}

/** Waits until a store is available, and prepares it. Returns early if the signal aborts. @throws StoresDisagreeError */
async function prepareWhenAvailable(preparation: Preparation, log: Log, signal: AbortSignal): Promise<void> {
  const { store, gate } = preparation;
  if (gate.allowsCalls) return;
  log.warn({ store }, 'started while a store is unavailable: it will be verified once it is available');
  while (!gate.allowsCalls) {
    await sleep(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await tryPrepare(preparation).catch((error) => {
      if (!signal.aborted && !(error instanceof StoreUnavailableError)) throw error;
    });
  }
  log.info({ store }, 'store verified');
}
