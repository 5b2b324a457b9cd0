import { batched } from './batch.js';
import type { SocialGraph } from './graph/index.js';
import { type LikeOutcome, type LikeWish, setLikes } from './likes.js';
import type { Database } from './postgres.js';
import { touchSessions } from './sessions.js';

/** The writes that go together across the requests in flight, one transaction for a whole batch: see `batched`. */
export interface Writers {
  setLike(wish: LikeWish): Promise<LikeOutcome>;
  touchSession(id: string): Promise<void>;
}

export function createWriters(db: Database, graph: SocialGraph): Writers {
  return {
    setLike: batched((wishes) => setLikes(db, graph, wishes)),
    touchSession: batched(async (ids) => {
      await touchSessions(db, ids);
      return ids.map(() => undefined);
    }),
  };
}
