import { resolve } from 'node:path';
import type { SocialGraph } from '../../db/graph/index.js';
import type { ImageStore } from '../../db/images/index.js';
import type { Database } from '../../db/postgres/index.js';
import { openDatabase, openGraph, openImages, type StoresConfig } from '../../db/stores.js';
import { Closers } from '../../db/support/closers.js';
import { claimDataDirectory, type DataDirectory } from '../../db/support/data-directory.js';
import type { Log } from '../../db/support/log.js';

/** The stores of one installation. */
export interface StoreSet {
  /** The location of its PostgreSQL: a URL without credentials, or a directory. */
  location: string;
  db: Database;
  graph: SocialGraph;
  images: ImageStore;
  directory: DataDirectory;
}

export interface MoveStores {
  source: StoreSet;
  target: StoreSet;
  /** Whether source and target use the same store. A shared store is opened once and not copied. */
  shared: { postgres: boolean; graph: boolean; images: boolean };
  close(): Promise<void>;
}

/**
 * Opens both sets of stores without reading their content. Locks the data directories exclusively, so that no service on this
 * machine uses them.
 *
 * @throws DataDirectoryInUseError, UnfinishedRestoreError
 * @throws DiskFullError, DatabaseNotOpenedError for the embedded PostgreSQL
 * @throws StoreUnavailableError if S3 has neither a region nor an endpoint
 */
export async function openMoveStores(from: StoresConfig, to: StoresConfig, log: Log): Promise<MoveStores> {
  const closers = new Closers();
  const shared = findShared(from, to);

  const claim = async ({ dataDir }: StoresConfig) => {
    const directory = await claimDataDirectory(dataDir, { shared: false });
    closers.add(directory.release);
    return directory;
  };

  async function open(config: StoresConfig, directory: DataDirectory, other?: StoreSet): Promise<StoreSet> {
    let db = shared.postgres ? other?.db : undefined;
    if (!db) {
      const postgres = await openDatabase(config, directory, log);
      closers.add(postgres.close);
      db = postgres.maintenanceDb;
    }
    const graph = (shared.graph && other?.graph) || (await openGraph(config, db, log));
    if (graph !== other?.graph) closers.add(() => graph.close());
    const images = (shared.images && other?.images) || (await openImages(config, directory, log));
    if (images !== other?.images) closers.add(() => images.close());
    return { location: locationOf(config), directory, db, graph, images };
  }

  try {
    const directory = await claim(from);
    const source = await open(from, directory);
    const target = await open(to, haveSameDataDir(from, to) ? directory : await claim(to), source);
    return { source, target, shared, close: closers.close };
  } catch (error) {
    return closers.closeAfter(error);
  }
}

function findShared(from: StoresConfig, to: StoresConfig): MoveStores['shared'] {
  const sameDataDir = haveSameDataDir(from, to);
  const postgres =
    from.postgres && to.postgres ? from.postgres.url === to.postgres.url : from.postgres === to.postgres && sameDataDir;
  return {
    postgres,
    graph: from.neo4j && to.neo4j ? from.neo4j.uri === to.neo4j.uri : from.neo4j === to.neo4j && postgres,
    images:
      from.s3 && to.s3
        ? from.s3.endpoint === to.s3.endpoint && from.s3.bucket === to.s3.bucket
        : from.s3 === to.s3 && sameDataDir,
  };
}

const haveSameDataDir = (from: StoresConfig, to: StoresConfig) => resolve(from.dataDir) === resolve(to.dataDir);

function locationOf({ postgres, dataDir }: StoresConfig): string {
  if (!postgres) return resolve(dataDir);
  const { host, pathname } = new URL(postgres.url);
  return `postgres://${host}${pathname}`;
}
