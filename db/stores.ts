import { claimDataDirectory, type DataDirectory } from './data-directory.js';
import { embeddedGraph } from './graph/embedded.js';
import type { SocialGraph } from './graph/index.js';
import { diskImages } from './images/disk.js';
import type { ImageStore } from './images/index.js';
import { migrate } from './migrate.js';
import { createOutbox, type Outbox } from './outbox.js';
import { type Database, openEmbeddedPostgres } from './postgres.js';
import { createReaders, type Readers } from './readers.js';
import { purgeExpiredSessions } from './sessions.js';
import { createWriters, type Writers } from './writers.js';

export interface Stores {
  db: Database;
  graph: SocialGraph;
  images: ImageStore;
  outbox: Outbox;
  read: Readers;
  write: Writers;
  directory: DataDirectory;
  close(): Promise<void>;
}

interface Log {
  warn(details: object, message: string): void;
}

const PURGE_INTERVAL = 10 * 60 * 1000;

/**
 * Opens every store, brings the schema up to date, and starts what runs in the background.
 *
 * @throws DataDirectoryInUse
 */
export async function openStores({ dataDir }: { dataDir: string }, log: Log): Promise<Stores> {
  const directory = await claimDataDirectory(dataDir);
  const { db, close } = await openEmbeddedPostgres(directory.postgres);
  await migrate(db);
  const graph = embeddedGraph(db);
  const images = diskImages(directory.images);
  const outbox = createOutbox({ db, graph, images, log });
  outbox.start();
  const purge = setInterval(() => {
    purgeExpiredSessions(db).catch((error) => log.warn({ err: error }, 'expired sessions could not be purged'));
  }, PURGE_INTERVAL);
  return {
    db,
    graph,
    images,
    outbox,
    read: createReaders(db, graph),
    write: createWriters(db, graph),
    directory,
    async close() {
      clearInterval(purge);
      await outbox.stop();
      await close();
      await directory.release();
    },
  };
}
