import { sql } from 'kysely';
import { findAccounts, findCredentials } from '../../db/accounts.js';
import { migrate } from '../../db/migrate.js';
import { createSession } from '../../db/sessions.js';
import { type BareStores, onceAvailable, openBareStores } from '../../db/stores.js';
import type { Progress } from '../../db/support/progress.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { hashPassword } from '../../handlers/security/password-hashing.js';
import { readOrCreateTokenKeys } from '../../handlers/security/token-keys.js';
import { createTokens } from '../../handlers/security/tokens.js';
import { type Population, type Seeded, seed } from '../seed/seed.js';
import { readTruth, type Truth } from './truth.js';

/** Sets of data: the usual one, ten times the posts and likes, nearly all accounts private, and somebody popular. */
export type DataName = 'base' | 'tenfold' | 'closed' | 'popular';

/** How much there is of everything. */
export interface Size {
  base: Population;
  /** Those that a popular post and a popular person need, beside the others. */
  crowd: Population;
  callers: number;
  offset: number;
  deepOffset: number;
}

const BASE = { privatePercent: 20, popularPost: 0, popularPerson: 0, seed: 1 };
const CROWD = { likes: 0, friends: 0, privatePercent: 20, seed: 2 };

export const FULL: Size = {
  base: { ...BASE, accounts: 2000, posts: 40_000, likes: 200_000, friends: 40 },
  crowd: { ...CROWD, accounts: 100_000, posts: 1000, popularPost: 100_000, popularPerson: 5000 },
  callers: 500,
  offset: 10_000,
  deepOffset: 100_000,
};

export const SMALL: Size = {
  base: { ...BASE, accounts: 200, posts: 2000, likes: 10_000, friends: 10 },
  crowd: { ...CROWD, accounts: 1000, posts: 50, popularPost: 1000, popularPerson: 500 },
  callers: 50,
  offset: 1000,
  deepOffset: 10_000,
};

const POPULATIONS: Record<DataName, (size: Size) => readonly Population[]> = {
  base: ({ base }) => [base],
  tenfold: ({ base }) => [{ ...base, posts: 10 * base.posts, likes: 10 * base.likes }],
  closed: ({ base }) => [{ ...base, privatePercent: 99 }],
  popular: ({ base, crowd }) => [base, crowd],
};

export interface Caller {
  id: number;
  name: string;
  username: string;
  email: string;
  token: string;
}

export interface Data {
  name: DataName;
  size: Size;
  /** The variables of the stores that hold it. */
  environment: NodeJS.ProcessEnv;
  password: string;
  passwordHash: string;
  tokenSecret: string;
  /** Who asks. */
  callers: Caller[];
  /** The first account of those made last: the popular one, where there is one. */
  popular: Caller;
  /** The newest post of those made last. */
  popularPost: number;
  /** Public posts, the newest first. */
  publicPosts: number[];
  /** Those of the callers whose answers are looked at, and what these should be. */
  checked: Caller[];
  truth: Truth;
  postgres: string;
}

const PASSWORD = 'Quiet-Harbour-27';

/** How many callers' answers are looked at. */
const CHECKED = 6;

/** Fills these stores, and gives callers their sessions. */
export async function makeData(
  name: DataName,
  size: Size,
  environment: NodeJS.ProcessEnv,
  progress: Progress,
): Promise<Data> {
  const config = readConfig(environment);
  const stores = await openBareStores(config.stores, createLogger('warn', process.stderr));
  try {
    await onceAvailable(() => migrate(stores));
    const passwordHash = await hashPassword(PASSWORD);
    const made: Seeded[] = [];
    for (const population of POPULATIONS[name](size)) {
      made.push(await seed(stores, population, passwordHash, (step, ...done) => progress(`${name}: ${step}`, ...done)));
    }
    const keys = config.tokenKeys ?? (await readOrCreateTokenKeys(stores.directory.tokenKeys));
    const tokens = createTokens(keys);
    const open = (ids: readonly number[]) => openSessions(stores, tokens, ids);
    const callers = await open(made[0]?.accounts.slice(0, size.callers) ?? []);
    const [popular] = await open(made.at(-1)?.accounts.slice(0, 1) ?? []);
    if (!popular) throw new Error('nobody was made');
    const publicPosts = await readPublicPosts(stores);
    const others = [...(await likers(stores, callers, publicPosts)), ...callers].filter(({ id }) => id !== popular.id);
    const checked = [popular, ...new Set(others)].slice(0, CHECKED);
    progress(`${name}: what is there`, 0, 1);
    return {
      name,
      size,
      environment,
      password: PASSWORD,
      passwordHash,
      tokenSecret: keys[0].secret,
      callers,
      popular,
      popularPost: made.at(-1)?.posts.at(-1) ?? 0,
      publicPosts,
      checked,
      truth: await readTruth(
        stores,
        checked.map(({ id }) => id),
      ),
      postgres: await versionOf(stores),
    };
  } finally {
    await stores.close();
  }
}

/** Logs these in, but for the password. */
async function openSessions(
  stores: BareStores,
  tokens: ReturnType<typeof createTokens>,
  ids: readonly number[],
): Promise<Caller[]> {
  const expiresAt = new Date(Date.now() + 24 * 60 * 60 * 1000);
  const callers: Caller[] = [];
  for (const account of await findAccounts(stores.db, ids)) {
    const secret = account && (await findCredentials(stores.db, { id: account.id }));
    const session = secret && (await createSession(stores, secret, { deviceName: 'bench', expiresAt }));
    if (!account || !session) throw new Error('an account has no session');
    const claims = { accountId: account.id, sessionId: session.id, tokenVersion: secret.tokenVersion };
    const token = await tokens.issue(claims, expiresAt);
    const { id, name, username, email } = account;
    callers.push({ id, name, username, email, token });
  }
  return callers;
}

async function readPublicPosts({ maintenanceDb }: BareStores): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select posts.id from posts join accounts on accounts.id = author_id
    where not private order by posts.created_at desc, posts.id desc limit 1000`.execute(maintenanceDb);
  return rows.map(({ id }) => id);
}

/** Callers who like something of what is newest: of others an answer would not show whether likes are theirs. */
async function likers({ graph }: BareStores, callers: readonly Caller[], posts: readonly number[]): Promise<Caller[]> {
  const newest = new Set(posts.slice(0, 20));
  const { likes } = await graph.snapshot.edgesOf(callers.map(({ id }) => id));
  const liking = new Set(likes.filter(({ post }) => newest.has(post)).map(({ person }) => person));
  return callers.filter(({ id }) => liking.has(id)).slice(0, CHECKED / 2);
}

async function versionOf({ maintenanceDb }: BareStores): Promise<string> {
  const { rows } = await sql<{ server_version: string }>`show server_version`.execute(maintenanceDb);
  return rows[0]?.server_version ?? '';
}
