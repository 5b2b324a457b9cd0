import { createWriteStream, existsSync } from 'node:fs';
import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import t from 'tap';
import type { ImageStore } from '../../db/images/index.js';
import { type BareStores, openBareStores } from '../../db/stores.js';
import { readConfig } from '../../handlers/config/index.js';
import { samples } from '../../scripts/contract-test/images.js';
import { startServer, stopServer } from '../../scripts/services/control.js';
import { folder } from '../../scripts/services/folder.js';
import { verify } from '../../scripts/verify/verify.js';
import { expectConsistentStores } from '../support/consistency.js';
import { befriend, startTestService, type TestService } from '../support/service.js';
import { freshStores, needsServers, silentLog, temporaryDirectory } from '../support/stores.js';

/** Returns the data directory of the test Neo4j server. */
const findGraphData = async () => {
  const home = (await readdir(folder('data'))).find((name) => name.startsWith('neo4j-')) ?? '';
  return folder('data', home, 'data');
};

const TABLES = ['accounts', 'sessions', 'posts', 'outbox', 'installation'] as const;

/** Reads all tables in one snapshot, as pg_dump does. */
async function dumpTables({ maintenanceDb }: BareStores): Promise<Map<string, object[]>> {
  return maintenanceDb
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const tables = new Map<string, object[]>();
      for (const table of TABLES) tables.set(table, await trx.selectFrom(table).selectAll().execute());
      return tables;
    });
}

async function restoreTables({ maintenanceDb }: BareStores, tables: Map<string, object[]>): Promise<void> {
  for (const [table, rows] of tables) {
    const json = JSON.stringify(rows);
    await sql`insert into ${sql.table(table)}
      select * from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`.execute(maintenanceDb);
  }
  // pg_dump restores sequences too.
  await sql`select setval('posts_id_seq', (select max(id) from posts))`.execute(maintenanceDb);
}

/** Copies the images that have not been copied yet. */
async function copyImages({ images }: { images: ImageStore }, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for await (const name of images.list()) {
    const path = join(directory, name);
    const image = existsSync(path) ? undefined : await images.get(name);
    if (image) await pipeline(image.stream, createWriteStream(path));
  }
}

async function restoreImages({ images }: { images: ImageStore }, directory: string): Promise<void> {
  for (const name of await readdir(directory)) await images.put(name, join(directory, name));
}

interface KnownPost {
  id: number;
  image: string;
}

/** Starts clients that post, like, befriend and delete until `stop`, also while a store is unavailable. */
async function startLoad(service: TestService) {
  const users = await Promise.all(Array.from({ length: 4 }, () => service.createUser()));
  const posts = new Set<KnownPost>();
  let isRunning = true;
  let count = 0;
  let newestDeletableId = Number.POSITIVE_INFINITY;
  const clients = users.map(async (user, index) => {
    const ownPosts: KnownPost[] = [];
    for (let round = 0; isRunning; round += 1) {
      const form = { title: 'T', text: 'T', image: new Blob([samples.png], { type: 'image/png' }) };
      const { status, body } = await user.send('POST', '/posts/create', { form });
      if (status === 201) {
        count += 1;
        ownPosts.push(body);
        posts.add(body);
      }
      for (const post of posts) await user.send('POST', `/posts/like?id=${post.id}`);
      const other = users[(index + 1) % users.length] ?? user;
      if (round % 3 === 0) await befriend(user, other);
      if (round % 3 === 2) await user.send('DELETE', `/friends/remove?id=${other.id}`);
      const [old] = ownPosts;
      if (old && ownPosts.length > 6 && old.id <= newestDeletableId) {
        ownPosts.shift();
        posts.delete(old);
        await user.send('DELETE', `/posts/delete?id=${old.id}`);
      }
    }
  });
  return {
    users,
    posts,
    createdCount: () => count,
    /** Stops the deletion of new posts: an image that is created and deleted while images are copied is in no copy. */
    keepNewPosts: () => {
      newestDeletableId = Math.max(...[...posts].map(({ id }) => id));
    },
    deleteAnyPosts: () => {
      newestDeletableId = Number.POSITIVE_INFINITY;
    },
    async stop() {
      isRunning = false;
      await Promise.all(clients);
    },
  };
}

t.test('a backup taken under load can be restored and repaired', needsServers, async (t) => {
  const service = await startTestService(t);
  const backup = await temporaryDirectory(t);
  const [images, graph] = [join(backup, 'images'), join(backup, 'graph')];
  const { users, posts, createdCount, keepNewPosts, deleteAnyPosts, stop } = await startLoad(service);
  while (createdCount() < 16) await sleep(20);

  keepNewPosts();
  await copyImages(service.stores, images);
  const acknowledged = [...posts];
  const tables = await dumpTables(service.stores);
  const dumped = new Set(posts);
  await copyImages(service.stores, images);
  deleteAnyPosts();
  // The graph then has likes of posts created after the dump.
  for (const before = createdCount(); createdCount() < before + 8; ) await sleep(20);
  await stopServer('neo4j');
  await cp(await findGraphData(), graph, { recursive: true });
  await startServer('neo4j');
  // Writes after the backup are lost.
  for (const before = createdCount(); createdCount() < before + 8; ) await sleep(20);
  await stop();
  await service.stop();

  // Simulates the loss of all stores.
  const environment = await freshStores(t);
  await stopServer('neo4j');
  await rm(await findGraphData(), { recursive: true });
  await cp(graph, await findGraphData(), { recursive: true });
  await startServer('neo4j');
  const bare = await openBareStores(readConfig(environment).stores, silentLog);
  await restoreTables(bare, tables);
  await restoreImages(bare, images);
  const { id } = await bare.db.selectFrom('installation').select('id').executeTakeFirstOrThrow();
  await bare.images.claim(id);
  const { findings } = await verify(bare, { repair: true, log: silentLog });
  for (const { rule, found, repaired } of findings)
    if (found > 0) t.comment(`${rule.title}: ${found} violations, ${repaired} repaired`);
  await bare.close();

  const restoredService = await startTestService(t, environment);
  const [reader] = users;
  const read = (path: string) => restoredService.send('GET', path, { token: reader?.token ?? '' });
  // A post that was deleted while the tables were read may be missing in the backup.
  const certain = acknowledged.filter((post) => dumped.has(post));
  t.ok(certain.length >= 8);
  for (const post of certain) {
    t.match(await read(`/posts/${post.id}`), { status: 200, body: { image: post.image } });
    t.ok((await read(post.image)).bytes.equals(samples.png), 'the image is complete');
  }
  await expectConsistentStores(t, restoredService.stores);
  const { body } = await restoredService.send('POST', '/posts/create', {
    token: reader?.token ?? '',
    form: { title: 'T', text: 'T' },
  });
  const restored = await restoredService.stores.db
    .selectFrom('posts')
    .select('id')
    .where('id', '<>', body.id)
    .execute();
  t.ok(restored.length > 0 && restored.every(({ id }) => id < body.id), 'a new post does not reuse an id');
  t.equal((await read(`/posts/${body.id}`)).body.like_count, 0, 'a new post has no likes');
});
