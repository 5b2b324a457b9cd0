import { findAccounts } from './accounts.js';
import type { SocialGraph } from './graph/index.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { lockShared } from './postgres/locks.js';
import { findPostOwners } from './posts.js';
import { friendsLookup, type RelationsQuery, readRelations } from './relations.js';
import { batched } from './support/batch.js';
import { failpoint } from './support/failpoints.js';
import { canSee } from './visibility.js';

export interface LikeChange {
  person: number;
  post: number;
  liked: boolean;
}

interface Stores {
  graphTransactions: Database;
  graph: SocialGraph;
}

/** `notVisible` is what the person cannot see, be it there or not; `accountDeleted` is a person whose account is. */
export type LikeOutcome = 'done' | 'notVisible' | 'accountDeleted';

/**
 * Sets or clears many likes in one transaction. The locks keep the posts and all the accounts concerned from being deleted
 * until the graph has been written, so that no like outlives its post or its person.
 */
export async function setLikes(
  { graphTransactions, graph }: Stores,
  wishes: readonly LikeChange[],
): Promise<LikeOutcome[]> {
  return graphTransactions.transaction().execute(async (trx) => {
    const authors = [...(await findPostOwners(trx, postsOf(wishes))).values()].map(({ id }) => id);
    await lockShared(trx, { accounts: [...wishes.map(({ person }) => person), ...authors], posts: postsOf(wishes) });
    const within = graph.within(trx);
    const outcomes = await checkVisibility(trx, within, wishes);
    const allowed = wishes.filter((_, index) => outcomes[index] === 'done');
    const liked = allowed.filter((wish) => wish.liked);
    const unliked = allowed.filter((wish) => !wish.liked);
    if (liked.length > 0) await within.like(liked);
    if (unliked.length > 0) await within.unlike(unliked);
    failpoint('likes written');
    return outcomes;
  });
}

const postsOf = (wishes: readonly LikeChange[]) => wishes.map(({ post }) => post);

async function checkVisibility(
  trx: DatabaseTransaction,
  graph: SocialGraph,
  wishes: readonly LikeChange[],
): Promise<LikeOutcome[]> {
  const people = await findAccounts(
    trx,
    wishes.map(({ person }) => person),
  );
  const owners = await findPostOwners(trx, postsOf(wishes));
  const askFriends = friendsLookup(batched((questions: RelationsQuery[]) => readRelations(graph, questions)));
  return Promise.all(
    wishes.map(async (wish, index) => {
      if (!people[index]) return 'accountDeleted';
      return (await canSee(wish.person, owners.get(wish.post), askFriends)) ? 'done' : 'notVisible';
    }),
  );
}
