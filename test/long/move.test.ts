import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { BareStores } from '../../db/stores.js';
import { compareGraph } from '../../scripts/move/graph.js';
import {
  embeddedVariables,
  fillStores,
  KEYED_POST,
  readAsUsers,
  runMove,
  SHARED_VARIABLES,
  serverVariables,
  withBareStores,
} from '../support/moves.js';
import { picture } from '../support/picture.js';
import { expectRefusedStart } from '../support/processes.js';
import { createRandom } from '../support/random.js';
import { startTestService, type TestUser } from '../support/service.js';
import {
  emptyGraph,
  needsServers,
  onServices,
  openTestStores,
  queryDatabase,
  temporaryDirectory,
} from '../support/stores.js';

type Filled = Awaited<ReturnType<typeof fillStores>>;

/** Starts a service, and expects it to respond to read requests as before. */
async function startUnchanged(t: Test, environment: NodeJS.ProcessEnv, { users, responses }: Filled) {
  const service = await startTestService(t, environment);
  t.strictSame(await readAsUsers(t, service.url, users), responses);
  return service;
}

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
  const { users, responses } = await fillStores(t, source);
  t.match(await expectMoved(t, source, target), /Moved and compared/);
  t.match(await expectMoved(t, source, target), /^Nothing to move/);
  const refusal = await expectRefusedStart(t, source);

  const service = await startTestService(t, target);
  const nextEntry = await sql<{ id: number }>`select nextval('outbox_id_seq') as id`.execute(service.stores.db);
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
  t.equal(code, 1);
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
    // The move from Neo4j to the tables has not deleted the graph in Neo4j, and a target must be empty.
    if (target === backInNeo4j) await emptyGraph();
    await expectMoved(t, source, target);
    t.match(await expectMoved(t, target, target), /^Nothing to move/);
    // The stores of the source no longer belong together.
    await expectRefusedStart(t, source);
    await (await startUnchanged(t, target, filled)).stop();
  }
  t.match((await runMove(t, elsewhere, inTables)).output, /image store of the target \(disk\) is not empty/);

  const abandoned = { ...elsewhere, DATA_DIR: await temporaryDirectory(t) };
  t.equal((await runMove(t, elsewhere, abandoned, (output) => /comparing/.test(output))).code, 'SIGKILL');
  for (const stores of [elsewhere, abandoned]) await expectRefusedStart(t, stores, /has not been finished/);
  // A move back to the source cancels the unfinished one.
  await expectMoved(t, elsewhere, elsewhere);
  await expectRefusedStart(t, abandoned, /belongs to another PostgreSQL/);
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

/** Inserts more than one batch of accounts, posts, sessions, requests and likes. */
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
  const ids = rows.map(({ id }) => id);
  await graph.bulk.addEdges({
    friendships: [],
    requests: ids.slice(1).map((to, n) => ({ from: ids[n] as number, to })),
    likes: ids.map((person) => ({ person, post: 1 })),
  });
}

t.test('resumes after being killed repeatedly', async (t) => {
  const source = await embeddedVariables(t);
  const target = onServices ? await serverVariables(t) : await embeddedVariables(t);
  const filled = await fillStores(t, source, insertManyRows);

  const seed = process.env.SEED ?? String(Date.now() % 100_000);
  t.comment(`SEED=${seed}`);
  for (let kill = 0; kill < 4; kill += 1) {
    const linesBeforeKill = 1 + createRandom(seed, kill).below(8);
    const ended = await runMove(t, source, target, (output) => output.split('\n').length > linesBeforeKill);
    t.equal(ended.code, 'SIGKILL', ended.output);
  }
  await expectRefusedStart(t, target, /has not been finished/);

  await expectMoved(t, source, target);
  await startUnchanged(t, target, filled);
});

t.test('reports differences between source and target, and no service starts on the target', async (t) => {
  const source = await embeddedVariables(t);
  await fillStores(t, source);
  const corruptions: Record<string, (stores: BareStores) => Promise<unknown>> = {
    'posts 1 differs': ({ db }) => sql`update posts set text = 'other' where id = 1`.execute(db),
    'posts 2 is missing': ({ db }) => sql`delete from posts where id = 2`.execute(db),
    'accounts 3 differs': ({ db }) => sql`update accounts set token_version = 7 where id = 3`.execute(db),
    'posts 3 differs': ({ db }) =>
      sql`update posts set created_at = created_at + interval '1 ms' where id = 3`.execute(db),
    'outbox \\d+ is unexpected': ({ db }) =>
      sql`insert into outbox (id, kind, key) values (99999, 'post', '1')`.execute(db),
    'sessions \\d+ \\S+ is missing': ({ db }) => sql`delete from sessions where account_id = 4`.execute(db),
    'image \\S+ differs': async ({ directory }) => {
      const [name = ''] = (await readdir(directory.images)).filter((name) => name.endsWith('.gif'));
      await writeFile(join(directory.images, name), 'other');
    },
  };
  const target = await embeddedVariables(t);
  t.equal((await runMove(t, source, target, (output) => /comparing/.test(output))).code, 'SIGKILL');
  await withBareStores(target, async (stores) => {
    for (const corrupt of Object.values(corruptions)) await corrupt(stores);
  });
  const { code, output } = await runMove(t, source, target);
  t.equal(code, 1);
  for (const difference of Object.keys(corruptions)) t.match(output, new RegExp(`^  ${difference}$`, 'm'));
  await expectRefusedStart(t, target, /has not been finished/);
});

t.test('finds relations that differ, and only those', async (t) => {
  const one = await openTestStores(t, onServices ? await serverVariables(t) : await embeddedVariables(t));
  const other = await openTestStores(t, await embeddedVariables(t));
  const friends = [
    { person: 1, friend: 2 },
    { person: 2, friend: 1 },
  ];
  const like = (person: number, post: number) => ({ person, post });
  await one.graph.bulk.addEdges({
    friendships: friends,
    requests: [{ from: 3, to: 1 }],
    likes: [like(1, 1), like(3, 1)],
  });
  await other.graph.bulk.addEdges({
    friendships: friends,
    requests: [{ from: 1, to: 3 }],
    likes: [like(1, 1), like(9, 1)],
  });
  const found: string[] = [];
  await compareGraph(
    { source: one, target: other },
    () => undefined,
    (difference) => found.push(difference),
  );
  t.same(found.sort(), [
    'likes 3 1 is missing',
    'likes 9 1 is unexpected',
    'requests 1 3 is unexpected',
    'requests 3 1 is missing',
  ]);
});
