import { join } from 'node:path';
import { runScript, startService } from './processes.js';
import { createEmptyStores } from './stores.js';
import { type BenchUser, logIn, readContent } from './users.js';

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
const OFFSETS = { full: [10_000, 100_000], small: [1000, 10_000] } as const;

export interface Dataset {
  /** The environment variables of the stores. */
  environment: NodeJS.ProcessEnv;
  /** Users whose first pages differ. In the `popular` dataset, the first one is the user with many friends. */
  users: BenchUser[];
  /** The offsets of two measured pages. */
  offsets: readonly [number, number];
  /** Accounts that only log in, because an account may have only 100 sessions. */
  loginEmails: string[];
  password: string;
  publicPostIds: number[];
  newestPostId: number;
}

const password = 'Quiet-Harbour-27';

/** @param checkout the release that creates the data. A newer one migrates the data when it starts. */
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
  const offsets = OFFSETS[size];
  const { userEmails, ...content } = await readContent(environment);
  const service = await startService(checkout, environment, join(folder, 'login.log'));
  try {
    const users = await logIn(service.url, userEmails, password, offsets);
    return { environment, offsets, password, users, ...content };
  } finally {
    await service.stop();
  }
}
