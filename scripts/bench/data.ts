import { sql } from 'kysely';
import { findAccounts, findCredentials } from '../../db/accounts.js';
import { migrate } from '../../db/migrate.js';
import { createSession } from '../../db/sessions.js';
import { type BareStores, openBareStores, retryUntilAvailable } from '../../db/stores.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { hashPassword } from '../../handlers/security/password-hashing.js';
import { readOrCreateTokenKeys } from '../../handlers/security/token-keys.js';
import { createTokens } from '../../handlers/security/tokens.js';
import type { Progress } from '../progress.js';
import { type Population, type Seeded, seed } from '../seed/seed.js';
import { type ExpectedAnswers, readExpectedAnswers } from './expected-answers.js';

/** `tenfold` has ten times the posts and likes, `private` mostly private accounts, `popular` a popular user and post. */
export type DatasetName = 'base' | 'tenfold' | 'private' | 'popular';

export interface Size {
  base: Population;
  /** Added to `base` in the `popular` dataset. */
  popular: Population;
  /** The number of users that send requests. */
  users: number;
  /** The offsets of two measured pages of posts. */
  offset: number;
  deepOffset: number;
}

const BASE = { privatePercent: 20, popularPostLikes: 0, popularPersonFriends: 0, seed: 1 };
const POPULAR = { likes: 0, friends: 0, privatePercent: 20, seed: 2 };

export const FULL_SIZE: Size = {
  base: { ...BASE, accounts: 2000, posts: 40_000, likes: 200_000, friends: 40 },
  popular: { ...POPULAR, accounts: 100_000, posts: 1000, popularPostLikes: 100_000, popularPersonFriends: 5000 },
  users: 500,
  offset: 10_000,
  deepOffset: 100_000,
};

export const SMALL_SIZE: Size = {
  base: { ...BASE, accounts: 200, posts: 2000, likes: 10_000, friends: 10 },
  popular: { ...POPULAR, accounts: 1000, posts: 50, popularPostLikes: 1000, popularPersonFriends: 500 },
  users: 50,
  offset: 1000,
  deepOffset: 10_000,
};

const POPULATIONS: Record<DatasetName, (size: Size) => readonly Population[]> = {
  base: ({ base }) => [base],
  tenfold: ({ base }) => [{ ...base, posts: 10 * base.posts, likes: 10 * base.likes }],
  private: ({ base }) => [{ ...base, privatePercent: 99 }],
  popular: ({ base, popular }) => [base, popular],
};

export interface BenchUser {
  id: number;
  name: string;
  username: string;
  email: string;
  token: string;
}

export interface Dataset {
  name: DatasetName;
  size: Size;
  /** The environment variables of the stores. */
  environment: NodeJS.ProcessEnv;
  password: string;
  passwordHash: string;
  tokenSecret: string;
  /** The users that send requests. */
  users: BenchUser[];
  /** The first account of the last population: in the `popular` dataset, the user with many friends. */
  popularUser: BenchUser;
  /** The newest post of the last population: in the `popular` dataset, the post with many likes. */
  popularPostId: number;
  /** At most 1000, newest first. */
  publicPostIds: number[];
  /** The users whose responses are compared with `expected`. */
  checkedUsers: BenchUser[];
  expected: ExpectedAnswers;
  postgresVersion: string;
}

const PASSWORD = 'Quiet-Harbour-27';

const CHECKED_USER_COUNT = 6;

/** Migrates and seeds empty stores, and creates sessions for the users. */
export async function createDataset(
  name: DatasetName,
  size: Size,
  environment: NodeJS.ProcessEnv,
  progress: Progress,
): Promise<Dataset> {
  const config = readConfig(environment);
  const stores = await openBareStores(config.stores, createLogger('warn', process.stderr));
  try {
    await retryUntilAvailable(() => migrate(stores));
    const passwordHash = await hashPassword(PASSWORD);
    const seeded: Seeded[] = [];
    for (const population of POPULATIONS[name](size)) {
      seeded.push(
        await seed(stores, population, passwordHash, (step, ...counts) => progress(`${name}: ${step}`, ...counts)),
      );
    }
    const keys = config.tokenKeys ?? (await readOrCreateTokenKeys(stores.directory.tokenKeys));
    const tokens = createTokens(keys);
    const logIn = (ids: readonly number[]) => openSessions(stores, tokens, ids);
    const users = await logIn(seeded[0]?.accounts.slice(0, size.users) ?? []);
    const [popularUser] = await logIn(seeded.at(-1)?.accounts.slice(0, 1) ?? []);
    if (!popularUser) throw new Error('Expected seeding to create accounts');
    const publicPostIds = await readPublicPostIds(stores);
    const candidates = [...(await findLikers(stores, users, publicPostIds)), ...users];
    const others = candidates.filter(({ id }) => id !== popularUser.id);
    const checkedUsers = [popularUser, ...new Set(others)].slice(0, CHECKED_USER_COUNT);
    progress(`${name}: expected answers`, 0, 1);
    return {
      name,
      size,
      environment,
      password: PASSWORD,
      passwordHash,
      tokenSecret: keys[0].secret,
      users,
      popularUser,
      popularPostId: seeded.at(-1)?.posts.at(-1) ?? 0,
      publicPostIds,
      checkedUsers,
      expected: await readExpectedAnswers(
        stores,
        checkedUsers.map(({ id }) => id),
      ),
      postgresVersion: await readPostgresVersion(stores),
    };
  } finally {
    await stores.close();
  }
}

/** Creates sessions directly in the database, because logging in through the API would hash a password for each user. */
async function openSessions(
  stores: BareStores,
  tokens: ReturnType<typeof createTokens>,
  ids: readonly number[],
): Promise<BenchUser[]> {
  const expiresAt = new Date(Date.now() + 24 * 60 * 60 * 1000);
  const users: BenchUser[] = [];
  for (const account of await findAccounts(stores.db, ids)) {
    const credentials = account && (await findCredentials(stores.db, { id: account.id }));
    const session = credentials && (await createSession(stores, credentials, { deviceName: 'bench', expiresAt }));
    if (!account || !session) throw new Error('Could not create a session');
    const claims = { accountId: account.id, sessionId: session.id, tokenVersion: credentials.tokenVersion };
    const token = await tokens.issue(claims, expiresAt);
    const { id, name, username, email } = account;
    users.push({ id, name, username, email, token });
  }
  return users;
}

async function readPublicPostIds({ maintenanceDb }: BareStores): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select posts.id from posts join accounts on accounts.id = author_id
    where not private order by posts.created_at desc, posts.id desc limit 1000`.execute(maintenanceDb);
  return rows.map(({ id }) => id);
}

/** Returns users that like one of the newest posts, so that the checks cover `liked_by_me: true`. */
async function findLikers(
  { graph }: BareStores,
  users: readonly BenchUser[],
  postIds: readonly number[],
): Promise<BenchUser[]> {
  const newest = new Set(postIds.slice(0, 20));
  const { likes } = await graph.snapshot.edgesOf(users.map(({ id }) => id));
  const likers = new Set(likes.filter(({ post }) => newest.has(post)).map(({ person }) => person));
  return users.filter(({ id }) => likers.has(id)).slice(0, CHECKED_USER_COUNT / 2);
}

async function readPostgresVersion({ maintenanceDb }: BareStores): Promise<string> {
  const { rows } = await sql<{ server_version: string }>`show server_version`.execute(maintenanceDb);
  return rows[0]?.server_version ?? '';
}
