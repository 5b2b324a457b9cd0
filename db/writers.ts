import type { SocialGraph } from './graph/index.js';
import { type LikeChange, type LikeOutcome, setLikes } from './likes.js';
import type { Database } from './postgres/index.js';
import { touchSessions } from './sessions.js';
import { batched } from './support/batch.js';
import { noopObserver, type Observer } from './support/observer.js';

/** The writes that go together across the requests in flight, one transaction for a whole batch: see `batched`. */
export interface Writers {
  setLike(wish: LikeChange): Promise<LikeOutcome>;
  touchSession(id: string): Promise<void>;
}

export function createWriters(
  stores: { db: Database; graphTransactions: Database; graph: SocialGraph },
  observer: Observer = noopObserver,
): Writers {
  const reportBatchSize = (name: keyof Writers) => ({ onBatch: (size: number) => observer.batch(name, size) });
  return {
    setLike: batched((wishes) => setLikes(stores, wishes), reportBatchSize('setLike')),
    touchSession: batched(async (ids) => {
      await touchSessions(stores.db, ids);
      return ids.map(() => undefined);
    }, reportBatchSize('touchSession')),
  };
}
