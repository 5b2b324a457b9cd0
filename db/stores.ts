import { setTimeout as sleep } from 'node:timers/promises';
import { createBackup } from './backup/create.js';
import { embeddedGraph } from './graph/embedded.js';
import type { SocialGraph } from './graph/index.js';
import type { Neo4jOptions } from './graph/neo4j.js';
import { purgeExpiredKeys } from './idempotency-keys.js';
import { diskImages } from './images/disk.js';
import { type ImageHolds, withHolds } from './images/holds.js';
import type { ImageStore } from './images/index.js';
import type { S3Options } from './images/s3.js';
import { migrateDatabase, skipIdsOfUnknownGraph, verifyGraph, verifyImages } from './migrate.js';
import { createOutbox, type Outbox } from './outbox/index.js';
import { openEmbeddedPostgres } from './postgres/embedded.js';
import { type FreeSpace, requireRoomToStart, watchFreeSpace } from './postgres/free-space.js';
import type { Database, Postgres } from './postgres/index.js';
import { type Maintenance, startMaintenance } from './postgres/maintenance.js';
import { openPostgres, type PostgresOptions } from './postgres/server.js';
import { warmUpDatabase } from './postgres/warm-up.js';
import { createReaders, type Readers } from './readers.js';
import { purgeExpiredSessions } from './sessions.js';
import { claimDataDirectory, type DataDirectory } from './support/data-directory.js';
import { type StoreName, StoreUnavailableError } from './support/errors.js';
import { createLane, type Lane } from './support/lane.js';
import type { Log } from './support/log.js';
import { noopObserver, type Observer } from './support/observer.js';
import { type Gate, withMetrics } from './support/with-metrics.js';
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
export interface BareStores
  extends Pick<Postgres, 'db' | 'graphTransactions' | 'maintenanceDb' | 'statementTimeoutMs' | 'pools'> {
  graph: SocialGraph;
  images: ImageStore;
  /** Of images that are files. */
  imageHolds?: ImageHolds | undefined;
  directory: DataDirectory;
  close(): Promise<void>;
}

export interface Stores extends BareStores {
  outbox: Outbox;
  read: Readers;
  write: Writers;
  /** For pages of posts that lie deep: see `deep-pages.ts`. */
  deepPages: Lane;
  largePages: Lane;
  /** What only the embedded database has. */
  embedded?: EmbeddedUpkeep | undefined;
  /**
   * Resolves once the graph and the images are verified, which may be after the start: until then every call to one that is
   * not throws StoreUnavailable. Rejects with StoresDisagree if one belongs to another installation: the process must end.
   */
  verified: Promise<void>;
}

export interface EmbeddedUpkeep extends Pick<Maintenance, 'usage' | 'runOnce'> {
  freeSpace: FreeSpace;
  /** Creates an archive of the database, the images in `DATA_DIR` and the token keys. */
  backup(): AsyncGenerator<Uint8Array>;
  stop(): Promise<void>;
}

/** One deep page at a time; a client waits for its turn no longer than for a store, or little more. */
const DEEP_PAGES = { width: 1, maxWaitMs: 3000 };

/** A page of a hundred long posts takes about 15 MB while it is read and serialized. */
const LARGE_PAGES = { width: 4, maxWaitMs: 3000 };

const PURGE_INTERVAL_MS = 10 * 60 * 1000;

/** How long a start waits for a PostgreSQL that is being started too, in milliseconds, and how long between two tries. */
const START = { patience: 10_000, pause: 500 };

/**
 * Opens the stores without a look at what they hold.
 *
 * @throws DataDirectoryInUse
 */
