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
  /** Deletes the row of two people if it has this requester. Returns whether a row was deleted. */
  async function deletePair(a: number, b: number, requester: number | null): Promise<boolean> {
    const { numDeletedRows } = await db
      .deleteFrom('graph_friendships')
      .where((eb) => eb.and(pairOf(a, b)))
      .where('requester', 'is not distinct from', requester)
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
      const rows = await db
        .selectFrom(
          friendsOf(db, 'lo', people)
            .select(['lo as person', 'hi as friend'])
            .unionAll(friendsOf(db, 'hi', people).select(['hi as person', 'lo as friend']))
            .as('friendships'),
        )
        .select((eb) => ['person', eb.fn.jsonAgg(eb.ref('friend')).as('friends')])
        .groupBy('person')
        .execute();
      const friendsByPerson = new Map(rows.map(({ person, friends }) => [person, friends]));
      return people.map((person) => friendsByPerson.get(person) ?? []);
    },

    async requestersOf(person) {
      const requests = db.selectFrom('graph_friendships').select((eb) => eb.ref('requester').$notNull().as('id'));
      const rows = await requests
        .where('lo', '=', person)
        .whereRef('requester', '=', 'hi')
        .unionAll(requests.where('hi', '=', person).whereRef('requester', '=', 'lo'))
        .execute();
      return rows.map(({ id }) => id);
    },

    like: (likes) => addLikes(db, likes),
    unlike: (likes) => removeLikes(db, likes),

    async request(from, to) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('graph_friendships')
        .values({ ...pairOf(from, to), requester: from })
        .onConflict((conflict) => conflict.columns(['lo', 'hi']).doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows) return 'sent';
      const existing = await db
        .selectFrom('graph_friendships')
        .select('requester')
        .where((eb) => eb.and(pairOf(from, to)))
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
        .where((eb) => eb.and(pairOf(by, from)))
        .where('requester', '=', from)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    decline: (by, from) => deletePair(by, from, from),
    cancel: (by, to) => deletePair(by, to, by),
    unfriend: (by, friend) => deletePair(by, friend, null),

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
      const likes = await db
        .selectFrom('graph_likes')
        .select((eb) => [eb.fn.max('person_id').as('person'), eb.fn.max('post_id').as('post')])
        .executeTakeFirst();
      const friendships = await db
        .selectFrom('graph_friendships')
        .select((eb) => eb.fn.max('hi').as('person'))
        .executeTakeFirst();
      return { person: Math.max(likes?.person ?? 0, friendships?.person ?? 0), post: likes?.post ?? 0 };
    },

    // The tables are migrated with PostgreSQL, and use its connections.
    migrate: async () => undefined,
    warmUp: async () => undefined,
    close: async () => undefined,
  };
}

function bulkAccess(db: Database): BulkAccess {
  return {
    async personIds(after, limit) {
      const inFriendships = (side: 'lo' | 'hi') =>
        db
          .selectFrom('graph_friendships')
          .select((eb) => eb.ref(side).as('id'))
          .distinct()
          .where(side, '>', after)
          .orderBy('id')
          .limit(limit)
          .execute();
      const inLikes = db.selectFrom('graph_likes').select('person_id as id').distinct().where('person_id', '>', after);
      const likers = await inLikes.orderBy('id').limit(limit).execute();
      const rows = [...(await inFriendships('lo')), ...(await inFriendships('hi')), ...likers];
      const ids = new Set(rows.map(({ id }) => id));
      return [...ids].sort((a, b) => a - b).slice(0, limit);
    },

    async postIds(after, limit) {
      const posts = db.selectFrom('graph_likes').select('post_id as id').distinct().where('post_id', '>', after);
      return (await posts.orderBy('id').limit(limit).execute()).map(({ id }) => id);
    },

    async edgesOf(people) {
      const columns = ['lo', 'hi', 'requester'] as const;
      const pairs = await db
        .selectFrom('graph_friendships')
        .select(columns)
        .where((eb) => eb('lo', '=', eb.fn.any(eb.val(people))))
        .union(
          db
            .selectFrom('graph_friendships')
            .select(columns)
            .where((eb) => eb('hi', '=', eb.fn.any(eb.val(people)))),
        )
        .execute();
      const likes = await db
        .selectFrom('graph_likes')
        .select(['person_id as person', 'post_id as post'])
        .where((eb) => eb('person_id', '=', eb.fn.any(eb.val(people))))
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
  };
}

/** Returns the key of the row of two people, which is a friendship or a pending request. */
const pairOf = (a: number, b: number) => ({ lo: Math.min(a, b), hi: Math.max(a, b) });

/** Builds a query for the friendships whose `side` is one of these people. */
const friendsOf = (db: Database, side: 'lo' | 'hi', people: readonly number[]) =>
  db
    .selectFrom('graph_friendships')
    .where((eb) => eb(side, '=', eb.fn.any(eb.val(people))))
    .where('requester', 'is', null);

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
