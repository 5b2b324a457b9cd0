import { randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { ImageStore } from '../images/index.js';
import { NOW, secondsFromNow } from '../postgres/clock.js';
import type { Database, DatabaseTransaction } from '../postgres/index.js';
import type { ImageWithQuota } from '../storage-quota.js';
import { StoreUnavailableError } from '../support/errors.js';
import { failpoint } from '../support/failpoints.js';
import type { Outbox } from './index.js';

/*
 * Pending images: an image is stored before the row that refers to it, so that no row refers to a missing image.
 *
 * 1. An outbox entry that is due in 15 minutes is inserted.
 * 2. The image is stored under a random name.
 * 3. The transaction that writes the row claims the image: it deletes the entry, and fails if the entry is already due.
 *
 * If the third step fails, the entry is made due immediately, and its delivery removes the image. After a crash, or if the
 * second step fails, the entry becomes due after the 15 minutes: S3 may complete an upload after its call has timed out, so an
 * earlier removal could run before the image exists.
 *
 * An image cannot be both claimed and removed: by PostgreSQL's clock, an entry can be claimed only before it is due, and
 * delivered only after.
 */

/** A stored image that no row refers to yet. */
export interface PendingImage extends ImageWithQuota {
  name: string;
  entryId: number;
  /**
   * Set by `createPost` after the commit, to save the statement of `makeDue`. If it is not set, the image may nevertheless have
   * been claimed.
   */
  isClaimed?: boolean;
}

interface Stores {
  db: Database;
  images: ImageStore;
  outbox: Outbox;
  /** The batched `enqueueImages`: see `writers.ts`. */
  write: { enqueueImage(name: string): Promise<number> };
}

/**
 * An image can be claimed for 15 minutes. That is far longer than it takes to store it and to commit its row, even with the
 * maximum `S3_TIMEOUT` and an upload that S3 completes after the timeout.
 */
const CLAIM_DEADLINE = secondsFromNow(15 * 60);

/**
 * Stores the file at `path` under a random name, and passes the pending image to `commit`, whose transaction has to claim it.
 * Removes the image if `commit` does not claim it. Returns the result of `commit`. If the image cannot be stored, its entry
 * remains until it is due.
 *
 * @param extension without the dot
 */
export async function withPendingImage<Result>(
  { db, images, outbox, write }: Stores,
  { path, extension, bytes, storageMaxBytes }: ImageWithQuota & { path: string; extension: string },
  commit: (image: PendingImage) => Promise<Result>,
): Promise<Result> {
  const name = `${randomBytes(16).toString('hex')}.${extension}`;
  const entryId = await write.enqueueImage(name);
  const image: PendingImage = { name, entryId, bytes, storageMaxBytes };
  failpoint('image enqueued');
  await images.put(name, path);
  try {
    failpoint('image stored');
    return await commit(image);
  } finally {
    // Errors are ignored: the transaction may already be committed, and an unclaimed image is removed after the deadline.
    const isDue = !image.isClaimed && (await makeDue(db, entryId).catch(() => false));
    if (isDue) await outbox.deliver([{ id: entryId, kind: 'image', key: name }]);
  }
}

/** Inserts an entry for each image, due at the claim deadline. Returns the ids of the entries, in the order of the names. */
export async function enqueueImages(db: Database, names: readonly string[]): Promise<number[]> {
  const { rows } = await sql<{ id: number; key: string }>`
    insert into outbox (kind, key, due_at)
    select 'image', key, ${CLAIM_DEADLINE} from unnest(${names}::text[]) as key
    returning id, key`.execute(db);
  const ids = new Map(rows.map(({ id, key }) => [key, id]));
  return names.map((name) => ids.get(name) as number);
}

/** Makes an entry due now. Returns false if its image has been claimed. */
async function makeDue(db: Database, entryId: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('outbox')
    .set({ due_at: NOW })
    .where('id', '=', entryId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Claims an image. Call it in the transaction that writes the row that refers to the image.
 *
 * @throws StoreUnavailableError if the claim deadline has passed, because the image may already be removed
 */
export async function claimImage(trx: DatabaseTransaction, image: PendingImage): Promise<void> {
  const { rows } = await claimImageIf(image, sql`true`).execute(trx);
  if (rows.length === 0) throw new StoreUnavailableError('images');
}

/**
 * Builds a statement that claims an image if a condition holds. The statement returns no row if the image was not claimed.
 * `attempts = 0` excludes an entry whose delivery has failed: it was rescheduled and is not due, but its image may already have
 * been removed.
 */
export const claimImageIf = ({ entryId }: PendingImage, condition: RawBuilder<unknown>) =>
  sql`delete from outbox where id = ${entryId} and due_at > ${NOW} and attempts = 0 and ${condition} returning id`;
