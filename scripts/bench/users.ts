import { type RawBuilder, sql } from 'kysely';
import { type BareStores, openBareStores } from '../../db/stores.js';
import type { components } from '../../generated/types.js';
import { readConfig } from '../../handlers/config/index.js';

type Account = components['schemas']['Account'];
type Post = components['schemas']['Post'];

/** A user who sends requests, with the expected responses. */
export interface BenchUser {
  /** The body of `GET /auth/me`. */
  account: Account;
  token: string;
  /** The pages of 20 posts from offset 0 and from the offsets of the dataset. */
  pages: readonly (readonly Post[])[];
  hiddenPostId: number;
}

interface NewestPost {
  id: number;
  author: number;
  isPrivate: boolean;
}

const USER_COUNT = 10;
const MAX_LOGIN_ACCOUNTS = 500;

/**
 * Chooses users whose first pages differ, public ones first, so that others see their images. The first is the author of the
 * newest post, if public. Also returns emails for logins, and post ids.
 */
export async function readContent(environment: NodeJS.ProcessEnv, offsets: readonly number[]) {
  const stores = await openBareStores(readConfig(environment).stores, { info: () => undefined, warn: console.warn });
  try {
    const db = stores.maintenanceDb;
    const { rows: accounts } = await sql<Account>`
      select id, name, username, email from accounts order by private, id`.execute(db);
    const { rows: posts } = await sql<NewestPost>`
      select posts.id, author_id as author, private as "isPrivate"
      from posts join accounts on accounts.id = author_id
      order by posts.created_at desc, posts.id desc limit 2000`.execute(db);
    const [newest] = posts;
    const authorOfNewest = accounts.filter(({ id }) => id === newest?.author && !newest.isPrivate);
    const candidates = [...authorOfNewest, ...(await befriend(stores, accounts.slice(0, 2000), posts))];
    const users = new Map<string, BenchUser>();
    for (const account of candidates) {
      const user = await readUser(stores, account, offsets);
      const firstPage = user.pages[0]?.map(({ id }) => id).join() ?? '';
      if (users.size < USER_COUNT && !users.has(firstPage)) users.set(firstPage, user);
    }
    if (users.size < USER_COUNT) throw new Error(`Expected ${USER_COUNT} users with different first pages`);
    return {
      users: [...users.values()],
      loginEmails: accounts
        .filter((account) => !candidates.includes(account))
        .map(({ email }) => email)
        .slice(0, MAX_LOGIN_ACCOUNTS),
      publicPostIds: posts.filter(({ isPrivate }) => !isPrivate).map(({ id }) => id),
      newestPostId: newest?.id ?? 0,
    };
  } finally {
    await stores.close();
  }
}

/** Makes accounts friends of different authors of the newest private posts, so that their first pages differ. */
async function befriend({ graph }: BareStores, accounts: Account[], posts: readonly NewestPost[]): Promise<Account[]> {
  const privateAuthors = posts.filter(({ isPrivate }) => isPrivate).map(({ author }) => author);
  const authors = [...new Set(privateAuthors)].slice(0, 4);
  const friends = await graph.friendsOfEach(accounts.map(({ id }) => id));
  const strangers = accounts.filter(
    ({ id }, index) => !authors.some((author) => author === id || friends[index]?.includes(author)),
  );
  const chosen = strangers.slice(0, 2 ** authors.length);
  const friendships = chosen.flatMap(({ id }, index) =>
    // The bits of the index select the friends.
    authors.filter((_, bit) => index & (1 << bit)).map((author) => ({ person: id, friend: author })),
  );
  const reverse = friendships.map(({ person, friend }) => ({ person: friend, friend: person }));
  await graph.bulk.addEdges({ friendships: [...friendships, ...reverse], requests: [], likes: [] });
  return chosen;
}

async function readUser(stores: BareStores, account: Account, offsets: readonly number[]): Promise<BenchUser> {
  const [friends = []] = await stores.graph.friendsOfEach([account.id]);
  // The rule of visibility in its simplest form, to check the service's queries.
  const visible = sql<boolean>`(not private or author_id = ${account.id} or author_id = any(${friends}::int8[]))`;
  const pages: Post[][] = [];
  for (const offset of [0, ...offsets]) pages.push(await readPage(stores, account.id, visible, offset));
  const { rows } = await sql<{ id: number }>`
    select posts.id from posts join accounts on accounts.id = author_id
    where not ${visible} order by posts.created_at desc limit 1`.execute(stores.maintenanceDb);
  return { account, token: '', pages, hiddenPostId: rows[0]?.id ?? 0 };
}

async function readPage(
  { maintenanceDb, graph }: BareStores,
  viewer: number,
  visible: RawBuilder<boolean>,
  offset: number,
): Promise<Post[]> {
  const { rows } = await sql<Omit<Post, 'like_count' | 'liked_by_me'>>`
    select posts.id, title, text, null as image, author_id, username as author_username, posts.created_at
    from posts join accounts on accounts.id = author_id
    where ${visible} order by posts.created_at desc, posts.id desc limit 20 offset ${offset}`.execute(maintenanceDb);
  const ids = rows.map(({ id }) => id);
  const { likes } = await graph.relationsBetween([viewer], [], ids);
  return rows.map((row) => {
    const { count = 0, likers = [] } = likes.get(row.id) ?? {};
    return { ...row, like_count: count, liked_by_me: likers.includes(viewer) };
  });
}
