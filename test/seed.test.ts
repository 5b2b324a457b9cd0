import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { Stores } from '../db/stores/index.js';
import { document } from '../scripts/contract-test/client/index.js';
import { type Population, problemsOf } from '../scripts/seed/population.js';
import { seed } from '../scripts/seed/seed.js';
import { runCommand } from './support/processes.js';
import { startTestService } from './support/service.js';
import { emptyStores, findDifferences, openStoresWithoutRelay } from './support/store-fixtures.js';
import { claimGraphFor, onServices, openTestStores, temporaryDirectory } from './support/stores.js';

const POPULATION: Population = {
  accounts: 30,
  posts: 50,
  likes: 200,
  friends: 4,
  privatePercent: 50,
};

/** Returns everything that a seed determines, with indexes instead of ids. */
async function readSeeded({ db, graph }: Stores, seeded: { accounts: number[]; posts: number[] }) {
  const accounts = await db.selectFrom('accounts').select(['id', 'name', 'private']).orderBy('id').execute();
  const posts = await db.selectFrom('posts').select(['id', 'author_id', 'title', 'text']).orderBy('id').execute();
  const { friendships, likes } = await graph.bulk.edgesOf(seeded.accounts);
  const person = (id: number) => seeded.accounts.indexOf(id);
  const post = (id: number) => seeded.posts.indexOf(id);
  return {
    accounts: accounts.filter(({ id }) => person(id) >= 0).map(({ id, ...rest }) => [person(id), rest]),
    posts: posts
      .filter(({ id }) => post(id) >= 0)
      .map(({ id, author_id, ...rest }) => [post(id), person(author_id), rest]),
    friendships: friendships.map((edge) => `${person(edge.person)} ${person(edge.friend)}`).sort(),
    likes: likes.map((edge) => `${person(edge.person)} ${post(edge.post)}`).sort(),
  };
}

t.test('creates the requested data in addition to existing data', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  const steps = new Map<string, boolean>();
  const runSeed = (population: Population) =>
    seed(stores, population, 'hash', (step, done, total) => steps.set(step, done === total));
  const [first, second] = [await runSeed(POPULATION), await runSeed(POPULATION)];
  const allPrivate = await runSeed({ ...POPULATION, privatePercent: 100 });
  t.same(await findDifferences(stores), {});
  t.same(new Set(steps.values()), new Set([true]), 'reports the progress of every step to its end');

  const data = await readSeeded(stores, first);
  t.equal(data.accounts.length, POPULATION.accounts);
  t.equal(data.posts.length, POPULATION.posts);
  t.same(await readSeeded(stores, second), data);
  t.equal(data.likes.length, POPULATION.likes);
  t.equal(data.friendships.length, POPULATION.accounts * POPULATION.friends);

  const publicAccounts = stores.db.selectFrom('accounts').select('id').where('private', '=', false);
  t.same(await publicAccounts.where('id', 'in', allPrivate.accounts).execute(), [{ id: allPrivate.accounts[0] }]);
  const [newest] = await stores.db.selectFrom('posts').select('id').orderBy('created_at', 'desc').execute();
  t.equal(newest?.id, allPrivate.posts.at(-1), 'the last post is the newest');

  const { rows: notVacuumed } = await sql`
    select relname from pg_class where relname in ('accounts', 'posts') and relallvisible = 0`.execute(stores.db);
  t.same(notVacuumed, [], 'the tables are vacuumed');
});

t.test('rejects impossible populations', async (t) => {
  for (const impossible of [
    { accounts: 0, likes: 0, friends: 0 },
    { privatePercent: 101 },
    { friends: 30 },
    { accounts: 31, friends: 3 },
    { likes: 1501 },
  ]) {
    t.equal(problemsOf({ ...POPULATION, ...impossible }).length, 1, JSON.stringify(impossible));
  }
});

/** Returns the variables of empty stores that a command can open. */
async function emptyClaimedStores(t: Test): Promise<NodeJS.ProcessEnv> {
  const environment = await emptyStores(t);
  // Opening stores on servers for the first time claims them.
  if (onServices) await (await openTestStores(t, environment)).close();
  await claimGraphFor(environment);
  return environment;
}

t.test('the command fills stores, and prints the password of all accounts', async (t) => {
  const environment = await emptyClaimedStores(t);
  const options = ['--accounts', '20', '--posts', '30', '--likes', '40', '--friends', '2', '--private', '50'];
  const { code, output } = await runCommand(t, ['seed/index', ...options], environment);
  t.equal(code, 0, output);
  t.match(output, /^Created 20 accounts and 30 posts in [\d.]+ s\.$/m);
  const [, email = '', password = ''] = /^Log in as (\S+) with the password (\S+)\. /m.exec(output) ?? [];

  const service = await startTestService(t, environment);
  const login = await service.send('POST', '/auth/login', { json: { email, password } });
  t.equal(login.status, 200);
  const { body } = await service.send('GET', '/posts?limit=100', { token: login.body.token });
  const { rows } = await sql<{ public_or_own: number }>`
    select count(*) as public_or_own from posts p join accounts a on a.id = p.author_id
    where not a.private or a.id = ${login.body.id}`.execute(service.stores.db);
  // The feed also contains the posts of private friends.
  t.ok(body.length >= (rows[0]?.public_or_own ?? 0) && body.length > 0);
});

