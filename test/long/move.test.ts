import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { BareStores } from '../../db/stores/index.js';
import { samples } from '../../scripts/contract-test/client/index.js';
import { createSender, type HttpOptions } from '../support/http.js';
import { embeddedVariables, runMove, SHARED_VARIABLES, withBareStores } from '../support/moves.js';
import { expectRefusedStart, IN_USE } from '../support/processes.js';
import {
  befriend,
  createPost,
  picture,
  startTestService,
  type TestService,
  type TestUser,
} from '../support/service.js';
import {
  emptyGraph,
  freshStores,
  needsServers,
  onServices,
  queryDatabase,
  temporaryDirectory,
} from '../support/stores.js';

/** Returns the variables of empty stores on real servers. All tests share one graph, so it is emptied. */
async function serverVariables(t: Test): Promise<NodeJS.ProcessEnv> {
  const variables = await freshStores(t);
  await emptyGraph();
  return { ...variables, ...SHARED_VARIABLES };
}

const KEYED_POST: HttpOptions = {
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
async function readAsUsers(t: Test, url: string, users: readonly TestUser[]) {
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
async function fillStores(t: Test, variables: NodeJS.ProcessEnv, more?: (stores: BareStores) => Promise<void>) {
  const first = await startTestService(t, variables);
  const users = await populate(first);
  await first.stop();
  if (more) await withBareStores(variables, more);
  const service = await startTestService(t, variables);
  const responses = await readAsUsers(t, service.url, users);
  await service.stop();
  return { users, responses };
}

type Filled = Awaited<ReturnType<typeof fillStores>>;

/** Starts a service, and expects it to respond to read requests as before. */
async function startUnchanged(t: Test, environment: NodeJS.ProcessEnv, { users, responses }: Filled) {
  const service = await startTestService(t, environment);
  t.strictSame(await readAsUsers(t, service.url, users), responses);
  return service;
}

/** Returns the beginning of the name of the PostgreSQL, without credentials. */
const nameOf = ({ DATABASE_URL, DATA_DIR }: NodeJS.ProcessEnv) =>
  DATABASE_URL ? `postgres://${new URL(DATABASE_URL).host}` : `${DATA_DIR}/postgres`;

async function expectMoved(t: Test, source: NodeJS.ProcessEnv, target: NodeJS.ProcessEnv): Promise<string> {
  const { code, output } = await runMove(t, source, target);
  t.equal(code, 0, output);
  return output;
}

/**
 * Moves stores, and expects users to see the same on the target, new rows to get new ids, and the source not to start. Returns
 * why the source does not start.
 */
async function expectMove(t: Test, source: NodeJS.ProcessEnv, target: NodeJS.ProcessEnv) {
  const { users, responses } = await fillStores(t, source, insertManyRows);
  const output = await expectMoved(t, source, target);
  const [names = '', counts = ''] = output.split('\n\n');
  t.match(names, new RegExp(`^postgres +${nameOf(source)}\\S* +${nameOf(target)}`, 'm'));
  // The users and posts of `fillStores` and `insertManyRows`.
  t.match(counts, /^accounts +1305 +1305$/m);
  t.match(counts, /^posts +1311 +1311$/m);
  t.match(counts, /^outbox +([1-9]\d*) +\1$/m);
  t.match(counts, /^images +7 +7$/m);
  t.match(counts, /^operator_log +1300 +1300$/m);
  const refusal = await expectRefusedStart(t, source, /was moved to/);

  const service = await startTestService(t, target);
  const { db } = service.stores;
  const action = await db.insertInto('operator_log').values({ operator: 'x', command: 'x' }).returning('id').execute();
  t.same(action, [{ id: 1301 }]);
  const last = await db.selectFrom('operator_log').selectAll().where('id', '=', 1300).executeTakeFirst();
  t.match(last, { operator: 'ada', account_id: 1300, post_id: null, reason: 'spam “1300”', created_at: /Z$/ });
  const nextEntry = await sql<{ id: number }>`select nextval('outbox_id_seq') as id`.execute(db);
  // The seven uploads of `fillStores` alone use more ids.
  t.ok((nextEntry.rows[0]?.id ?? 0) > 5, 'new outbox entries do not get the ids of moved ones');
  const [{ token }] = users as [TestUser];
  const retry = await service.send('POST', '/posts/create', { token, ...KEYED_POST });
  t.equal(retry.status, 201);
  const afterRetry = await readAsUsers(t, service.url, users);
  t.strictSame(afterRetry, responses, 'a retry of a request from before the move creates nothing');
  const form = { title: 'New', text: 'here', image: picture() };
  const post = await service.send('POST', '/posts/create', { token, form });
  t.equal(post.status, 201);
  t.equal(post.body.like_count, 0, 'a new post has no likes');
  await service.stop();
  return refusal;
}

// On servers, the next two tests check the same.
t.test('moves from one data directory to another', { skip: onServices && 'needs embedded stores' }, async (t) => {
  await expectMove(t, await embeddedVariables(t), { ...SHARED_VARIABLES, DATA_DIR: await temporaryDirectory(t) });
});

t.test('moves from a data directory to real servers', needsServers, async (t) => {
  const target = await serverVariables(t);
  const database = new URL(target.DATABASE_URL ?? '').pathname.slice(1);
  // Times must not depend on the time zone of the server.
  await queryDatabase(target.DATABASE_URL ?? '', `alter database ${database} set timezone = 'Asia/Kolkata'`);
  await expectMove(t, await embeddedVariables(t), target);
});

t.test('moves from real servers to a data directory', needsServers, async (t) => {
  const target = { ...SHARED_VARIABLES, DATA_DIR: await temporaryDirectory(t) };
  t.match(await expectMove(t, await serverVariables(t), target), `was moved to ${target.DATA_DIR}`);
});

t.test('refuses a source whose service is running on real servers', needsServers, async (t) => {
  const source = await serverVariables(t);
  const service = await startTestService(t, source);
  await service.createUser();
  const { code, output } = await runMove(t, source, await embeddedVariables(t));
  t.equal(code, IN_USE);
  t.match(output, /in use by another process of this service: stop it first/);
});

t.test('moves only the images or only the graph', needsServers, async (t) => {
  const real = await serverVariables(t);
  const { S3_BUCKET: _bucket, S3_ENDPOINT: _endpoint, ...onDisk } = real;
  const { NEO4J_URI: _uri, ...inTables } = onDisk;
  const filled = await fillStores(t, real);
  const elsewhere = { ...inTables, DATA_DIR: await temporaryDirectory(t) };
  const backInNeo4j = { ...elsewhere, NEO4J_URI: real.NEO4J_URI };
  const moves: [NodeJS.ProcessEnv, NodeJS.ProcessEnv][] = [
    [real, onDisk],
    [onDisk, inTables],
    [inTables, elsewhere],
    [elsewhere, backInNeo4j],
    [backInNeo4j, elsewhere],
  ];
  for (const [source, target] of moves) {
    // A move does not delete what it has copied, and a target must be empty, except for the tables of a graph.
    if (target === backInNeo4j) await emptyGraph();
    if (target.DATA_DIR !== source.DATA_DIR)
      await rm(join(target.DATA_DIR ?? '', 'images'), { recursive: true, force: true });
    await expectRefusedStart(t, target);
    await expectMoved(t, source, target);
    // The stores of the source no longer belong together.
    await expectRefusedStart(t, source);
    await (await startUnchanged(t, target, filled)).stop();
  }
  t.match((await runMove(t, elsewhere, inTables)).output, /image store of the target \(disk\) is not empty/);
  t.match((await runMove(t, elsewhere, backInNeo4j)).output, /social graph of the target \(neo4j\) is not empty/);
  t.match((await runMove(t, elsewhere, elsewhere)).output, /^Nothing to move/);
  await startUnchanged(t, elsewhere, filled);
});

t.test('claims the stores of a version without installation markers before it moves them', async (t) => {
  const source = await embeddedVariables(t);
  const service = await startTestService(t, source);
  const ada = await service.createUser();
  await service.stop();
  await withBareStores(source, async ({ db, images }) => {
    await db.deleteFrom('installation').execute();
    await images.release();
  });
  const target = await embeddedVariables(t);
  await expectMoved(t, source, target);
  const moved = await startTestService(t, target);
  t.equal((await moved.send('GET', '/auth/me', { token: ada.token })).status, 200);
});

/** Inserts more than one batch of accounts, posts, sessions, requests and likes, and a pending outbox entry. */
async function insertManyRows({ db, graph }: BareStores): Promise<void> {
  await sql`
    insert into accounts (name, username, username_key, email, password_hash)
    select 'N', 'n' || n, 'n' || n, n || '@people.example', '-' from generate_series(1, 1300) n`.execute(db);
  const { rows } = await sql<{ id: number }>`select id from accounts order by id desc limit 1300`.execute(db);
  await sql`
    insert into posts (author_id, title, text)
    select ${rows[0]?.id}::int8, 'T', repeat(n::text, 100) from generate_series(1, 1300) n`.execute(db);
  await sql`
    insert into sessions (id, account_id, device_name, expires_at)
    select gen_random_uuid(), ${rows[0]?.id}::int8, 'D', now() + interval '1 day' from generate_series(1, 1300)`.execute(
    db,
  );
  await sql`insert into outbox (kind, key, due_at) values ('image', 'x.png', now() + interval '1 hour')`.execute(db);
  await sql`
    insert into operator_log (operator, command, account_id, reason)
    select 'ada', 'accounts disable', n, 'spam “' || n || '”' from generate_series(1, 1300) n`.execute(db);
  const ids = rows.map(({ id }) => id);
  await graph.bulk.addEdges({
    friendships: [],
    requests: ids.slice(1).map((to, n) => ({ from: ids[n] as number, to })),
    likes: ids.map((person) => ({ person, post: 1 })),
  });
}

/** Makes the target fail, or skip rows, when posts are copied to it. */
const failAtPosts = (variables: NodeJS.ProcessEnv, statement: string) =>
  withBareStores(variables, async ({ db }) => {
    await sql`
      create or replace function at_posts() returns trigger language plpgsql as ${sql.lit(`begin ${statement}; end`)}`.execute(
      db,
    );
    await sql`create or replace trigger at_posts before insert on posts for each row execute function at_posts()`.execute(
      db,
    );
  });

t.test('an interrupted move leaves the source as it is, and can be repeated into an emptied target', async (t) => {
  const source = await embeddedVariables(t);
  const target = onServices ? await serverVariables(t) : await embeddedVariables(t);
  const filled = await fillStores(t, source, insertManyRows);
  await failAtPosts(target, "raise exception 'interrupted'");
  t.match((await runMove(t, source, target)).output, 'interrupted');
  await expectRefusedStart(t, target, /has not been finished: empty them and run it again/);
  t.match((await runMove(t, source, target)).output, /PostgreSQL of the target is not empty/);
  await (await startUnchanged(t, source, filled)).stop();

  await failAtPosts(target, 'return new');
  await withBareStores(target, ({ db }) => sql`truncate accounts, posts, outbox cascade`.execute(db));
  await expectMoved(t, source, target);
  await startUnchanged(t, target, filled);
});

t.test('reports numbers that differ, and no service starts on the target', async (t) => {
  const source = await embeddedVariables(t);
  const target = await embeddedVariables(t);
  const filled = await fillStores(t, source);
  await failAtPosts(target, 'return null');
  const { code, output } = await runMove(t, source, target);
  t.equal(code, 1);
  t.match(output, /^posts +11 +0$/m);
  t.match(output, /^The numbers differ\. .* Empty the target, and move again\.$/m);
  await expectRefusedStart(t, target, /has not been finished/);
  await startUnchanged(t, source, filled);
});
