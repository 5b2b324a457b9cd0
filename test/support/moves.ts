import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type BareStores, openBareStores } from '../../db/stores.js';
import { readConfig } from '../../handlers/config/index.js';
import { samples } from '../../scripts/contract-test/images.js';
import { runCommand } from './processes.js';
import { createSender, type RequestOptions } from './requests.js';
import { befriend, createPost, type Person, startTestService, type TestService } from './service.js';
import { emptyGraph, freshDataDirectory, freshStores, quiet, temporaryDirectory } from './stores.js';

export const oneLine = /^[^\n]+\n$/;

/** The same on both sides, so that tokens and links of the one hold on the other. */
export const SHARED = { TOKEN_KEYS: 'test:b83f0d51e6a97c24d10fb5983e6c7a42', PUBLIC_URL: 'http://social.example' };

export const embedded = async (t: Test): Promise<{ DATA_DIR: string } & NodeJS.ProcessEnv> => ({
  DATA_DIR: await freshDataDirectory(t),
  ...SHARED,
});

/** Real servers hold one graph, which has to be empty before anything moves into it. */
export async function servers(t: Test): Promise<NodeJS.ProcessEnv> {
  const variables = await freshStores(t);
  await emptyGraph();
  // The AWS SDK would warn of the age of Node 20, among what is said in one line.
  return { ...variables, ...SHARED, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' };
}

async function fileOf(t: Test, variables: NodeJS.ProcessEnv): Promise<string> {
  const file = join(await temporaryDirectory(t), 'target.env');
  const lines = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${value}"`],
  );
  await writeFile(file, lines.join('\n'));
  return file;
}

/** Runs the command, and kills it as soon as what it has said is enough. */
export async function move(
  t: Test,
  source: NodeJS.ProcessEnv,
  target: NodeJS.ProcessEnv,
  enough: (output: string) => boolean = () => false,
) {
  return runCommand(t, ['move', '--to', await fileOf(t, target)], source, enough);
}

/** A request that Ada has sent once, to be retried. */
export const KEYED: RequestOptions = {
  form: { title: 'Once', text: 'and no more' },
  headers: { 'Idempotency-Key': 'k' },
};

/** People with all that people have. */
async function populate(service: TestService): Promise<Person[]> {
  const people: Person[] = [];
  for (let n = 0; n < 5; n += 1) people.push(await service.createUser({ name: `Person ${n} ✿`, private: n % 2 === 1 }));
  const [ada, ben, cyd, dan, eve] = people as [Person, Person, Person, Person, Person];
  const image = (bytes: Buffer, type: string) => new Blob([bytes, Buffer.alloc(100_000, type)], { type });
  await ada.send('PUT', '/profiles/me', { form: { image: image(samples.png, 'image/png') } });
  await ben.send('PUT', '/profiles/me', { form: { image: image(samples.jpeg, 'image/jpeg') } });
  await befriend(ada, ben);
  await befriend(ben, cyd);
  await dan.send('POST', `/friends/request?to=${ada.id}`);
  await ada.send('POST', `/friends/request?to=${eve.id}`);
  for (const author of people) {
    const { id } = await createPost(author, { title: 'A "quoted" title \\ 🎈', text: 'Line one\nline two' });
    await createPost(author, { image: image(samples.gif, 'image/gif') });
    for (const reader of people) await reader.send('POST', `/posts/like?id=${id}`);
  }
  const { id: gone } = await createPost(eve);
  await ada.send('POST', `/posts/like?id=${gone}`);
  await eve.send('DELETE', `/posts/delete?id=${gone}`);
  await ada.send('POST', '/posts/create', KEYED);
  await service.login(ada.email);
  return people;
}

/** All that these people see, and are. */
export async function whatIsSeen(t: Test, url: string, people: readonly Person[]) {
  const ask = createSender(t, url);
  const seen: Record<string, unknown> = {};
  for (const { token, name } of people) {
    const get = async (path: string) => {
      const { status, body, bytes } = await ask('GET', path, { token });
      seen[`${name} ${path}`] = [status, body ?? createHash('sha256').update(bytes).digest('hex')];
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
    for (const path of [...paths, ...people.map(({ id }) => `/profiles/${id}`)]) bodies.push(await get(path));
    for (const { image, profile_link: picture } of bodies.flat()) {
      for (const link of [image, picture]) if (link) await get(new URL(link, url).pathname);
    }
    const { body: sessions } = await ask('GET', '/auth/sessions', { token });
    // A look moves it, once a minute.
    seen[`${name} sessions`] = sessions.map(({ last_used_at: _, ...session }: { last_used_at: string }) => session);
  }
  return seen;
}

/** Fills stores through a service, and with more behind its back. */
export async function filled(t: Test, variables: NodeJS.ProcessEnv, more?: (stores: BareStores) => Promise<void>) {
  const first = await startTestService(t, variables);
  const people = await populate(first);
  await first.stop();
  if (more) await openBare(variables, more);
  const service = await startTestService(t, variables);
  const seen = await whatIsSeen(t, service.url, people);
  await service.stop();
  return { people, seen };
}

export async function openBare(variables: NodeJS.ProcessEnv, use: (stores: BareStores) => Promise<unknown>) {
  const stores = await openBareStores(readConfig(variables).stores, quiet);
  try {
    await use(stores);
  } finally {
    await stores.close();
  }
}