t.test('--demo adds the people and posts of the examples in openapi.yaml', async (t) => {
  const environment = await emptyClaimedStores(t);
  // Another account, as after the commands of the README, does not change the ids.
  const before = await startTestService(t, environment);
  await before.createUser();
  await before.stop();
  for (const option of ['--demo', '--accounts=1'])
    t.match(await runCommand(t, ['seed/index', option], environment), {
      code: 1,
      output: /^The database has accounts\. /,
    });
  const { code, output } = await runCommand(t, ['seed/index', '--demo', '--yes'], environment);
  t.equal(code, 0, output);

  const { examples } = document.paths['/auth/login'].post.requestBody.content['application/json'];
  const { email, password } = examples.mira.value;
  t.match(output, `Log in as ${email} with the password ${password}.`);
  const printed = new Map(
    [...output.matchAll(/^(\d+) .*? (\S+)@example\.org +([\d, ]+)$/gm)].map(([, id, name, posts = '']) => [
      name,
      { id: Number(id), posts: posts.split(', ').map(Number) },
    ]),
  );
  const [mira, tomas] = [printed.get('mira.solheim'), printed.get('tomas.reyes')];
  const service = await startTestService(t, environment);
  const { body: session } = await service.send('POST', '/auth/login', { json: { email, password } });
  t.equal(session.id, mira?.id);
  const get = async (path: string) => (await service.send('GET', path, { token: session.token })).body;
  const feed = await get('/posts?limit=2');
  const exampleFeed = document.paths['/posts'].get.responses[200].content['application/json'].examples.mira.value;
  for (const [index, { id, author_id, image, created_at, ...fields }] of exampleFeed.entries()) {
    t.match(feed[index], { ...fields, image: image && String });
    const ids = [feed[index].id, feed[index].author_id];
    const author = index ? mira : tomas;
    t.same(ids, [author?.posts.at(-1), author?.id]);
    if (!onServices) t.same(ids, [id, author_id], 'the ids are those of the examples');
  }
  t.match(await get(`/profiles/${tomas?.id}`), { username: 'tomas.reyes', private: true, profile_link: String });
  for (const [path, name] of [
    ['posts', 'PostImageInPath'],
    ['profiles', 'ProfilePictureInPath'],
  ] as const) {
    const { example } = document.components.parameters[name];
    const response = await service.send('GET', `/${path}/image/${example}`, { token: session.token });
    t.equal(response.headers.get('content-type'), 'image/png', 'the example of a download works');
  }
  for (const [path, name] of [
    ['/friends', 'FriendInQuery'],
    ['/friends/requests', 'FromUser'],
  ] as const) {
    const ids = (await get(path)).map(({ id }: { id: number }) => id);
    const { example } = document.components.parameters[name];
    if (!onServices) t.ok(ids.includes(example), `the example of ${name} is in the list`);
  }
  for (const [path, status] of [
    ['/auth/register', 201],
    ['/auth/login', 200],
  ] as const) {
    const bodies = Object.values<{ value: object }>(
      document.paths[path].post.requestBody.content['application/json'].examples,
    );
    for (const { value } of bodies) {
      const response = await service.send('POST', path, { json: value });
      t.equal(response.status, status, `the examples of ${path} work`);
    }
  }
  await service.stop();

  const again = await runCommand(t, ['seed/index', '--demo', '--yes'], environment);
  t.equal(again.code, 1);
  t.match(again.output, /^The account \S+ exists, so the demo was not added\. .*\n$/);
});

t.test('the command reports missing and bad options, without the password', async (t) => {
  const environment = { DATA_DIR: await temporaryDirectory(t) };
  const cases: [options: string[], message: RegExp, code: number][] = [
    [[], /^error: expected --demo or --accounts\n/, 2],
    [['--demo', '--posts', '1'], /^error: option '--demo' cannot be used with option '--posts <n>'\n/, 2],
    [
      ['--accounts', '1', '--password', 'Password12!'],
      /^(?!.*Password12)--password is too short\n--password must not be a common password .*\n$/s,
      1,
    ],
    [['--accounts', '1', '--password', `Qz!${'4k8m'.repeat(32)}`.slice(0, 129)], /^--password is too long\n$/, 1],
  ];
  for (const [options, message, code] of cases)
    t.match(await runCommand(t, ['seed/index', ...options], environment), { code, output: message });
});
