import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type BareStores, openBareStores } from '../../db/stores/index.js';
import { readConfig } from '../../handlers/config/index.js';
import { samples } from '../../scripts/contract-test/client/index.js';
import { createSender, type HttpOptions } from './http.js';
import { runCommand } from './processes.js';
import { befriend, createPost, startTestService, type TestService, type TestUser } from './service.js';
import { emptyGraph, freshDataDirectory, freshStores, silentLog, temporaryDirectory } from './stores.js';

/** Shared by source and target, so that tokens and links remain valid after a move. */
export const SHARED_VARIABLES = {
  TOKEN_KEYS: 'test:b83f0d51e6a97c24d10fb5983e6c7a42',
  PUBLIC_URL: 'http://social.example',
};

export const embeddedVariables = async (t: Test): Promise<{ DATA_DIR: string } & NodeJS.ProcessEnv> => ({
  DATA_DIR: await freshDataDirectory(t),
  ...SHARED_VARIABLES,
});

/** Returns the variables of empty stores on real servers. All tests share one graph, so it is emptied. */
export async function serverVariables(t: Test): Promise<NodeJS.ProcessEnv> {
  const variables = await freshStores(t);
  await emptyGraph();
  return { ...variables, ...SHARED_VARIABLES };
}

/** Writes variables to a file that `move --to` reads, and returns its path. */
async function writeVariables(t: Test, variables: NodeJS.ProcessEnv): Promise<string> {
  const file = join(await temporaryDirectory(t), 'target.env');
  const lines = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${value}"`],
  );
  await writeFile(file, lines.join('\n'));
  return file;
}

/** Runs `npm run move`. Also returns the path of the file with the variables of the target. */
export async function runMove(t: Test, source: NodeJS.ProcessEnv, target: NodeJS.ProcessEnv) {
  const file = await writeVariables(t, target);
  return { file, ...(await runCommand(t, ['move/index', '--to', file], source)) };
}

export const KEYED_POST: HttpOptions = {
  form: { title: 'Once', text: 'A text' },
  headers: { 'Idempotency-Key': 'k' },
};

/** Creates users with posts, images, friendships, requests and likes. */
async function populate(service: TestService): Promise<TestUser[]> {
  const create = (n: number) => service.createUser({ name: `Person ${n} ✿`, private: n % 2 === 1 });
  const [user, friend, friendOfFriend] = [await create(0), await create(1), await create(2)];
  const [requester, requested] = [await create(3), await create(4)];
  const users = [user, friend, friendOfFriend, requester, requested];
  const image = (bytes: Buffer, type: string) => new Blob([bytes, Buffer.alloc(100_000, type)], { type });
  await user.send('PUT', '/profiles/me', { form: { image: image(samples.png, 'image/png') } });
  await friend.send('PUT', '/profiles/me', { form: { image: image(samples.jpeg, 'image/jpeg') } });
  await befriend(user, friend);
  await befriend(friend, friendOfFriend);
  await requester.send('POST', `/friends/request?to=${user.id}`);
  await user.send('POST', `/friends/request?to=${requested.id}`);
  for (const author of users) {
    const { id } = await createPost(author, { title: 'A "quoted" title \\ 🎈', text: 'Line one\nline two' });
    await createPost(author, { image: image(samples.gif, 'image/gif') });
    for (const reader of users) await reader.send('POST', `/posts/like?id=${id}`);
  }
  const { id: deletedId } = await createPost(requested);
  await user.send('POST', `/posts/like?id=${deletedId}`);
  await requested.send('DELETE', `/posts/delete?id=${deletedId}`);
  await user.send('POST', '/posts/create', KEYED_POST);
  await service.login(user.email);
  return users;
}

/** Returns the responses to these users' read requests, by user and path. Bytes are replaced by their hash. */
export async function readAsUsers(t: Test, url: string, users: readonly TestUser[]) {
  const send = createSender(t, url);
  const responses: Record<string, unknown> = {};
  for (const { token, name } of users) {
    const get = async (path: string) => {
      const { status, body, bytes } = await send('GET', path, { token });
      responses[`${name} ${path}`] = [status, body ?? createHash('sha256').update(bytes).digest('hex')];
      return body;
    };
    const paths = [
      '/auth/me',
      '/profiles/me',
      '/friends',
      '/friends/requests',
      '/posts?limit=100',
      '/posts/me?limit=100',
    ];
    const bodies = [];
    for (const path of [...paths, ...users.map(({ id }) => `/profiles/${id}`)]) bodies.push(await get(path));
    for (const { image, profile_link: picture } of bodies.flat()) {
      for (const link of [image, picture]) if (link) await get(new URL(link, url).pathname);
    }
    const { body: sessions } = await send('GET', '/auth/sessions', { token });
    // Without `last_used_at`, which requests update at most once a minute.
    responses[`${name} sessions`] = sessions.map(
      ({ last_used_at: _, ...session }: { last_used_at: string }) => session,
    );
  }
  return responses;
}

/** Fills stores through a service, and then by `more`. Returns the users and the responses to their read requests. */
export async function fillStores(t: Test, variables: NodeJS.ProcessEnv, more?: (stores: BareStores) => Promise<void>) {
  const first = await startTestService(t, variables);
  const users = await populate(first);
  await first.stop();
  if (more) await withBareStores(variables, more);
  const service = await startTestService(t, variables);
  const responses = await readAsUsers(t, service.url, users);
  await service.stop();
  return { users, responses };
}

/** Opens stores without starting a service, and closes them after `use`. */
export async function withBareStores(variables: NodeJS.ProcessEnv, use: (stores: BareStores) => Promise<unknown>) {
  const stores = await openBareStores(readConfig(variables).stores, silentLog);
  try {
    await use(stores);
  } finally {
    await stores.close();
  }
}
