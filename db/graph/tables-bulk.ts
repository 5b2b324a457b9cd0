import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/index.js';
import type { BulkAccess, FriendRequest, Friendship } from './index.js';

/**
 * Returns bulk access to the graph tables. A pair of people has one row, with `lo` < `hi`, so a friendship cannot be duplicated
 * or one-sided. `requester` is null if the two are friends.
 */
export function tableBulkAccess(db: Database): BulkAccess {
  const ids = async (query: RawBuilder<{ id: number }>) => (await query.execute(db)).rows.map(({ id }) => id);

  return {
    personIds: (after, limit) =>
      ids(sql`
        select id from (
          (select distinct lo as id from graph_friendships where lo > ${after} order by lo limit ${limit})
          union
          (select distinct hi from graph_friendships where hi > ${after} order by hi limit ${limit})
          union
          (select distinct person_id from graph_likes where person_id > ${after} order by person_id limit ${limit})
        ) person order by id limit ${limit}`),

    postIds: (after, limit) =>
      ids(sql`
        select distinct post_id as id from graph_likes where post_id > ${after} order by post_id limit ${limit}`),

    async edgesOf(people) {
      const { rows: pairs } = await sql<{ lo: number; hi: number; requester: number | null }>`
        select lo, hi, requester from graph_friendships where lo = any(${people}::int8[])
        union
        select lo, hi, requester from graph_friendships where hi = any(${people}::int8[])`.execute(db);
      const likes = await db
        .selectFrom('graph_likes')
        .select(['person_id as person', 'post_id as post'])
        .where(sql<boolean>`person_id = any(${people}::int8[])`)
        .execute();
      const friendships: Friendship[] = [];
      const requests: FriendRequest[] = [];
      for (const { lo, hi, requester } of pairs) {
        if (requester === null) friendships.push({ person: lo, friend: hi }, { person: hi, friend: lo });
        else requests.push({ from: requester, to: requester === lo ? hi : lo });
      }
      return { friendships, requests, likes };
    },

    // Edges are stored without nodes.
    ensureNodes: async () => undefined,

    async addEdges({ friendships, requests, likes }) {
      const { lo, hi, requester } = pairColumns(friendships, requests);
      await sql`
        insert into graph_friendships (lo, hi, requester)
        select * from unnest(${lo}::int8[], ${hi}::int8[], ${requester}::int8[])
        on conflict do nothing`.execute(db);
      await sql`
        insert into graph_likes (post_id, person_id)
        select * from unnest(${likes.map(({ post }) => post)}::int8[], ${likes.map(({ person }) => person)}::int8[])
        on conflict do nothing`.execute(db);
    },

    async removeEdges({ friendships, requests, likes }) {
      const { lo, hi, requester } = pairColumns(friendships, requests);
      await sql`
        delete from graph_friendships f
        using unnest(${lo}::int8[], ${hi}::int8[], ${requester}::int8[]) as given (lo, hi, requester)
        where f.lo = given.lo and f.hi = given.hi and f.requester is not distinct from given.requester`.execute(db);
      await sql`
        delete from graph_likes l
        using unnest(${likes.map(({ post }) => post)}::int8[], ${likes.map(({ person }) => person)}::int8[])
          as given (post, person)
        where l.post_id = given.post and l.person_id = given.person`.execute(db);
    },
  };
}

/** Converts friendships and requests to rows of `graph_friendships`. Returns one array per column. */
function pairColumns(friendships: readonly Friendship[], requests: readonly FriendRequest[]) {
  const pairs = [
    ...friendships.map(({ person, friend }) => ({ a: person, b: friend, requester: null })),
    ...requests.map(({ from, to }) => ({ a: from, b: to, requester: from })),
  ];
  return {
    lo: pairs.map(({ a, b }) => Math.min(a, b)),
    hi: pairs.map(({ a, b }) => Math.max(a, b)),
    requester: pairs.map(({ requester }) => requester),
  };
}
