import { sql } from 'kysely';
import type { BareStores } from '../../db/stores.js';

/** A post as one viewer should get it. */
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

/** What the stores hold, read in the plainest way there is and all at once: nothing of it goes by the service's own queries. */
export interface Truth {
  /** All that this viewer may see, newest first. */
  visible(viewer: number): Iterable<number>;
  post(viewer: number, id: number): ExpectedPost;
  hidden(viewer: number): number | undefined;
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

const PAGE = 10_000;
const PEOPLE = 500;

/** @param viewers for whom questions will be asked */
export async function readTruth({ maintenanceDb, graph }: BareStores, viewers: readonly number[]): Promise<Truth> {
  const posts: Row[] = [];
  for (let last = 0; ; last = posts.at(-1)?.id ?? 0) {
    const { rows } = await sql<Row>`
      select posts.id, title, text, author_id, posts.created_at, username as author_username, private as author_private
      from posts join accounts on accounts.id = author_id
      where posts.id > ${last} order by posts.id limit ${PAGE}`.execute(maintenanceDb);
    for (const row of rows) posts.push(row);
    if (rows.length < PAGE) break;
  }
  posts.sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.id - a.id);

  const likes = new Map<number, number>();
  const likedBy = new Map(viewers.map((viewer) => [viewer, new Set<number>()]));
  const friendsOf = new Map(viewers.map((viewer) => [viewer, new Set<number>()]));
  for (let last = 0; ; ) {
    const people = await graph.snapshot.personIds(last, PEOPLE);
    last = people.at(-1) ?? 0;
    if (people.length === 0) break;
    const here = new Set(people);
    const ties = await graph.snapshot.edgesOf(people);
    for (const { person, post } of ties.likes) {
      likes.set(post, (likes.get(post) ?? 0) + 1);
      likedBy.get(person)?.add(post);
    }
    for (const { person, friend } of ties.friendships) if (here.has(person)) friendsOf.get(person)?.add(friend);
  }

  const sees = (viewer: number, { author_id, author_private }: Row) =>
    !author_private || author_id === viewer || (friendsOf.get(viewer)?.has(author_id) ?? false);
  const byId = new Map(posts.map((post) => [post.id, post]));

  return {
    *visible(viewer) {
      for (const post of posts) if (sees(viewer, post)) yield post.id;
    },
    post(viewer, id) {
      const row = byId.get(id);
      if (!row) throw new Error(`there is no post ${id}`);
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
    hidden: (viewer) => posts.find((post) => !sees(viewer, post))?.id,
  };
}
