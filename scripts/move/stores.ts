import { resolve } from 'node:path';
import type { SocialGraph } from '../../db/graph/index.js';
import type { ImageStore } from '../../db/images/index.js';
import type { Database } from '../../db/postgres/index.js';
import { openDatabase, openGraph, openImages, type StoresConfig } from '../../db/stores/index.js';
import { Closers } from '../../db/support/closers.js';
import { claimDataDirectory, type DataDirectory, pathsIn } from '../../db/support/data-directory.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { silentLog } from '../support/silent-log.js';

/** Where the stores of a configuration are, without credentials. */
interface StoreLocations {
  postgres: string;
  graph: string;
  images: string;
}

export function locate({ postgres, neo4j, s3, dataDir }: StoresConfig): StoreLocations {
  const paths = pathsIn(dataDir);
  const database = postgres ? withoutCredentials(postgres.url) : paths.postgres;
  return {
    postgres: database,
    graph: neo4j ? withoutCredentials(neo4j.uri) : `tables in ${database}`,
    images: s3 ? `bucket ${s3.bucket} at ${s3.endpoint ? withoutCredentials(s3.endpoint) : 'AWS'}` : paths.images,
  };
}

function withoutCredentials(text: string): string {
  const url = new URL(text);
  url.username = url.password = '';
  for (const name of ['user', 'password']) url.searchParams.delete(name);
  return url.href;
}

/** Returns a function that adds the side of a move to the error of an unavailable store, and throws it. */
export const throwNaming =
  (side: 'Source' | 'Target') =>
  (error: unknown): never => {
    if (error instanceof StoreUnavailableError) error.message = `${side}: ${error.message}`;
    throw error;
  };

/** The stores of one installation. */
export interface StoreSet {
  location: StoreLocations;
  db: Database;
  graph: SocialGraph;
  images: ImageStore;
  directory: DataDirectory;
}

export interface MoveStores {
  source: StoreSet;
  target: StoreSet;
  /** Whether source and target use the same store. A shared store is opened once and not copied. */
  shared: Record<keyof StoreLocations, boolean>;
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
export async function openMoveStores(from: StoresConfig, to: StoresConfig): Promise<MoveStores> {
  const closers = new Closers();
  const [source, target] = [locate(from), locate(to)];
  const shared = {
    postgres: source.postgres === target.postgres,
    graph: source.graph === target.graph,
    images: source.images === target.images,
  };

  const claim = async ({ dataDir }: StoresConfig) => {
    const directory = await claimDataDirectory(dataDir, { shared: false });
    closers.add(directory.release);
    return directory;
  };
  async function open(config: StoresConfig, directory: DataDirectory, other?: StoreSet): Promise<StoreSet> {
    let db = shared.postgres ? other?.db : undefined;
    if (!db) {
      const postgres = await openDatabase(config, directory, silentLog);
      closers.add(postgres.close);
      db = postgres.maintenanceDb;
    }
    const graph = (shared.graph && other?.graph) || (await openGraph(config, db, silentLog));
    if (graph !== other?.graph) closers.add(() => graph.close());
    const images = (shared.images && other?.images) || (await openImages(config, directory, silentLog));
    if (images !== other?.images) closers.add(() => images.close());
    return { location: locate(config), directory, db, graph, images };
  }

  try {
    const directory = await claim(from);
    const opened = await open(from, directory).catch(throwNaming('Source'));
    const isSameDirectory = resolve(from.dataDir) === resolve(to.dataDir);
    const target = open(to, isSameDirectory ? directory : await claim(to), opened).catch(throwNaming('Target'));
    return { source: opened, target: await target, shared, close: closers.close };
  } catch (error) {
    return closers.closeAfter(error);
  }
}