export async function openBareStores(
  config: StoresConfig,
  log: Log,
  observer: Observer = noopObserver,
): Promise<BareStores> {
  const directory = await claimDataDirectory(config.dataDir, { shared: config.postgres !== undefined });
  const { close, ...postgres } = await openDatabase(config, directory, log, observer);
  const graph = await openGraph(config, postgres.db, log);
  const images = await openImages(config, directory, log);
  return {
    ...postgres,
    graph,
    images,
    imageHolds: images.holds,
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
  observer: Observer = noopObserver,
): Promise<Postgres> {
  if (postgres) return openPostgres(postgres, log, observer);
  await requireRoomToStart(directory.root);
  return openEmbeddedPostgres(directory.postgres, log, observer);
}

// A driver is loaded by whoever uses it: both are large.
export async function openGraph({ neo4j }: StoresConfig, db: Database, log: Log): Promise<SocialGraph> {
  if (!neo4j) return embeddedGraph(db);
  const { openNeo4j } = await import('./graph/neo4j.js');
  return openNeo4j(neo4j, log);
}

export async function openImages(
  { s3 }: StoresConfig,
  { images, uploads }: Pick<DataDirectory, 'images' | 'uploads'>,
  log: Log,
): Promise<ImageStore & { holds?: ImageHolds }> {
  if (!s3) return withHolds(diskImages(images));
  const { openS3 } = await import('./images/s3.js');
  return openS3(s3, uploads, log);
}

/**
 * Opens every store, brings the schemas up to date, and starts what runs in the background. PostgreSQL has to respond; the
 * graph and the images may be unavailable: see `verified`.
 *
 * @throws DataDirectoryInUse
 * @throws StoresDisagree
 * @throws StoreUnavailable
 */
export async function openStores(config: StoresConfig, log: Log, observer: Observer = noopObserver): Promise<Stores> {
  const bare = await openBareStores(config, log, observer);
  const gates = { graph: { open: false }, images: { open: false } };
  const stores = {
    ...bare,
    graph: withMetrics('graph', bare.graph, observer, gates.graph),
    images: withMetrics('images', bare.images, observer, gates.images),
  };
  const { db, graph } = stores;
  const closing = new AbortController();
  const others = [
    { store: 'graph', gate: gates.graph, verify: () => verifyGraph(bare).then(bare.graph.warmUp) },
    { store: 'images', gate: gates.images, verify: () => verifyImages(bare) },
  ] as const;
  try {
    await onceAvailable(() => migrateDatabase(bare));
    if (config.postgres) await onceAvailable(() => warmUpDatabase(bare.maintenanceDb));
    for (const other of others) await onceAvailable(() => tryVerify(other));
    if (!gates.graph.open) await onceAvailable(() => skipIdsOfUnknownGraph(bare.maintenanceDb));
  } catch (error) {
    await stores.close();
    throw error;
  }
  const verified = Promise.all(others.map((other) => keepVerifying(other, log, closing.signal))).then(() => undefined);
  verified.catch(() => undefined);
  const outbox = createOutbox({ ...stores, log });
  outbox.start();
  const purge = setInterval(() => {
    purgeExpiredSessions(db).catch((error) => log.warn({ err: error }, 'expired sessions could not be purged'));
    purgeExpiredKeys(db).catch((error) => log.warn({ err: error }, 'expired idempotency keys could not be purged'));
  }, PURGE_INTERVAL_MS);
  const embedded = config.postgres ? undefined : await startUpkeep(stores, log);
  return {
    ...stores,
    outbox,
    read: createReaders(db, graph, observer),
    write: createWriters(stores, observer),
    deepPages: createLane(DEEP_PAGES),
    largePages: createLane(LARGE_PAGES),
    embedded,
    verified,
    async close() {
      closing.abort();
      clearInterval(purge);
      await outbox.stop();
      await embedded?.stop();
      await stores.close();
    },
  };
}

/** What keeps the embedded database small, and the service up when its disk is full. */
async function startUpkeep(stores: BareStores, log: Log): Promise<EmbeddedUpkeep> {
  const { db, directory } = stores;
  const freeSpace = await watchFreeSpace(directory.root, db, log);
  const maintenance = startMaintenance(stores, log, { hasRoom: () => !freeSpace.low });
  return {
    freeSpace,
    usage: maintenance.usage,
    runOnce: maintenance.runOnce,
    backup: () => createBackup({ ...stores, maintenance }),
    async stop() {
      await maintenance.stop();
      await freeSpace.stop();
    },
  };
}

interface Unverified {
  store: StoreName;
  gate: Gate;
  verify(): Promise<void>;
}

/** Opens the store's gate, unless the store is unavailable. @throws StoresDisagree */
async function tryVerify({ store, gate, verify }: Unverified): Promise<void> {
  try {
    await verify();
    gate.open = true;
  } catch (error) {
    if (!(error instanceof StoreUnavailableError && error.store === store)) throw error;
  }
}

/** @throws StoresDisagree */
async function keepVerifying(other: Unverified, log: Log, signal: AbortSignal): Promise<void> {
  const { store, gate } = other;
  if (gate.open) return;
  log.warn({ store }, 'started without a store that is unavailable: it is verified when it returns');
  while (!gate.open) {
    await sleep(START.pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await tryVerify(other).catch((error) => {
      if (!signal.aborted && !(error instanceof StoreUnavailableError)) throw error;
    });
  }
  log.info({ store }, 'a store is verified');
}

/** Waits for stores that are being started too. @throws StoreUnavailable when they take too long */
export async function onceAvailable(attempt: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + START.patience;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || Date.now() > deadline) throw error;
      await sleep(START.pause);
    }
  }
}
