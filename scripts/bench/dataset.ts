import { join } from 'node:path';
import { sql } from 'kysely';
import { type BareStores, openBareStores } from '../../db/stores.js';
import type { components } from '../../generated/types.js';
import { readConfig } from '../../handlers/config/index.js';
import { encodeCursor } from '../../handlers/cursors.js';
import { send } from '../support/request.js';
import { runScript, startService } from './processes.js';
import { createEmptyStores } from './stores.js';

/** `tenfold` has ten times the posts and likes, `private` mostly private accounts, `popular` a popular user and post. */
export type DatasetName = 'base' | 'tenfold' | 'private' | 'popular';

const SIZES = {
  full: { accounts: 2000, posts: 40_000, likes: 200_000, friends: 40 },
  small: { accounts: 400, posts: 2000, likes: 10_000, friends: 10 },
};
const POPULAR_SIZES = {
  full: { accounts: 100_000, posts: 1000, 'popular-post': 100_000, 'popular-person': 5000 },
  small: { accounts: 1000, posts: 50, 'popular-post': 1000, 'popular-person': 500 },
};
/** The number of posts before the deep page. */
const DEPTHS = { full: 100_000, small: 10_000 };

type Account = components['schemas']['Account'];
type Post = components['schemas']['Post'];

/** A user who sends requests, with the expected responses. */
export interface BenchUser {
  token: string;
  /** The body of `GET /auth/me`. */
  account: Account;
  firstPage: readonly Post[];
  /** The path of a page at a large depth, with a cursor. */
  deepPath: string;
  deepPage: readonly Post[];
}

export interface Dataset {
  /** The environment variables of the stores. */
  environment: NodeJS.ProcessEnv;
  /** Users whose first pages differ. In the `popular` dataset, the first one is the user with many friends. */
  users: BenchUser[];
  /** The emails of accounts for logins. There are many, because an account may have only 100 sessions. */
  loginEmails: string[];
  password: string;
  publicPostIds: number[];
  newestPostId: number;
}

const password = 'Quiet-Harbour-27';

/** @param checkout the directory of the release that creates the data. A newer release migrates the data when it starts. */
export async function createDataset(
  name: DatasetName,
  size: keyof typeof SIZES,
  folder: string,
  checkout: string,
): Promise<Dataset> {
  const environment = await createEmptyStores(folder);
  const seed = (options: Record<string, number>) => {
    const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
    const script = join(checkout, '.build/scripts/seed/index.js');
    return runScript([script, ...args, `--password=${password}`], { LOG_LEVEL: 'warn', ...environment });
  };
  const { posts, likes, ...rest } = SIZES[size];
  const factor = name === 'tenfold' ? 10 : 1;
  await seed({ ...rest, posts: posts * factor, likes: likes * factor, private: name === 'private' ? 99 : 25 });
  if (name === 'popular') await seed({ ...POPULAR_SIZES[size], private: 25, seed: 2 });
  const { userEmails, ...content } = await readContent(environment);
  const service = await startService(checkout, environment, join(folder, 'login.log'));
  try {
    const users = await logIn(service.url, userEmails, password, DEPTHS[size]);
    return { environment, password, users, ...content };
  } finally {
    await service.stop();
  }
}

interface NewestPost {
  id: number;
  author: number;
  isPrivate: boolean;
}

const USER_COUNT = 10;
const MAX_LOGIN_ACCOUNTS = 500;

/**
 * Returns the emails of users, most of whom have different first pages, the emails of other accounts for logins, and post ids.
 * Users with public accounts come first, so that all users see the image that the first one posts. The first user is the
 * author of the newest post, if that account is public.
 */
async function readContent(environment: NodeJS.ProcessEnv) {
  const stores = await openBareStores(readConfig(environment).stores, { info: () => undefined, warn: console.warn });
  try {
    const { rows: accounts } = await sql<{ id: number; email: string }>`
      select id, email from accounts order by private, id`.execute(stores.maintenanceDb);
    const { rows: posts } = await sql<NewestPost>`
      select posts.id, author_id as author, private as "isPrivate"
      from posts join accounts on accounts.id = author_id
      order by posts.created_at desc, posts.id desc limit 2000`.execute(stores.maintenanceDb);
    const [newest] = posts;
    const friends = await befriend(stores, accounts.slice(0, 2000), posts);
    const userIds = new Set([...(newest && !newest.isPrivate ? [newest.author] : []), ...friends]);
    const emails = new Map(accounts.map(({ id, email }) => [id, email]));
    return {
      userEmails: [...userIds].map((id) => emails.get(id) ?? ''),
      loginEmails: accounts.flatMap(({ id, email }) => (userIds.has(id) ? [] : [email])).slice(0, MAX_LOGIN_ACCOUNTS),
      publicPostIds: posts.filter(({ isPrivate }) => !isPrivate).map(({ id }) => id),
      newestPostId: newest?.id ?? 0,
    };
  } finally {
    await stores.close();
  }
}

/**
 * Makes up to 16 accounts friends with different subsets of the authors of the newest private posts, so that the first pages
 * of these accounts differ. Returns the ids of these accounts.
 */
async function befriend({ graph }: BareStores, accounts: { id: number }[], posts: NewestPost[]): Promise<number[]> {
  const privateAuthors = posts.filter(({ isPrivate }) => isPrivate).map(({ author }) => author);
  const authors = [...new Set(privateAuthors)].slice(0, 4);
  const ids = accounts.map(({ id }) => id);
  const friends = await graph.friendsOfEach(ids);
  const strangers = ids.filter(
    (id, index) => !authors.some((author) => author === id || friends[index]?.includes(author)),
  );
  const chosen = strangers.slice(0, 2 ** authors.length);
  const friendships = chosen.flatMap((person, index) =>
    // The bits of the index select the friends.
    authors.filter((_, bit) => index & (1 << bit)).map((friend) => ({ person, friend })),
  );
  const reverse = friendships.map(({ person, friend }) => ({ person: friend, friend: person }));
  await graph.bulk.addEdges({ friendships: [...friendships, ...reverse], requests: [], likes: [] });
  return chosen;
}

/** Logs in users with different first pages, and reads the responses that are expected from all servers. */
async function logIn(url: string, emails: string[], password: string, depth: number) {
  const users = new Map<string, BenchUser>();
  for (const email of emails) {
    if (users.size === USER_COUNT) break;
    const { token } = (await send(url, 'POST /auth/login', { json: { email, password } })).json;
    const get = async (path: string) => (await send(url, `GET ${path}`, { token })).json;
    const firstPage: Post[] = await get('/posts');
    // With offsets, because an earlier release, which may create the data, knows no cursors. Smaller datasets have no such page.
    const [previous]: Post[] = await get(`/posts?limit=1&offset=${depth - 1}`);
    const cursor = previous && encodeCursor({ createdAt: previous.created_at, id: previous.id });
    const deepPath = cursor ? `/posts?cursor=${cursor}` : `/posts?offset=${depth}`;
    const deepPage: Post[] = await get(`/posts?offset=${depth}`);
    const key = firstPage.map(({ id }) => id).join();
    const account = await get('/auth/me');
    if (!users.has(key)) users.set(key, { token, account, firstPage, deepPath, deepPage });
  }
  if (users.size < USER_COUNT) throw new Error(`Expected ${USER_COUNT} users with different first pages`);
  return [...users.values()];
}
