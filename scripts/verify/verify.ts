import type { OutboxKind } from '../../db/schema.js';
import type { BareStores } from '../../db/stores/index.js';
import {
  checkInstallation,
  type Installation,
  readInstallation,
  requireClaimedBy,
  StoresDisagreeError,
} from '../../db/stores/installation.js';
import { findAppliedMigrations, pendingMigrations } from '../../db/stores/migrate.js';
import type { Progress } from '../support/progress.js';
import { compareImages } from './images.js';
import { compareNodes } from './nodes.js';
import { findWrongStoredBytes } from './stored-bytes.js';

export type VerifiedStores = Pick<BareStores, 'db' | 'graphTransactions' | 'maintenanceDb' | 'graph' | 'images'>;

/** What was found to be wrong in one way. Without keys, nothing was. */
export interface Finding {
  title: string;
  /** Ids of accounts or posts, or names of images. */
  keys: readonly (number | string)[];
  /** What repairs it: the delivery of outbox entries of this kind, or a recalculation. Nothing restores a lost image. */
  repairedBy: OutboxKind | 'recalculation' | undefined;
}

const PAGE_SIZE = 1000;

/**
 * Compares the ids of accounts, posts and images in PostgreSQL with those in the graph and the image store, and the total size of
 * each account's images. The service may be running: changes that are in progress or in the outbox are not findings.
 *
 * @returns a finding for each comparison
 * @throws StoresDisagreeError if the stores are not set up or differ in their installation, or a migration or move is pending
 * @throws StoreUnavailableError
 */
export async function verify(
  stores: VerifiedStores,
  progress: Progress = () => undefined,
  pageSize = PAGE_SIZE,
): Promise<Finding[]> {
  const { maintenanceDb: db } = stores;
  await requireSameInstallation(stores);
  const accounts = await db
    .selectFrom('accounts')
    .select(({ fn }) => [fn.count<number>('id').as('rows'), fn.count<number>('picture').as('images')])
    .executeTakeFirstOrThrow();
  const posts = await db
    .selectFrom('posts')
    .select(({ fn }) => [fn.count<number>('id').as('rows'), fn.count<number>('image').as('images')])
    .executeTakeFirstOrThrow();
  const reportStep = (step: string, total: number) => (done: number) => progress(step, done, Math.max(done, total));
  const people = await compareNodes(stores, 'person', pageSize, reportStep('people', accounts.rows));
  const postNodes = await compareNodes(stores, 'post', pageSize, reportStep('posts', posts.rows));
  const images = await compareImages(stores, pageSize, reportStep('images', accounts.images + posts.images));
  return [
    { title: 'People in the graph without an account', keys: people.unexpected, repairedBy: 'person' },
    { title: 'Accounts without a person in the graph', keys: people.missing, repairedBy: 'person' },
    { title: 'Posts in the graph without a row', keys: postNodes.unexpected, repairedBy: 'post' },
    { title: 'Posts that the graph lacks', keys: postNodes.missing, repairedBy: 'post' },
    { title: 'Stored images that nothing refers to', keys: images.unexpected, repairedBy: 'image' },
    { title: 'Images that are not stored', keys: images.missing, repairedBy: undefined },
    {
      title: 'Accounts with a wrong total of stored bytes',
      keys: await findWrongStoredBytes(db),
      repairedBy: 'recalculation',
    },
  ];
}

/**
 * Checks that the stores belong to the same installation, without changing anything. A repair with the graph of another
 * installation would delete the whole graph. After a move that kept the graph or the image store, a repair from the old
 * PostgreSQL would delete what users have added since.
 */
export async function requireSameInstallation(stores: VerifiedStores): Promise<void> {
  const installation = await requireMigrated(stores);
  const { graph, images } = stores;
  requireClaimedBy(installation, 'graph', graph.kind, await graph.claimedBy());
  requireClaimedBy(installation, 'images', images.kind, await images.claimedBy());
}

/** Checks that PostgreSQL has the migrations of this version, and uses stores of these kinds. Reads only PostgreSQL. */
export async function requireMigrated({ db, graph, images }: VerifiedStores): Promise<Installation> {
  const installation = await readInstallation(db);
  if (installation && pendingMigrations(await findAppliedMigrations(db)).length > 0)
    throw new StoresDisagreeError('The database needs a migration: run npm run migrate first');
  if (!installation?.graph || !installation.images)
    throw new StoresDisagreeError('These stores are not set up: start the service first');
  return checkInstallation(db, { graph, images });
}
