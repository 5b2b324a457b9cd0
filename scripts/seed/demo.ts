import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { usernameKey } from '../../db/accounts.js';
import type { Database } from '../../db/postgres/index.js';
import { raiseSequence } from '../../db/postgres/sequences.js';
import { openBareStores, type Stores } from '../../db/stores/index.js';
import { migrate } from '../../db/stores/migrate.js';
import { retryUntilAvailable } from '../../db/support/retry.js';
import type { Config } from '../../handlers/config/index.js';
import { startService } from '../../handlers/service.js';
import { CommandError } from '../support/command-error.js';
import type { Progress } from '../support/progress.js';
import { formOf, type RequestOptions, send } from '../support/request.js';
import {
  DEMO_PASSWORD,
  FIRST_PERSON_ID,
  FIRST_POST_ID,
  FRIENDS,
  type Name,
  PEOPLE,
  POST_IMAGE,
  POSTS,
  PROFILE_PICTURE,
  REQUESTS,
} from './demo-data.js';
import { requireNoAccounts } from './require-no-accounts.js';

/**
 * Adds a few people with posts, images, likes and friendships, by sending requests to a service that it starts.
 *
 * @param yes whether to add to a database that has other accounts
 * @throws CommandError if one of the accounts exists, or any account without `yes`
 * @throws DataDirectoryInUseError
 */
export async function seedDemo(config: Config, log: Logger, yes: boolean, progress: Progress) {
  const stores = await openBareStores(config.stores, log);
  try {
    await retryUntilAvailable(() => migrate(stores));
    await requireNoDemoAccounts(stores.db);
    if (!yes) await requireNoAccounts(stores.db);
    await stores.maintenanceDb.transaction().execute(async (trx) => {
      await raiseSequence(trx, 'accounts', FIRST_PERSON_ID - 1);
      await raiseSequence(trx, 'posts', FIRST_POST_ID - 1);
    });
  } finally {
    await stores.close();
  }
  const limit = Number.MAX_SAFE_INTEGER;
  const service = await startService(
    {
      ...config,
      ...{ host: '127.0.0.1', port: 0, opsHost: '127.0.0.1', opsPort: 0, shutdownDelaySeconds: 0 },
      ...{ redis: undefined, rateLimit: { ...config.rateLimit, general: limit, strict: limit } },
    },
    log.child({}, { level: 'warn' }),
  );
  try {
    const seeded = await sendRequests(service.url, progress);
    await useExampleNames(service.stores);
    return seeded;
  } finally {
    await service.stop();
  }
}

/** Gives two images their names in the examples, so that the examples of downloads work. */
async function useExampleNames({ db, images, directory }: Stores): Promise<void> {
  const rename = async (from: string | null, to: string) => {
    const image = from === null ? undefined : await images.get(from);
    if (from === null || !image) throw new Error('Expected the demo to have this image');
    const path = join(directory.uploads, to);
    await writeFile(path, image.stream);
    await images.put(to, path);
    await images.remove(from);
  };
  const { id, picture } = await db
    .selectFrom('accounts')
    .select(['id', 'picture'])
    .where('username', '=', 'tomas.reyes' satisfies Name)
    .executeTakeFirstOrThrow();
  await rename(picture, PROFILE_PICTURE);
  await db.updateTable('accounts').set({ picture: PROFILE_PICTURE }).where('id', '=', id).execute();
  const posts = db
    .selectFrom('posts')
    .select(['id', 'image'])
    .where('author_id', '=', id)
    .where('image', 'is not', null);
  const post = await posts.executeTakeFirstOrThrow();
  await rename(post.image, POST_IMAGE);
  await db.updateTable('posts').set({ image: POST_IMAGE }).where('id', '=', post.id).execute();
}

async function requireNoDemoAccounts(db: Database): Promise<void> {
  const emails = PEOPLE.map(({ email }) => email);
  const usernameKeys = PEOPLE.map(({ username }) => usernameKey(username));
  const existing = await db
    .selectFrom('accounts')
    .select('username')
    .where((eb) => eb.or([eb('email', 'in', emails), eb('username_key', 'in', usernameKeys)]))
    .executeTakeFirst();
  if (!existing) return;
  throw new CommandError(
    `The account ${existing.username} exists, so the demo was not added. For new stores, set DATA_DIR to a new directory`,
  );
}

async function sendRequests(url: string, progress: Progress) {
  const people = new Map<Name, { id: number; token: string; posts: number[] }>();
  const personOf = (name: Name) => people.get(name) ?? { id: 0, token: '', posts: [] };

  async function sendAs(user: Name, request: string, body: Pick<RequestOptions, 'json' | 'body'> = {}) {
    const token = people.get(user)?.token;
    const { status, bytes, json } = await send(url, request, { token, ...body });
    if (status >= 300) throw new Error(`${request}: ${status} ${bytes}`);
    return json;
  }

  for (const [index, { name, username, email, picture, private: isPrivate = false }] of PEOPLE.entries()) {
    const login = { email, password: DEMO_PASSWORD };
    const { id } = await sendAs(username, 'POST /auth/register', { json: { name, username, ...login } });
    const { token } = await sendAs(username, 'POST /auth/login', { json: login });
    people.set(username, { id, token, posts: [] });
    const profile = formOf({ private: String(isPrivate), image: picture });
    await sendAs(username, 'PUT /profiles/me', { body: profile });
    progress('people', index + 1, PEOPLE.length);
  }
  for (const [one, other] of FRIENDS) {
    await sendAs(one, `POST /friends/request?to=${personOf(other).id}`);
    await sendAs(other, `POST /friends/accept?from=${personOf(one).id}`);
  }
  for (const [from, to] of REQUESTS) await sendAs(from, `POST /friends/request?to=${personOf(to).id}`);
  for (const [index, { author, title, text, image, likes }] of POSTS.entries()) {
    const { id } = await sendAs(author, 'POST /posts/create', { body: formOf({ title, text, image }) });
    personOf(author).posts.push(id);
    for (const name of likes) await sendAs(name, `POST /posts/like?id=${id}`);
    progress('posts', index + 1, POSTS.length);
  }
  for (const { username } of PEOPLE) await sendAs(username, 'POST /auth/logout');

  const [firstPerson, firstPost] = [personOf('mira').id, personOf('lena').posts[0]];
  return {
    people: PEOPLE.map(({ name, username, email }) => ({ ...personOf(username), name, email })),
    /** Whether the ids are those of the examples. False if the stores had already assigned some of those ids. */
    hasExampleIds: firstPerson === FIRST_PERSON_ID && firstPost === FIRST_POST_ID,
  };
}
