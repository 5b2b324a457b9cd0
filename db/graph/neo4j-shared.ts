import * as cypher from './cypher.js';
import type { Like, Nodes } from './index.js';
import type { Run } from './neo4j-session.js';

export const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

/**
 * Sorts likes by post, then by person, so that concurrent transactions rarely lock nodes in opposite orders. The remaining
 * deadlocks are retried: see `neo4j-session.ts`.
 */
export const inLockOrder = (likes: readonly Like[]) => likes.toSorted((a, b) => a.post - b.post || a.person - b.person);

/** Returns a function that creates the missing nodes in a transaction. */
export const ensureNodes =
  ({ people, posts }: Nodes) =>
  async (run: Run) => {
    if (people.length > 0) await run(cypher.ENSURE_PEOPLE, { people });
    if (posts.length > 0) await run(cypher.ENSURE_POSTS, { posts });
  };
