import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../postgres/index.js';
import {
  type BulkAccess,
  type FriendRequest,
  type Friendship,
  type Like,
  MAX_EDGES_PER_REMOVAL,
  type SocialGraph,
} from './index.js';

interface RelationsRow {
  friendships: Friendship[];
  likes: [post: number, count: number, likers: number[]][];
}

/**
 * Returns the graph as tables in PostgreSQL. Edges are stored without nodes. A pair of people has one row, with `lo` < `hi`, so
 * a friendship cannot be duplicated or one-sided. `requester` is null if the two are friends.
 */
export function tableGraph(db: Database): SocialGraph {
  /** Builds a condition that matches the row of two people, which is a friendship or a pending request. */
  const isPair = (a: number, b: number) => sql<SqlBool>`lo = ${Math.min(a, b)} and hi = ${Math.max(a, b)}`;

  /** Deletes the row of two people if the condition holds. Returns whether a row was deleted. */
  async function deletePairIf(a: number, b: number, condition: RawBuilder<SqlBool>): Promise<boolean> {
    const { numDeletedRows } = await db
      .deleteFrom('graph_friendships')
      .where(isPair(a, b))
      .where(condition)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** Deletes at most `MAX_EDGES_PER_REMOVAL` of the rows that meet the condition. Returns false if more may be left. */
  async function removeSome(
    table: 'graph_likes' | 'graph_friendships',
    condition: RawBuilder<SqlBool>,
  ): Promise<boolean> {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where ${condition} limit ${MAX_EDGES_PER_REMOVAL}))`.execute(db);
    return Number(numAffectedRows) < MAX_EDGES_PER_REMOVAL;
  }

  return {
    // Also for tables on a PostgreSQL server: see `SocialGraph.kind`.
    kind: 'embedded',
    hasNodes: false,
    maxCommitDelayMs: 0,
    within: (trx) => tableGraph(trx),

    async relationsBetween(people, others, posts) {
      const { rows } = await sql<RelationsRow>`
        select
          (
            select coalesce(json_agg(json_build_object('person', person, 'friend', friend)), '[]') from (
              select lo as person, hi as friend from graph_friendships
              where lo = any(${people}::int8[]) and hi = any(${others}::int8[]) and requester is null
              union all
              select hi, lo from graph_friendships
              where hi = any(${people}::int8[]) and lo = any(${others}::int8[]) and requester is null
            ) friendships
          ) as friendships,
          (
            select coalesce(json_agg(json_build_array(post, count, likers)), '[]') from (
              select counts.post_id as post, counts.likes as count,
                coalesce(json_agg(person_id) filter (where person_id is not null), '[]') as likers
              from graph_like_counts counts
              left join graph_likes likes on likes.post_id = counts.post_id and person_id = any(${people}::int8[])
              where counts.post_id = any(${posts}::int8[])
              group by counts.post_id
            ) posts
          ) as likes`.execute(db);
      const { friendships, likes } = rows[0] ?? { friendships: [], likes: [] };
      return { friendships, likes: new Map(likes.map(([post, count, likers]) => [post, { count, likers }])) };
    },

    async friendsOfEach(people) {
      const { rows } = await sql<{ person: number; friends: number[] }>`
        select person, json_agg(friend) as friends from (
          select lo as person, hi as friend from graph_friendships
          where lo = any(${people}::int8[]) and requester is null
          union all
          select hi, lo from graph_friendships where hi = any(${people}::int8[]) and requester is null
        ) friendships group by person`.execute(db);
      const friendsByPerson = new Map(rows.map(({ person, friends }) => [person, friends]));
      return people.map((person) => friendsByPerson.get(person) ?? []);
    },

    async requestersOf(person) {
      const { rows } = await sql<{ id: number }>`
        select requester as id from graph_friendships where lo = ${person} and requester = hi
        union all
        select requester from graph_friendships where hi = ${person} and requester = lo`.execute(db);
      return rows.map(({ id }) => id);
    },

    like: (likes) => addLikes(db, likes),
    unlike: (likes) => removeLikes(db, likes),

    async request(from, to) {
      const pair = { lo: Math.min(from, to), hi: Math.max(from, to) };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('graph_friendships')
        .values({ ...pair, requester: from })
        .onConflict((conflict) => conflict.columns(['lo', 'hi']).doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows) return 'sent';
      const existing = await db
        .selectFrom('graph_friendships')
        .select('requester')
        .where(isPair(from, to))
        .executeTakeFirst();
      // The relation that caused the conflict has ended meanwhile.
      if (!existing) return this.request(from, to);
      if (existing.requester === null) return 'friends';
      return existing.requester === from ? 'alreadySent' : 'alreadyReceived';
    },

    async accept(by, from) {
      const { numUpdatedRows } = await db
        .updateTable('graph_friendships')
        .set({ requester: null })
        .where(isPair(by, from))
        .where('requester', '=', from)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    decline: (by, from) => deletePairIf(by, from, sql`requester = ${from}`),
    cancel: (by, to) => deletePairIf(by, to, sql`requester = ${by}`),
    unfriend: (by, friend) => deletePairIf(by, friend, sql`requester is null`),

    ensureNodes: async () => undefined,

    async removePerson(id) {
      const areLikesRemoved = await removeSome('graph_likes', sql`person_id = ${id}`);
      const areFriendshipsRemoved = await removeSome('graph_friendships', sql`lo = ${id} or hi = ${id}`);
      return areLikesRemoved && areFriendshipsRemoved;
    },
    removePost: (id) => removeSome('graph_likes', sql`post_id = ${id}`),

    bulk: bulkAccess(db),

    // The graph tables are in the same database as the table `installation`, so the graph always belongs to this installation.
    async claimedBy() {
      const installation = await db.selectFrom('installation').select('id').executeTakeFirst();
      return installation?.id;
    },
    claim: async () => undefined,
    release: async () => undefined,

    async highestIds() {
      const { rows } = await sql<{ person: number; post: number }>`
        select
          greatest(
            (select max(person_id) from graph_likes),
            (select max(hi) from graph_friendships),
            0) as person,
          greatest((select max(post_id) from graph_likes), 0) as post`.execute(db);
      return rows[0] ?? { person: 0, post: 0 };
    },

    // The tables are migrated with PostgreSQL, and use its connections.
    migrate: async () => undefined,
    warmUp: async () => undefined,
    close: async () => undefined,
  };
}

function bulkAccess(db: Database): BulkAccess {
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
      await addLikes(db, likes);
    },

    async removeEdges({ friendships, requests, likes }) {
      const { lo, hi, requester } = pairColumns(friendships, requests);
      await sql`
        delete from graph_friendships f
        using unnest(${lo}::int8[], ${hi}::int8[], ${requester}::int8[]) as given (lo, hi, requester)
        where f.lo = given.lo and f.hi = given.hi and f.requester is not distinct from given.requester`.execute(db);
      await removeLikes(db, likes);
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

async function addLikes(db: Database, likes: readonly Like[]): Promise<void> {
  await sql`
    insert into graph_likes (post_id, person_id)
    select distinct * from unnest(${postsOf(likes)}::int8[], ${peopleOf(likes)}::int8[])
    order by 1, 2
    on conflict do nothing`.execute(db);
}

async function removeLikes(db: Database, likes: readonly Like[]): Promise<void> {
  await sql`
    delete from graph_likes l
    using unnest(${postsOf(likes)}::int8[], ${peopleOf(likes)}::int8[]) as given (post, person)
    where l.post_id = given.post and l.person_id = given.person`.execute(db);
}

const peopleOf = (likes: readonly Like[]) => likes.map(({ person }) => person);
const postsOf = (likes: readonly Like[]) => likes.map(({ post }) => post);
