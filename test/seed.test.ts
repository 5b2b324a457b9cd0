import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { Stores } from '../db/stores/index.js';
import { document } from '../scripts/contract-test/client/index.js';
import { problemsOf } from '../scripts/seed/population.js';
import { seed } from '../scripts/seed/seed.js';
import { runCommand } from './support/processes.js';
import { startTestService } from './support/service.js';
import { emptyStores, findDifferences, openStoresWithoutRelay } from './support/store-fixtures.js';
import { claimGraphFor, onServices, openTestStores, temporaryDirectory } from './support/stores.js';

/** Returns everything that a seed determines, with indexes instead of ids. */
async function readSeeded({ db, graph }: Stores, seeded: { accounts: number[]; posts: number[] }) {
  const accounts = db.selectFrom('accounts').select(['name', 'private']).where('id', 'in', seeded.accounts);
  const posts = db.selectFrom('posts').select(['author_id', 'title', 'text']).where('id', 'in', seeded.posts);
  const { friendships, likes } = await graph.bulk.edgesOf(seeded.accounts);
  const person = (id: number) => seeded.accounts.indexOf(id);
  return {
    accounts: await accounts.orderBy('id').execute(),
    posts: (await posts.orderBy('id').execute()).map((post) => ({ ...post, author_id: person(post.author_id ?? 0) })),
    friendships: friendships.map((edge) => `${person(edge.person)} ${person(edge.friend)}`).sort(),
    likes: likes.map((edge) => `${person(edge.person)} ${seeded.posts.indexOf(edge.post)}`).sort(),
  };
}

/** Returns the variables of empty stores that a command can open. */
async function emptyClaimedStores(t: Test): Promise<NodeJS.ProcessEnv> {
  const environment = await emptyStores(t);
  // Opening stores on servers for the first time claims them.
  if (onServices) await (await openTestStores(t, environment)).close();
  await claimGraphFor(environment);
  return environment;
}

t.test('the command creates what its options say, and prints the password of all accounts', async (t) => {
  const environment = await emptyClaimedStores(t);
  const numbers = ['--accounts', '20', '--posts', '30', '--likes', '40', '--friends', '2', '--private', '100'];
  const { code, output } = await runCommand(t, ['seed/index', ...numbers], environment);
  t.equal(code, 0, output);
  t.match(output, /^Created 20 accounts and 30 posts in [\d.]+ s\.$/m);
  const [, email = '', password = ''] = /^Log in as (\S+) with the password (\S+)\. /m.exec(output) ?? [];

  const stores = await openStoresWithoutRelay(t, environment);
  t.same(await findDifferences(stores), {});
  const accounts = await stores.db.selectFrom('accounts').select(['id', 'private']).orderBy('id').execute();
  t.same(
    accounts.map((account) => account.private),
    [false, ...Array(19).fill(true)],
    'the first account is never private',
  );
  t.equal((await stores.db.selectFrom('posts').select('id').execute()).length, 30);
  const { friendships, likes } = await stores.graph.bulk.edgesOf(accounts.map(({ id }) => id));
  t.same([friendships.length, likes.length], [20 * 2, 40]);
  await stores.close();
  const service = await startTestService(t, environment);
  t.equal((await service.send('POST', '/auth/login', { json: { email, password } })).status, 200);
});

t.test(
  'adds the same data to existing data each time, vacuums the tables, and makes the last post the newest',
  async (t) => {
    const stores = await openStoresWithoutRelay(t);
    const population = { accounts: 30, posts: 50, likes: 200, friends: 4, privatePercent: 50 };
    const unfinished = new Set<string>();
    const runSeed = () =>
      seed(stores, population, 'hash', (step, done, total) =>
        done < total ? unfinished.add(step) : unfinished.delete(step),
      );
    const [first, second] = [await runSeed(), await runSeed()];
    t.same([...unfinished], [], 'every step reports its progress to the end');
    t.same(await findDifferences(stores), {});
    t.same(await readSeeded(stores, second), await readSeeded(stores, first));
    const newest = stores.db.selectFrom('posts').select('id').orderBy('created_at', 'desc').limit(1);
    t.same(await newest.execute(), [{ id: second.posts.at(-1) }]);
    const { rows: notVacuumed } = await sql`
    select relname from pg_class where relname in ('accounts', 'posts') and relallvisible = 0`.execute(stores.db);
    t.same(notVacuumed, []);
  },
);

t.test('rejects impossible populations', async (t) => {
  const possible = { accounts: 30, posts: 50, likes: 200, friends: 4, privatePercent: 50 };
  t.same(problemsOf(possible), []);
  for (const impossible of [
    { accounts: 0, likes: 0, friends: 0 },
    { privatePercent: 101 },
    { friends: 30 },
    { accounts: 31, friends: 3 },
    { likes: 1501 },
  ])
    t.equal(problemsOf({ ...possible, ...impossible }).length, 1, JSON.stringify(impossible));
});

t.test('--demo adds the people and posts of the examples in openapi.yaml', async (t) => {
  const environment = await emptyClaimedStores(t);
  // Another account, as after the commands of the README, does not change the ids.
  const before = await startTestService(t, environment);
  await before.createUser();
  await before.stop();
  const runSeed = (...options: string[]) => runCommand(t, ['seed/index', ...options], environment);
  for (const option of ['--demo', '--accounts=1'])
    t.match(await runSeed(option), { code: 1, output: /^The database has accounts\. / });
  const { code, output } = await runSeed('--demo', '--yes');
  t.equal(code, 0, output);
  t.match(await runSeed('--demo', '--yes'), {
    code: 1,
    output: /^The account \S+ exists, so the demo was not added\. /,
  });

  const { examples } = document.paths['/auth/login'].post.requestBody.content['application/json'];
  const { email, password } = examples.mira.value;
  t.match(output, `Log in as ${email} with the password ${password}.`);
  const service = await startTestService(t, environment);
  const { body: session } = await service.send('POST', '/auth/login', { json: { email, password } });
  const get = async (path: string) => (await service.send('GET', path, { token: session.token })).body;
  const exampleFeed = document.paths['/posts'].get.responses[200].content['application/json'].examples.mira.value;
  for (const [index, post] of (await get('/posts?limit=2')).entries()) {
    const { id, author_id, image, created_at, ...fields } = exampleFeed[index];
    t.match(post, { ...fields, image: image && String });
    // Servers are shared with other tests, which have used some ids.
    if (!onServices) t.same([post.id, post.author_id], [id, author_id]);
  }
  for (const [path, name] of [
    ['posts', 'PostImageInPath'],
    ['profiles', 'ProfilePictureInPath'],
  ] as const) {
    const { example } = document.components.parameters[name];
    const { headers } = await service.send('GET', `/${path}/image/${example}`, { token: session.token });
    t.equal(headers.get('content-type'), 'image/png', 'the example of a download works');
  }
  for (const [path, name] of [
    ['/friends', 'FriendInQuery'],
    ['/friends/requests', 'FromUser'],
  ] as const) {
    const ids = (await get(path)).map(({ id }: { id: number }) => id);
    if (!onServices) t.ok(ids.includes(document.components.parameters[name].example), `the example of ${name}`);
  }
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
