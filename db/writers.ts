import type { SocialGraph } from './graph/index.js';
import { type LikeChange, type LikeOutcome, setLikes } from './likes.js';
import { insertPendingImages } from './outbox/pending-images.js';
import type { Database } from './postgres/index.js';
import { touchSessions } from './sessions.js';
import { batched } from './support/batch.js';
import { type Observer, observedBatches } from './support/observer.js';

/** Writes that are batched across concurrent requests, with one transaction per batch: see `support/batch.ts`. */
export interface Writers {
  setLike(change: LikeChange): Promise<LikeOutcome>;
  /** Inserts the entry of an image that will be stored, and returns its id: see `pending-images.ts`. */
  insertPendingImage(name: string): Promise<number>;
  /** Sets `last_used_at` of a session to the current time. */
  touchSession(id: string): Promise<void>;
}

/**
 * Each change takes up to three advisory locks. All clients of PostgreSQL share its lock table, which by default has room for
 * 64 locks per connection. While the graph is slow, larger batches of a few processes could fill it, and statements of all
 * kinds would fail.
 */
const MAX_LIKES_PER_BATCH = 100;

export function createWriters(
  stores: { db: Database; graphTransactions: Database; graph: SocialGraph },
  observer: Observer,
): Writers {
  const batchOptions = (name: keyof Writers) => observedBatches(observer, name);
  return {
    setLike: batched((changes) => setLikes(stores, changes), {
      ...batchOptions('setLike'),
      maxBatchSize: MAX_LIKES_PER_BATCH,
    }),
    insertPendingImage: batched((names) => insertPendingImages(stores.db, names), batchOptions('insertPendingImage')),
    touchSession: batched(async (ids) => {
      await touchSessions(stores.db, ids);
      return ids.map(() => undefined);
    }, batchOptions('touchSession')),
  };
}
