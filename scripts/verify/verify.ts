import { sql } from 'kysely';
import {
  readInstallation,
  requireClaimedBy,
  requireKinds,
  requireMoveFinished,
  requireNotMoved,
  StoresDisagreeError,
} from '../../db/installation.js';
import { findAppliedMigrations, pendingMigrations } from '../../db/migrate.js';
import type { Database } from '../../db/postgres/index.js';
import type { Log } from '../../db/support/log.js';
import { withProgress } from '../support/pages.js';
import type { Progress } from '../support/progress.js';
import { checkIds } from './ids.js';
import { checkReferencedImages, checkStoredImages, PICTURES, POST_IMAGES } from './images.js';
import { checkNodes, checkRows, PEOPLE, POSTS } from './nodes.js';
import { checkOutbox, countPendingEntries, type PendingEntries } from './outbox.js';
import { createRepair } from './repair.js';
import { type CheckContext, createFindings, type Finding } from './rules.js';
import { checkStoredBytes } from './stored-bytes.js';

export interface VerifyResult {
  findings: Finding[];
  /** The outbox at the end of the run. */
  pending: PendingEntries[];
}

interface Options {
  /** Whether to repair violations where possible. */
  repair: boolean;
  log: Log;
  progress?: Progress;
  pageSize?: number;
}

const PAGE_SIZE = 1000;

/**
 * Checks that all stores agree with the rows in PostgreSQL, the source of truth, and repairs violations on request. The
 * service may be running: changes in progress and outbox entries that are not overdue are not violations.
 *
 * @throws StoresDisagreeError if the stores are not set up or differ in their installation, or a migration or move is pending
 * @throws StoreUnavailableError
 */
export async function verify(
  stores: CheckContext['stores'],
  { repair: shouldRepair, log, progress = () => {}, pageSize = PAGE_SIZE }: Options,
): Promise<VerifyResult> {
  await requireSameInstallation(stores);
  const findings = createFindings();
  const repair = shouldRepair ? createRepair(stores, log) : undefined;
  try {
    for (const { subject, expected, check } of listSteps(stores, await countRows(stores.maintenanceDb))) {
      const track: CheckContext['track'] = (pages) => withProgress(pages, subject, expected, progress);
      await check({ stores, findings, repair, track, pageSize });
    }
    return { findings: findings.all(), pending: await countPendingEntries(stores.maintenanceDb) };
  } finally {
    await repair?.stop();
  }
}

/**
 * Checks that the stores belong to the same installation, without changing anything. A repair with the graph of another
 * installation would delete the whole graph. After a move that kept the graph or the image store, a repair from the old
 * PostgreSQL would delete what users have added since.
 */
async function requireSameInstallation({ db, graph, images }: CheckContext['stores']): Promise<void> {
  const installation = await readInstallation(db);
  if (installation && pendingMigrations(await findAppliedMigrations(db)).length > 0) {
    throw new StoresDisagreeError('The database needs a migration: run npm run migrate first');
  }
  if (installation) {
    requireMoveFinished(installation);
    requireNotMoved(installation);
  }
  if (!installation?.graph || !installation.images) {
    throw new StoresDisagreeError('These stores are not set up: start the service first');
  }
  requireKinds(installation, { graph, images });
  requireClaimedBy(installation, 'graph', graph.kind, await graph.claimedBy());
  requireClaimedBy(installation, 'images', images.kind, await images.claimedBy());
}

interface Step {
  subject: string;
  /** The approximate number of items to check, 0 if unknown. */
  expected: number;
  check(context: CheckContext): Promise<void>;
}

/** Returns the checks in the order of the rules. A graph in tables has no nodes, so no row can lack one. */
function listSteps({ graph }: CheckContext['stores'], rows: RowCounts): Step[] {
  const rowChecks: Step[] = [
    { subject: 'accounts', expected: rows.accounts, check: (context) => checkRows(context, PEOPLE) },
    { subject: 'posts', expected: rows.posts, check: (context) => checkRows(context, POSTS) },
  ];
  return [
    { subject: 'ids', expected: 0, check: checkIds },
    { subject: 'people in the graph', expected: rows.accounts, check: (context) => checkNodes(context, PEOPLE) },
    { subject: 'posts in the graph', expected: rows.posts, check: (context) => checkNodes(context, POSTS) },
    ...(graph.hasNodes ? rowChecks : []),
    { subject: 'stored images', expected: rows.pictures + rows.images, check: checkStoredImages },
    { subject: 'pictures', expected: rows.pictures, check: (context) => checkReferencedImages(context, PICTURES) },
    {
      subject: 'images of posts',
      expected: rows.images,
      check: (context) => checkReferencedImages(context, POST_IMAGES),
    },
    { subject: 'stored bytes', expected: 0, check: checkStoredBytes },
    { subject: 'outbox', expected: 0, check: checkOutbox },
  ];
}

interface RowCounts {
  accounts: number;
  pictures: number;
  posts: number;
  images: number;
}

async function countRows(db: Database): Promise<RowCounts> {
  const { rows } = await sql<RowCounts>`
    select * from
      (select count(*) as accounts, count(picture) as pictures from accounts) a,
      (select count(*) as posts, count(image) as images from posts) p`.execute(db);
  return rows[0] ?? { accounts: 0, pictures: 0, posts: 0, images: 0 };
}
