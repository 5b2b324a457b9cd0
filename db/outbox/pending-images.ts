import { randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { ImageStore } from '../images/index.js';
import { NOW, secondsFromNow } from '../postgres/clock.js';
import type { Database, DatabaseTransaction } from '../postgres/index.js';
import type { ImageWithQuota } from '../storage-quota.js';
import { StoreUnavailableError } from '../support/errors.js';
import { failpoint } from '../support/failpoints.js';
import type { Outbox } from './index.js';

/**
 * Images are stored before the rows that refer to them, so that no row refers to a missing image.
 *
 * An outbox entry that is due in 15 minutes is inserted first. Then the image is stored. Then the transaction that writes the
 * row claims the image: it deletes the entry, and fails if the entry is due. The outbox removes an image with a due entry if
 * no row refers to it. So a crash at any point leaves at most an entry, whose delivery removes the image. An entry can be
 * claimed only before it is due and delivered only after, by PostgreSQL's clock: never both.
 */

/** A stored image that no row refers to yet. */
export interface PendingImage extends ImageWithQuota {
  name: string;
  entry: number;
}

interface Stores {
  db: Database;
  images: ImageStore;
  outbox: Outbox;
}

/** Far longer than storing an image and committing its row take. */
const CLAIM_DEADLINE = secondsFromNow(15 * 60);

/**
 * Stores the file at `path` under a random name, and passes the image to `commit`, whose transaction has to claim it. An
 * unclaimed image is removed.
 *
 * @param extension without the dot
 */
export async function withPendingImage<Result>(
  { db, images, outbox }: Stores,
  { path, extension, bytes, storageMaxBytes }: ImageWithQuota & { path: string; extension: string },
  commit: (image: PendingImage) => Promise<Result>,
): Promise<Result> {
  const name = `${randomBytes(16).toString('hex')}.${extension}`;
  const { id: entry } = await db
    .insertInto('outbox')
    .values({ kind: 'image', key: name, due_at: CLAIM_DEADLINE })
    .returning('id')
    .executeTakeFirstOrThrow();
  try {
    failpoint('image enqueued');
    await images.put(name, path);
    failpoint('image stored');
    return await commit({ name, entry, bytes, storageMaxBytes });
  } finally {
    // An error here must not fail a committed request. Unclaimed images are removed after the deadline anyway.
    const unclaimed = await makeDue(db, entry).catch(() => false);
    if (unclaimed) await outbox.deliver([{ id: entry, kind: 'image', key: name }]);
  }
}

/** Makes an entry due. Returns false if its image was claimed. */
async function makeDue(db: Database, entry: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('outbox')
    .set({ due_at: NOW })
    .where('id', '=', entry)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Claims the image in the transaction that writes the row that refers to it.
 *
 * @throws StoreUnavailableError if the claim deadline has passed, since the image may already be removed
 */
export async function claimImage(trx: DatabaseTransaction, image: PendingImage): Promise<void> {
  const { rows } = await claimImageIf(image, sql`true`).execute(trx);
  if (rows.length === 0) throw new StoreUnavailableError('images');
}

/**
 * Builds the statement that claims the image if a condition holds. It returns no row if nothing was claimed. `attempts = 0`
 * excludes an entry whose removal failed: it was rescheduled, but the image may already be removed.
 */
export const claimImageIf = ({ entry }: PendingImage, condition: RawBuilder<unknown>) =>
  sql`delete from outbox where id = ${entry} and due_at > ${NOW} and attempts = 0 and ${condition} returning id`;
