import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { ImageFile, ImageStore } from '../images/index.js';
import { NOW, secondsFromNow } from '../postgres/clock.js';
import type { Database, DatabaseTransaction } from '../postgres/index.js';
import { StoreUnavailableError } from '../support/errors.js';
import { failpoint } from '../support/failpoints.js';
import type { WithEntries } from './entries.js';
import type { Outbox } from './index.js';

/*
 * Pending images: an image is stored before the row that refers to it, so that no row refers to a missing image.
 *
 * 1. `storeImage` inserts an outbox entry that is due in 15 minutes, and stores the image under a random name.
 * 2. The statement or transaction that writes the row claims the image: it deletes the entry, and fails if it is already due.
 * 3. If the row is not written, `discardImage` makes the entry due, and its delivery removes the image.
 *
 * If the first or the third step fails, or after a crash, the entry becomes due after the 15 minutes. After the first step, it
 * must not be due earlier, because S3 may complete an upload after its call has timed out.
 *
 * An image cannot be both claimed and removed: by PostgreSQL's clock, an entry can be claimed only before it is due, and
 * delivered only after.
 */

/** A stored image that no row refers to yet. */
export interface PendingImage {
  name: string;
  bytes: number;
  entryId: number;
}

/** The stores that writes with images need. */
export interface ImageWriteStores {
  db: Database;
  images: ImageStore;
  outbox: Outbox;
  write: { insertPendingImage(name: string): Promise<number> };
}

/**
 * An image can be claimed for 15 minutes. That is far longer than it takes to store it and to commit its row, even with the
 * maximum `S3_TIMEOUT` and an upload that S3 completes after the timeout.
 */
const CLAIM_DEADLINE = secondsFromNow(15 * 60);

/** Inserts the entries of images that will be stored. Returns the id of one entry for each name, in the order of the names. */
export async function insertPendingImages(db: Database, names: readonly string[]): Promise<number[]> {
  const rows = await db
    .insertInto('outbox')
    .columns(['kind', 'key', 'due_at'])
    .expression(sql`select 'image', name, ${CLAIM_DEADLINE} from unnest(${names}::text[]) as name`)
    .returning(['id', 'key'])
    .execute();
  const ids = new Map(rows.map(({ id, key }) => [key, id]));
  return names.map((name) => ids.get(name) as number);
}

/** Stores a file as a pending image. May move the file away from its path. */
export async function storeImage(
  { images, write }: ImageWriteStores,
  { path, extension, bytes }: ImageFile,
): Promise<PendingImage> {
  const name = `${randomBytes(16).toString('hex')}.${extension}`;
  const entryId = await write.insertPendingImage(name);
  failpoint('image enqueued');
  await images.put(name, path);
  failpoint('image stored');
  return { name, bytes, entryId };
}

/**
 * Builds a query for the entry of an image that can still be claimed. Not if its delivery has failed: it was rescheduled and is
 * not due, but the image may already have been removed.
 */
export const claimableImage = (db: Database, { entryId }: PendingImage) =>
  db.selectFrom('outbox').select('id').where('id', '=', entryId).where('due_at', '>', NOW).where('attempts', '=', 0);

/**
 * Claims an image. Call it in the transaction that writes the row that refers to the image.
 *
 * @throws StoreUnavailableError if the claim deadline has passed, because the image may already be removed
 */
export async function claimImage(trx: DatabaseTransaction, image: PendingImage): Promise<void> {
  const { numDeletedRows } = await trx
    .deleteFrom('outbox')
    .where('id', '=', claimableImage(trx, image))
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw claimDeadlinePassed();
}

export const claimDeadlinePassed = () =>
  new StoreUnavailableError('images', { cause: new Error('the write took longer than the claim deadline') });

/**
 * Removes an image, unless it was claimed: if the response to a commit was lost, the entry no longer exists. If the removal
 * fails, the image is removed after the claim deadline.
 */
export async function discardImage({ db, outbox }: ImageWriteStores, { entryId, name }: PendingImage): Promise<void> {
  const discard = db.updateTable('outbox').set({ due_at: NOW }).where('id', '=', entryId).execute();
  await discard.then(
    () => outbox.deliver([{ id: entryId, kind: 'image', key: name }]),
    () => undefined,
  );
}

/**
 * Awaits the transaction of a write. Delivers its outbox entries, or discards the image, if any, of a transaction that has
 * failed or written nothing. Returns the outcome.
 */
export async function completeWrite<Outcome>(
  stores: ImageWriteStores,
  image: PendingImage | null | undefined,
  transaction: Promise<WithEntries<Outcome>>,
): Promise<Outcome> {
  const outcome = await transaction.catch(async (error) => {
    if (image) await discardImage(stores, image);
    throw error;
  });
  if (outcome.entries) await stores.outbox.deliver(outcome.entries);
  else if (image) await discardImage(stores, image);
  return outcome;
}
