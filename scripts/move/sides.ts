import { resolve } from 'node:path';
import type { SocialGraph } from '../../db/graph/index.js';
import type { ImageStore } from '../../db/images/index.js';
import type { Database } from '../../db/postgres/index.js';
import { openDatabase, openGraph, openImages, type StoresConfig } from '../../db/stores.js';
import { claimDataDirectory, type DataDirectory } from '../../db/support/data-directory.js';
import type { Log } from '../../db/support/log.js';

/** One of the two sets of stores. */
export interface Side {
  /** Where its PostgreSQL is: for people, without a password. */
  place: string;
  db: Database;
  graph: SocialGraph;
  images: ImageStore;
  directory: DataDirectory;
}

export interface Sides {
  source: Side;
  target: Side;
  /** Which stores both sides name. They are open once, and nothing is carried between them. */
  same: { postgres: boolean; graph: boolean; images: boolean };
  close(): Promise<void>;
}

/**
 * Opens two sets of stores, without a look at what they hold. Their data directories are claimed for this process alone, so
 * that no service on this machine runs on them.
 *
 * @throws DataDirectoryInUse
 */
export async function openSides(from: StoresConfig, to: StoresConfig, log: Log): Promise<Sides> {
  const opened: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closeOne of opened.reverse()) await closeOne();
  };
  const same = compare(from, to);

  const claim = async ({ dataDir }: StoresConfig) => {
    const directory = await claimDataDirectory(dataDir, { shared: false });
    opened.push(() => directory.release());
    return directory;
  };

  async function open(config: StoresConfig, directory: DataDirectory, beside?: Side): Promise<Side> {
    const side = { place: placeOf(config), directory };
    let db = same.postgres ? beside?.db : undefined;
    if (!db) {
      const postgres = await openDatabase(config, directory, log);
      opened.push(postgres.close);
      db = postgres.maintenanceDb;
    }
    const graph = (same.graph && beside?.graph) || (await openGraph(config, db, log));
    const images = (same.images && beside?.images) || (await openImages(config, directory, log));
    if (graph !== beside?.graph) opened.push(() => graph.close());
    if (images !== beside?.images) opened.push(() => images.close());
    return { ...side, db, graph, images };
  }

  try {
    const directory = await claim(from);
    const source = await open(from, directory);
    const target = await open(to, sameDirectory(from, to) ? directory : await claim(to), source);
    return { source, target, same, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function compare(from: StoresConfig, to: StoresConfig): Sides['same'] {
  const both = sameDirectory(from, to);
  const postgres =
    from.postgres && to.postgres ? from.postgres.url === to.postgres.url : from.postgres === to.postgres && both;
  return {
    postgres,
    graph: from.neo4j && to.neo4j ? from.neo4j.uri === to.neo4j.uri : from.neo4j === to.neo4j && postgres,
    images:
      from.s3 && to.s3
        ? from.s3.endpoint === to.s3.endpoint && from.s3.bucket === to.s3.bucket
        : from.s3 === to.s3 && both,
  };
}

const sameDirectory = (from: StoresConfig, to: StoresConfig) => resolve(from.dataDir) === resolve(to.dataDir);

function placeOf({ postgres, dataDir }: StoresConfig): string {
  if (!postgres) return resolve(dataDir);
  const { host, pathname } = new URL(postgres.url);
  return `postgres://${host}${pathname}`;
}
