import { randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { ImageStore } from '../images/index.js';
import { after, NOW } from '../postgres/clock.js';
import type { Database, DatabaseTransaction } from '../postgres/index.js';
import type { Sized } from '../storage-quota.js';
import { StoreUnavailableError } from '../support/errors.js';
import { failpoint } from '../support/failpoints.js';
import type { Outbox } from './index.js';

/** Bytes that are stored, and are removed when `due` comes before a row has claimed them. */
export interface PendingImage extends Sized {
  name: string;
  entry: number;
}

interface Stores {
  db: Database;
  images: ImageStore;
  outbox: Outbox;
}

/** Far longer than from the first byte written to the row's commit. */
const DUE_AT = after(15 * 60);

/**
 * Stores the file at `path` before the row that will name it, and passes it on to `commit`, whose transaction has to claim
 * it. Bytes that it has not claimed go again. A crash in between leaves the outbox entry, and that removes them.
 *
 * @param extension without the dot; with 128 random bits before it, it is the image's name
 */
export async function withPendingImage<Result>(
  { db, images, outbox }: Stores,
  { path, extension, bytes, storageMaxBytes }: Sized & { path: string; extension: string },
  commit: (image: PendingImage) => Promise<Result>,
): Promise<Result> {
  const name = `${randomBytes(16).toString('hex')}.${extension}`;
  const { id: entry } = await db
    .insertInto('outbox')
    .values({ kind: 'image', key: name, due_at: DUE_AT })
    .returning('id')
    .executeTakeFirstOrThrow();
  try {
    failpoint('image noted');
    await images.put(name, path);
    failpoint('image stored');
    return await commit({ name, entry, bytes, storageMaxBytes });
  } finally {
    // What has been committed is done, whether or not this can be asked: unclaimed bytes go when they are due.
    const unclaimed = await makeDue(db, entry).catch(() => false);
    if (unclaimed) await outbox.deliver([entry]);
  }
}

async function makeDue(db: Database, entry: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('outbox')
    .set({ due_at: NOW })
    .where('id', '=', entry)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Makes the image the row's, in the row's own transaction.
 *
 * The entry may be claimed only before it is due and swept only after, by one clock: whatever either of them sees, never
 * both go ahead. A sweep that has failed is put off, but it has been tried.
 *
 * @throws StoreUnavailable when it took so long that the bytes are being removed
 */
export async function claimImage(trx: DatabaseTransaction, image: PendingImage): Promise<void> {
  const { rows } = await claimWhere(image, sql`true`).execute(trx);
  if (rows.length === 0) throw new StoreUnavailableError('images');
}

/** The query that claims it if a condition holds. It answers nothing when it has not. */
export const claimWhere = ({ entry }: PendingImage, condition: RawBuilder<unknown>) =>
  sql`delete from outbox where id = ${entry} and due_at > ${NOW} and attempts = 0 and ${condition} returning id`;
