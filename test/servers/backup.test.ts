import { createWriteStream, existsSync } from 'node:fs';
import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { ImageStore } from '../../db/images/index.js';
import { type BareStores, openBareStores } from '../../db/stores.js';
import { readConfig } from '../../handlers/config/index.js';
import { samples } from '../../scripts/contract-test/images.js';
import { startServer, stopServer } from '../../scripts/services/control.js';
import { folder } from '../../scripts/services/folder.js';
import { verify } from '../../scripts/verify/verify.js';
import { agree } from '../support/agreement.js';
import { befriend, startTestService, type TestService } from '../support/service.js';
import { freshStores, onServices, quiet, temporaryDirectory } from '../support/stores.js';

const skip = !onServices && 'needs real servers: npm run test:services';

/** Where the Neo4j of the tests keeps its databases. */
const graphData = async () => {
  const home = (await readdir(folder('data'))).find((name) => name.startsWith('neo4j-')) ?? '';
  return folder('data', home, 'data');
};

const TABLES = ['accounts', 'sessions', 'posts', 'outbox', 'installation'] as const;

/** In one transaction, so that all tables are of one moment, as pg_dump reads them. */
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
  // As pg_dump does it.
  await sql`select setval('posts_id_seq', (select max(id) from posts))`.execute(maintenanceDb);
}

/** Copies the images that are not there yet, and removes none. */
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

interface Known {
  id: number;
  image: string;
}

/** People who post, like, befriend and delete until they are told to stop; a store that is away stops nobody. */
async function load(service: TestService) {
  const people = await Promise.all(Array.from({ length: 4 }, () => service.createUser()));
  const posts = new Set<Known>();
  let going = true;
  let count = 0;
  let newestToDelete = Number.POSITIVE_INFINITY;
  const live = people.map(async (person, index) => {
    const own: Known[] = [];
    for (let turn = 0; going; turn += 1) {
      const form = { title: 'T', text: 'T', image: new Blob([samples.png], { type: 'image/png' }) };
      const { status, body } = await person.send('POST', '/posts/create', { form });
      if (status === 201) {
        count += 1;
        own.push(body);
        posts.add(body);
      }
      for (const post of posts) await person.send('POST', `/posts/like?id=${post.id}`);
      const other = people[(index + 1) % people.length] ?? person;
      if (turn % 3 === 0) await befriend(person, other);
      if (turn % 3 === 2) await person.send('DELETE', `/friends/remove?id=${other.id}`);
      const [old] = own;
      if (old && own.length > 6 && old.id <= newestToDelete) {
        own.shift();
        posts.delete(old);
        await person.send('DELETE', `/posts/delete?id=${old.id}`);
      }
    }
  });
  return {
    people,
    posts,
    made: () => count,
    /** What is made from now on stays: an image that comes and goes while images are copied is in no copy. */
    keepNew: () => {
      newestToDelete = Math.max(...[...posts].map(({ id }) => id));
    },
    deleteAny: () => {
      newestToDelete = Number.POSITIVE_INFINITY;
    },
    async stop() {
      going = false;
      await Promise.all(live);
    },
  };
}

t.test('a backup taken under load, restored and repaired, is a whole service again', { skip }, async (t: Test) => {
  const service = await startTestService(t);
  const backup = await temporaryDirectory(t);
  const [images, graph] = [join(backup, 'images'), join(backup, 'graph')];
  const { people, posts, made, keepNew, deleteAny, stop } = await load(service);
  while (made() < 16) await sleep(20);

  keepNew();
  await copyImages(service.stores, images);
  const acknowledged = [...posts];
  const tables = await dumpTables(service.stores);
  const dumped = new Set(posts);
  await copyImages(service.stores, images);
  deleteAny();
  // The graph has likes of posts that come after the dump.
  for (const before = made(); made() < before + 8; ) await sleep(20);
  await stopServer('neo4j');
  await cp(await graphData(), graph, { recursive: true });
  await startServer('neo4j');
  // What comes after the backup is lost, but for what it leaves behind.
  for (const before = made(); made() < before + 8; ) await sleep(20);
  await stop();
  await service.stop();

  // All is lost.
  const environment = await freshStores(t);
  await stopServer('neo4j');
  await rm(await graphData(), { recursive: true });
  await cp(graph, await graphData(), { recursive: true });
  await startServer('neo4j');
  const bare = await openBareStores(readConfig(environment).stores, quiet);
  await restoreTables(bare, tables);
  await restoreImages(bare, images);
  const { id } = await bare.db.selectFrom('installation').select('id').executeTakeFirstOrThrow();
  await bare.images.claim(id);
  const { findings } = await verify(bare, { repair: true, log: quiet });
  for (const { rule, found, mended } of findings)
    if (found > 0) t.comment(`${rule.says}: ${found} not so, ${mended} mended`);
  await bare.close();

  const again = await startTestService(t, environment);
  const [reader] = people;
  const read = (path: string) => again.send('GET', path, { token: reader?.token ?? '' });
  // One that was deleted while the tables were read may be in the backup or not.
  const sure = acknowledged.filter((post) => dumped.has(post));
  t.ok(sure.length >= 8);
  for (const post of sure) {
    t.match(await read(`/posts/${post.id}`), { status: 200, body: { image: post.image } });
    t.ok((await read(post.image)).bytes.equals(samples.png), 'its image is whole');
  }
  await agree(t, again.stores);
  const { body } = await again.send('POST', '/posts/create', {
    token: reader?.token ?? '',
    form: { title: 'T', text: 'T' },
  });
  const restored = await again.stores.db.selectFrom('posts').select('id').where('id', '<>', body.id).execute();
  t.ok(restored.length > 0 && restored.every(({ id }) => id < body.id), 'a new post takes no old one’s id');
  t.equal((await read(`/posts/${body.id}`)).body.like_count, 0, 'and inherits nothing');
});
