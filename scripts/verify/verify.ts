import { sql } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import type { Log } from '../../db/support/log.js';
import { checkAuthors } from './authors.js';
import { requireJoined } from './belonging.js';
import { checkIds } from './ids.js';
import { checkNamedImages, checkStoredImages, PICTURES, POST_IMAGES } from './images.js';
import type { Inspection, Progress } from './inspection.js';
import { checkNodes, checkRows, PEOPLE, POSTS } from './nodes.js';
import { checkOutbox, readWaiting, type Waiting } from './outbox.js';
import { createRepair } from './repair.js';
import { createFindings, type Finding } from './rules.js';
import { checkStoredBytes } from './stored-bytes.js';
import { checkTies } from './ties.js';

export type { Finding, Progress, Waiting };

export interface Verdict {
  findings: Finding[];
  /** As it is at the end. */
  waiting: Waiting[];
}

interface Options {
  /** Whether what can be mended is. */
  repair: boolean;
  log: Log;
  progress?: Progress;
  pageSize?: number;
}

const PAGE_SIZE = 1000;

const SILENT: Progress = { begin() {}, advance() {}, end() {} };

/**
 * Looks at all that the stores hold, and says where they disagree; PostgreSQL's rows are the truth. The service may be
 * running: what looks wrong is looked at again before it counts, and what waits in the outbox is about to be right.
 *
 * @throws StoresDisagree when they are not each other's
 * @throws StoreUnavailable
 */
export async function verify(
  stores: Inspection['stores'],
  { repair: mending, log, progress = SILENT, pageSize = PAGE_SIZE }: Options,
): Promise<Verdict> {
  await requireJoined(stores);
  const findings = createFindings();
  const repair = mending ? createRepair(stores, log) : undefined;
  const inspection: Inspection = { stores, findings, repair, progress, pageSize };
  try {
    for (const { subject, expected, check } of steps(stores, await countRows(stores.maintenanceDb))) {
      progress.begin(subject, expected);
      await check(inspection).finally(() => progress.end());
    }
    return { findings: findings.all(), waiting: await readWaiting(stores.maintenanceDb) };
  } finally {
    await repair?.stop();
  }
}

interface Step {
  subject: string;
  /** Roughly how many things there are to look at. */
  expected: number;
  check(inspection: Inspection): Promise<void>;
}

/** In the order of the rules. Tables need no nodes of their own: a row without ties is not in the graph then. */
function steps({ graph }: Inspection['stores'], rows: Rows): Step[] {
  const nodesOfRows: Step[] = [
    { subject: 'accounts', expected: rows.accounts, check: (inspection) => checkRows(inspection, PEOPLE) },
    { subject: 'posts', expected: rows.posts, check: (inspection) => checkRows(inspection, POSTS) },
  ];
  return [
    { subject: 'ids', expected: 0, check: checkIds },
    { subject: 'people in the graph', expected: rows.accounts, check: (inspection) => checkNodes(inspection, PEOPLE) },
    { subject: 'posts in the graph', expected: rows.posts, check: (inspection) => checkNodes(inspection, POSTS) },
    ...(graph.kind === 'embedded' ? [] : nodesOfRows),
    { subject: 'ties of people', expected: rows.accounts, check: checkTies },
    { subject: 'stored images', expected: rows.pictures + rows.images, check: checkStoredImages },
    { subject: 'pictures', expected: rows.pictures, check: (inspection) => checkNamedImages(inspection, PICTURES) },
    {
      subject: 'images of posts',
      expected: rows.images,
      check: (inspection) => checkNamedImages(inspection, POST_IMAGES),
    },
    { subject: 'authors', expected: 0, check: checkAuthors },
    { subject: 'stored bytes', expected: 0, check: checkStoredBytes },
    { subject: 'outbox', expected: 0, check: checkOutbox },
  ];
}

interface Rows {
  accounts: number;
  pictures: number;
  posts: number;
  images: number;
}

async function countRows(db: Database): Promise<Rows> {
  const { rows } = await sql<Rows>`
    select * from
      (select count(*) as accounts, count(picture) as pictures from accounts) a,
      (select count(*) as posts, count(image) as images from posts) p`.execute(db);
  return rows[0] ?? { accounts: 0, pictures: 0, posts: 0, images: 0 };
}
