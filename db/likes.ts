import { findAccounts } from './accounts.js';
import type { SocialGraph } from './graph/index.js';
import type { Database, DatabaseTransaction } from './postgres/index.js';
import { lockShared } from './postgres/locks.js';
import { findPostOwners } from './posts.js';
import { friendsBy, readTies, type TiesQuestion } from './relations.js';
import { batched } from './support/batch.js';
import { reached } from './support/failpoints.js';
import { canSee } from './visibility.js';

export interface LikeWish {
  person: number;
  post: number;
  liked: boolean;
}

interface Stores {
  graphDb: Database;
  graph: SocialGraph;
}

/** `hidden` is what the person cannot see, be it there or not; `gone` is a person whose account is. */
export type LikeOutcome = 'done' | 'hidden' | 'gone';

/**
 * Sets or clears many likes in one transaction. The locks keep the posts and all the accounts concerned from being deleted
 * until the graph has been written, so that no like outlives its post or its person.
 */
export async function setLikes({ graphDb, graph }: Stores, wishes: readonly LikeWish[]): Promise<LikeOutcome[]> {
  return graphDb.transaction().execute(async (trx) => {
    const authors = [...(await findPostOwners(trx, postsOf(wishes))).values()].map(({ id }) => id);
    await lockShared(trx, { accounts: [...wishes.map(({ person }) => person), ...authors], posts: postsOf(wishes) });
    const within = graph.within(trx);
    const outcomes = await judge(trx, within, wishes);
    const allowed = wishes.filter((_, index) => outcomes[index] === 'done');
    const liked = allowed.filter((wish) => wish.liked);
    const unliked = allowed.filter((wish) => !wish.liked);
    if (liked.length > 0) await within.like(liked);
    if (unliked.length > 0) await within.unlike(unliked);
    reached('likes written');
    return outcomes;
  });
}

const postsOf = (wishes: readonly LikeWish[]) => wishes.map(({ post }) => post);

async function judge(
  trx: DatabaseTransaction,
  graph: SocialGraph,
  wishes: readonly LikeWish[],
): Promise<LikeOutcome[]> {
  const people = await findAccounts(
    trx,
    wishes.map(({ person }) => person),
  );
  const owners = await findPostOwners(trx, postsOf(wishes));
  const askFriends = friendsBy(batched((questions: TiesQuestion[]) => readTies(graph, questions)));
  return Promise.all(
    wishes.map(async (wish, index) => {
      if (!people[index]) return 'gone';
      return (await canSee(wish.person, owners.get(wish.post), askFriends)) ? 'done' : 'hidden';
    }),
  );
}
