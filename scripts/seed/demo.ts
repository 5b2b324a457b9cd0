import type { Logger } from 'pino';
import { usernameKey } from '../../db/accounts.js';
import { migrate } from '../../db/migrate.js';
import type { Database } from '../../db/postgres/index.js';
import { raiseSequence } from '../../db/postgres/sequences.js';
import { openBareStores } from '../../db/stores.js';
import { retryUntilAvailable } from '../../db/support/retry.js';
import type { Config } from '../../handlers/config/index.js';
import { startService } from '../../handlers/service.js';
import { CommandError } from '../command-error.js';
import type { Progress } from '../progress.js';
import {
  DEMO_PASSWORD,
  FIRST_PERSON_ID,
  FIRST_POST_ID,
  FRIENDS,
  type Name,
  PEOPLE,
  POSTS,
  REQUESTS,
} from './demo-data.js';

interface Demo {
  people: { id: number; name: string; email: string; posts: number[] }[];
  /** Whether the ids are those of the examples. False if the stores had already assigned some of those ids. */
  hasExampleIds: boolean;
}

/**
 * Adds a few people with posts, images, likes and friendships, by sending requests to a service that it starts.
 *
 * @throws CommandError if one of the accounts exists
 * @throws DataDirectoryInUseError
 */
export async function seedDemo(config: Config, log: Logger, progress: Progress): Promise<Demo> {
  const stores = await openBareStores(config.stores, log);
  try {
    await retryUntilAvailable(() => migrate(stores));
    await refuseIfPeopleExist(stores.db);
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
    return await sendRequests(service.url, progress);
  } finally {
    await service.stop();
  }
}

async function refuseIfPeopleExist(db: Database): Promise<void> {
  const existing = await db
    .selectFrom('accounts')
    .select('username')
    .where((eb) =>
      eb.or([
        eb(
          'email',
          'in',
          PEOPLE.map(({ email }) => email),
        ),
        eb(
          'username_key',
          'in',
          PEOPLE.map(({ username }) => usernameKey(username)),
        ),
      ]),
    )
    .executeTakeFirst();
  if (!existing) return;
  throw new CommandError(
    `The account ${existing.username} exists, so the demo was not added. For new stores, set DATA_DIR to a new directory`,
  );
}

async function sendRequests(url: string, progress: Progress): Promise<Demo> {
  const people = new Map<Name, { id: number; token: string; posts: number[] }>();
  const personOf = (name: Name) => people.get(name) ?? { id: 0, token: '', posts: [] };

  async function send(user: Name | undefined, request: string, body?: object | FormData) {
    const [method = '', path = ''] = request.split(' ');
    const isForm = body instanceof FormData;
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(user && { Authorization: `Bearer ${personOf(user).token}` }),
        ...(body && !isForm && { 'Content-Type': 'application/json' }),
      },
      body: body && !isForm ? JSON.stringify(body) : (body ?? null),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${request}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  for (const [index, { name, username, email, picture, private: isPrivate = false }] of PEOPLE.entries()) {
    const login = { email, password: DEMO_PASSWORD };
    const { id } = await send(undefined, 'POST /auth/register', { name, username, ...login });
    const { token } = await send(undefined, 'POST /auth/login', login);
    people.set(username, { id, token, posts: [] });
    await send(username, 'PUT /profiles/me', formOf({ private: String(isPrivate) }, picture));
    progress('people', index + 1, PEOPLE.length);
  }
  for (const [one, other] of FRIENDS) {
    await send(one, `POST /friends/request?to=${personOf(other).id}`);
    await send(other, `POST /friends/accept?from=${personOf(one).id}`);
  }
  for (const [from, to] of REQUESTS) await send(from, `POST /friends/request?to=${personOf(to).id}`);
  for (const [index, { author, title, text, image, likes }] of POSTS.entries()) {
    const { id } = await send(author, 'POST /posts/create', formOf({ title, text }, image));
    personOf(author).posts.push(id);
    for (const name of likes) await send(name, `POST /posts/like?id=${id}`);
    progress('posts', index + 1, POSTS.length);
  }
  for (const { username } of PEOPLE) await send(username, 'POST /auth/logout');

  const [firstPerson, firstPost] = [personOf('mira').id, personOf('lena').posts[0]];
  return {
    people: PEOPLE.map(({ name, username, email }) => ({ ...personOf(username), name, email })),
    hasExampleIds: firstPerson === FIRST_PERSON_ID && firstPost === FIRST_POST_ID,
  };
}

function formOf(fields: Record<string, string>, image: Buffer | undefined): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (image) form.append('image', new Blob([image], { type: 'image/png' }), 'image.png');
  return form;
}
