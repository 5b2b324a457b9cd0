import * as cypher from './cypher.js';
import type { Like, Nodes } from './index.js';
import type { Run } from './neo4j-session.js';

// What requests and looks at everything do alike.

export const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

/** By post and then by person: who locks the same nodes does it in the same order. */
export const inOrder = (likes: readonly Like[]) => likes.toSorted((a, b) => a.post - b.post || a.person - b.person);

export const ensureNodes =
  ({ people, posts }: Nodes) =>
  async (run: Run) => {
    if (people.length > 0) await run(cypher.ENSURE_PEOPLE, { people });
    if (posts.length > 0) await run(cypher.ENSURE_POSTS, { posts });
  };
