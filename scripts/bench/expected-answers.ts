import { sql } from 'kysely';
import type { BareStores } from '../../db/stores.js';

/** A post as the API should return it to one viewer. */
export interface ExpectedPost {
  id: number;
  title: string;
  text: string;
  image: null;
  author_id: number;
  author_username: string;
  created_at: string;
  like_count: number;
  liked_by_me: boolean;
}

/** The expected responses, computed from a full scan of the stores so that they do not depend on the service's own queries. */
export interface ExpectedAnswers {
  /** Returns the ids of all posts that the viewer can see, newest first. */
  visiblePostIds(viewer: number): Iterable<number>;
  /** Returns a post as the viewer should see it. Throws if the post does not exist. */
  post(viewer: number, id: number): ExpectedPost;
  /** Returns the id of the newest post that the viewer cannot see, if any. */
  firstHiddenPostId(viewer: number): number | undefined;
}

interface Row {
  id: number;
  title: string;
  text: string;
  author_id: number;
  author_username: string;
  author_private: boolean;
  created_at: string;
}

const POSTS_PER_QUERY = 10_000;
const PEOPLE_PER_QUERY = 500;

/**
 * Scans the stores and computes the expected responses.
 *
 * @param viewers the ids of the accounts that send the requests
 */
export async function readExpectedAnswers(
  { maintenanceDb, graph }: BareStores,
  viewers: readonly number[],
): Promise<ExpectedAnswers> {
  const posts: Row[] = [];
  for (let last = 0; ; last = posts.at(-1)?.id ?? 0) {
    const { rows } = await sql<Row>`
      select posts.id, title, text, author_id, posts.created_at, username as author_username, private as author_private
      from posts join accounts on accounts.id = author_id
      where posts.id > ${last} order by posts.id limit ${POSTS_PER_QUERY}`.execute(maintenanceDb);
    for (const row of rows) posts.push(row);
    if (rows.length < POSTS_PER_QUERY) break;
  }
  posts.sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.id - a.id);

  const likes = new Map<number, number>();
  const likedBy = new Map(viewers.map((viewer) => [viewer, new Set<number>()]));
  const friendsOf = new Map(viewers.map((viewer) => [viewer, new Set<number>()]));
  for (let last = 0; ; ) {
    const people = await graph.snapshot.personIds(last, PEOPLE_PER_QUERY);
    last = people.at(-1) ?? 0;
    if (people.length === 0) break;
    const batch = new Set(people);
    const edges = await graph.snapshot.edgesOf(people);
    for (const { person, post } of edges.likes) {
      likes.set(post, (likes.get(post) ?? 0) + 1);
      likedBy.get(person)?.add(post);
    }
    for (const { person, friend } of edges.friendships) if (batch.has(person)) friendsOf.get(person)?.add(friend);
  }

  const canSee = (viewer: number, { author_id, author_private }: Row) =>
    !author_private || author_id === viewer || (friendsOf.get(viewer)?.has(author_id) ?? false);
  const byId = new Map(posts.map((post) => [post.id, post]));

  return {
    *visiblePostIds(viewer) {
      for (const post of posts) if (canSee(viewer, post)) yield post.id;
    },
    post(viewer, id) {
      const row = byId.get(id);
      if (!row) throw new Error(`Post ${id} does not exist`);
      return {
        id,
        title: row.title,
        text: row.text,
        image: null,
        author_id: row.author_id,
        author_username: row.author_username,
        created_at: row.created_at,
        like_count: likes.get(id) ?? 0,
        liked_by_me: likedBy.get(viewer)?.has(id) ?? false,
      };
    },
    firstHiddenPostId: (viewer) => posts.find((post) => !canSee(viewer, post))?.id,
  };
}
