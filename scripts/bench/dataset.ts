import { deepStrictEqual } from 'node:assert';
import { join } from 'node:path';
import type { components } from '../../generated/types.js';
import { encodeCursor } from '../../handlers/cursors.js';
import { CommandError } from '../support/command-error.js';
import { send } from '../support/request.js';
import { runScript, startService } from './processes.js';

/** `depth` is the number of posts before the page at a cursor. */
const SIZES = {
  full: { accounts: 2000, posts: 40_000, likes: 200_000, friends: 40, depth: 30_000 },
  small: { accounts: 400, posts: 2000, likes: 10_000, friends: 10, depth: 1000 },
};

type Post = components['schemas']['Post'];

/** A user who sends requests, with the responses that are expected from all servers. */
export interface BenchUser {
  token: string;
  responses: { path: string; operation: 'listPosts' | 'getPost' | 'getCurrentAccount'; body: unknown }[];
}

const PASSWORD = 'Quiet-Harbour-27';
const USER_COUNT = 10;

/** Adds generated data to empty stores, with the seed of a checkout. Returns users whose first pages differ. */
export async function createDataset(
  size: keyof typeof SIZES,
  environment: NodeJS.ProcessEnv,
  folder: string,
  checkout: string,
): Promise<BenchUser[]> {
  const { depth, ...counts } = SIZES[size];
  const options = Object.entries({ ...counts, private: 25, password: PASSWORD });
  const args = options.map(([name, value]) => `--${name}=${value}`);
  const script = join(checkout, '.build/scripts/seed/index.js');
  const output = await runScript([script, ...args], { LOG_LEVEL: 'warn', ...environment });
  const [, email = ''] = /Log in as (\S+) /.exec(output) ?? [];
  const service = await startService(checkout, environment, join(folder, 'login.log'));
  try {
    return await logIn(service.url, email, depth);
  } finally {
    await service.stop();
  }
}

async function logIn(url: string, firstEmail: string, depth: number): Promise<BenchUser[]> {
  const users = new Map<string, BenchUser>();
  const emails = new Set([firstEmail]);
  for (const email of emails) {
    const { token } = (await send(url, 'POST /auth/login', { json: { email, password: PASSWORD } })).json;
    const get = async (path: string) => (await send(url, `GET ${path}`, { token })).json;
    const list = (query: string): Promise<Post[]> => get(`/posts?${query}`);
    // Finds other accounts: the email of a generated account contains its username.
    for (let offset = 0; email === firstEmail && offset < 500; offset += 100)
      for (const post of await list(`limit=100&offset=${offset}`)) emails.add(`${post.author_username}@people.example`);
    const firstPage: Post[] = await get('/posts');
    const key = firstPage.map(({ id }) => id).join();
    if (users.has(key)) continue;
    // With offsets, because an earlier release, which may create the data, knows no cursors.
    const [previous] = await list(`limit=1&offset=${depth - 1}`);
    if (!previous) throw new Error(`Expected more than ${depth} posts`);
    const cursor = encodeCursor({ createdAt: previous.created_at, id: previous.id });
    const responses: BenchUser['responses'] = [
      { path: '/posts', operation: 'listPosts', body: firstPage },
      { path: `/posts?cursor=${cursor}`, operation: 'listPosts', body: await list(`offset=${depth}`) },
      { path: '/auth/me', operation: 'getCurrentAccount', body: await get('/auth/me') },
    ];
    for (const { id } of firstPage)
      responses.push({ path: `/posts/${id}`, operation: 'getPost', body: await get(`/posts/${id}`) });
    users.set(key, { token, responses });
    if (users.size === USER_COUNT) return [...users.values()];
  }
  throw new Error(`Expected ${USER_COUNT} users with different first pages`);
}

/** A path whose responses are not expected from another checkout: the last release has no cursors. */
const NEW_PATH = /cursor=/;

/** Checks that a server sends the expected responses. @throws CommandError at the first one that differs */
export async function checkResponses(url: string, users: readonly BenchUser[], isOther = false): Promise<void> {
  for (const { token, responses } of users) {
    for (const { path, body } of responses) {
      if (isOther && NEW_PATH.test(path)) continue;
      const { status, json } = await send(url, `GET ${path}`, { token });
      try {
        deepStrictEqual({ status, json }, { status: 200, json: body });
      } catch (error) {
        throw new CommandError(`Wrong response of ${url} to GET ${path}: ${(error as Error).message}`);
      }
    }
  }
}
