import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import t from 'tap';
import { createAccount, deleteAccount, findCredentials, updateAccount } from '../db/accounts.js';
import { MAX_EDGES_PER_REMOVAL } from '../db/graph/index.js';
import type { ImageStore } from '../db/images/index.js';
import { enqueue, findDueEntries } from '../db/outbox/entries.js';
import { createOutbox } from '../db/outbox/index.js';
import { claimImage, discardImage, storeImage } from '../db/outbox/pending-images.js';
import { createPost, updatePost } from '../db/post-writes.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import { countLikes, drainOutbox, idsOf } from './support/consistency.js';
import { listImageNames } from './support/image-store.js';
import {
  createFixtures,
  openStoresWithoutRelay,
  POST,
  postOf,
  repeat,
  withoutDelivery,
} from './support/store-fixtures.js';
import { freshDataDirectory, freshStores, openTestStores, silentLog } from './support/stores.js';
import { until } from './support/until.js';

const environment = await freshStores(t);
const stores = await openTestStores(t, environment);
const { db, graph, outbox, images } = stores;

const { account, post, upload, storeImage: storeUnreferenced, enqueueEntries } = createFixtures(stores);

/** Other stores, without a relay, so that only the tests deliver entries. */
const quiet = await openStoresWithoutRelay(t, await freshStores(t));
const quietFixtures = createFixtures(quiet);

const waiting = async (key: string | number) =>
  db.selectFrom('outbox').selectAll().where('key', '=', String(key)).where('delivered', '=', false).execute();

t.test('a new account and a new post have entries only if the graph has nodes', async (t) => {
  const expected = graph.hasNodes ? 1 : 0;
  const name = 'newcomer';
  const undelivered = withoutDelivery(stores);
  const registration = { name, username: name, email: 'n@x.example', passwordHash: 'hash' };
  t.match(await createAccount(undelivered.stores, registration), { outcome: 'created' });
  t.equal(undelivered.entries.length, expected);
  await createPost(undelivered.stores, { ...POST, author: await account() });
  t.equal(undelivered.entries.length, 2 * expected);
});

t.test('the relay does not read the backlog of one store to find the due entries of the other', async (t) => {
  const { db } = quiet;
  await sql`insert into outbox (kind, key) select 'post', n::text from generate_series(1, 1000) n`.execute(db);
  await sql`analyze outbox`.execute(db);
  await db.transaction().execute(async (trx) => {
    t.same(await findDueEntries(trx, 'image').execute(), []);
    const { rows } = await sql`
      select seq_tup_read + idx_tup_fetch as reads from pg_stat_xact_user_tables where relname = 'outbox'`.execute(trx);
    t.same(rows, [{ reads: 0 }]);
  });
  await db.deleteFrom('outbox').execute();
});

t.test('repeated and concurrent deliveries keep entities with a row, and remove the others', async (t) => {
  const { db, graph, outbox } = quiet;
  const { account, post, enqueueEntries } = quietFixtures;
  const [author, liker] = [await account(), await account()];
  for (const isConcurrent of [false, true]) {
    const existing = await repeat(3, () => post(author));
    const missing = existing.map((id) => id + 1000);
    const ids = [...existing, ...missing];
    await graph.like(ids.map((post) => ({ person: liker, post })));
    const entries = await enqueueEntries([...ids, ...missing].map((key) => ({ kind: 'post', key })));
    if (isConcurrent) await Promise.all([...entries, ...entries].map((entry) => outbox.deliver([entry])));
    else await outbox.deliver(entries).then(() => outbox.deliver(entries));
    const left = db.selectFrom('outbox').select('id').where('id', 'in', idsOf(entries)).where('delivered', '=', false);
    // `deliver` returns after a second, even if the deliveries have not ended.
    await until(async () => (await left.execute()).length === 0);
    t.same(await countLikes(graph, ids), [1, 1, 1, 0, 0, 0]);
  }
});

t.test('a post keeps its likes if its entry cannot be deleted, because another process is delivering it', async (t) => {
  const { db, graph, outbox } = quiet;
  const { account, post, enqueueEntries } = quietFixtures;
  const [liker, liked] = [await account(), await post(await account())];
  await graph.like([{ person: liker, post: liked }]);
  const entries = await enqueueEntries([{ kind: 'post', key: liked }]);
  await sql`create function skip() returns trigger language plpgsql as 'begin return null; end'`.execute(db);
  await sql`create trigger skip before delete on outbox for each row execute function skip()`.execute(db);
  await outbox.deliver(entries);
  await sql`drop trigger skip on outbox`.execute(db);
  t.same(await countLikes(graph, [liked]), [1]);
  await db.deleteFrom('outbox').execute();
});

t.test('an entry whose delivery fails does not affect the others of its batch', async (t) => {
  const { db, outbox } = quiet;
  const entries = await quietFixtures.enqueueEntries(['7000000', 'no id'].map((key) => ({ kind: 'post', key })));
  await Promise.all(entries.map((entry) => outbox.deliver([entry])));
  const left = db.selectFrom('outbox').select(['key', 'attempts']).where('delivered', '=', false);
  // `deliver` returns after a second, even if the deliveries have not ended.
  await until(async () => (await left.execute()).every(({ attempts }) => attempts > 0));
  t.same(await left.execute(), [{ key: 'no id', attempts: 1 }]);
  await db.deleteFrom('outbox').execute();
});

t.test('the relay delivers entries that a request has left undelivered', async (t) => {
  const liker = await account();
  const missing = 5_000_000;
  await graph.like([{ person: liker, post: missing }]);
  await enqueueEntries([{ kind: 'post', key: missing }]);
  await until(async () => (await waiting(missing)).length === 0);
  t.same(await countLikes(graph, [missing]), [0]);
});

t.test('a stop ends a removal of many edges between transactions; the next delivery continues it', async (t) => {
  const { db, graph, outbox } = quiet;
  const noEdges = { friendships: [], requests: [], likes: [] };
  const [removed, ...others] = Array.from({ length: MAX_EDGES_PER_REMOVAL + 2 }, (_, index) => 6_000_000 + index);
  const key = removed ?? 0;
  for (const [kind, edges] of [
    ['person', { likes: others.map((post) => ({ person: key, post })) }],
    ['person', { requests: others.map((to) => ({ from: key, to })) }],
    ['post', { likes: others.map((person) => ({ person, post: key })) }],
  ] as const) {
    const countEdges = async () => {
      const { requests, likes } = await graph.bulk.edgesOf(kind === 'person' ? [key] : others);
      return requests.length + likes.length;
    };
    await graph.bulk.addEdges({ ...noEdges, ...edges });
    const entries = await db.transaction().execute((trx) => enqueue(trx, [{ kind, key }]));
    for (const expected of [1, 0]) {
      t.equal((await db.selectFrom('outbox').selectAll().where('delivered', '=', false).execute()).length, 1);
      await outbox.deliver(entries);
      await until(async () => (await countEdges()) === expected);
    }
    t.same(await db.selectFrom('outbox').selectAll().where('delivered', '=', false).execute(), []);
  }
});

t.test('the deletion of an account with many posts takes several statements', async (t) => {
  const { db } = quiet;
  const author = await quietFixtures.account();
  await sql`insert into posts (author_id, title, text, image)
    select ${author}, 'T', 'T', n || '.png' from generate_series(1, 5001) n`.execute(db);
  await sql`create function refuse_many() returns trigger language plpgsql as $$ begin
    if (select count(*) > 5000 from deleted) then raise 'too many posts in one statement'; end if;
    return null; end $$`.execute(db);
  await sql`create trigger refuse_many after delete on posts
    referencing old table as deleted for each statement execute function refuse_many()`.execute(db);
  const credentials = await findCredentials(db, { id: author });
  const undelivered = withoutDelivery(quiet);
  const deletion = credentials && (await deleteAccount(undelivered.stores, credentials));
  t.match(deletion, { outcome: 'deleted' });
  t.equal(undelivered.entries.length, 1 + 2 * 5001, 'the person, the posts and their images');
  t.same(await db.selectFrom('posts').selectAll().where('author_id', '=', author).execute(), []);
});

t.test('the pause before a retry doubles, up to 5 s for an unavailable store and 5 min otherwise', async (t) => {
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: ({ kind }: { kind?: unknown }) => void warned.push(kind) };
  const { db, outbox, directory } = await openTestStores(t, { DATA_DIR: await freshDataDirectory(t) }, log);
  // The relay would also deliver the entries.
  await outbox.stop();
  // A directory in place of the image file, so that the removal fails.
  const inTheWay = 'f'.repeat(32);
  await mkdir(join(directory.images, inTheWay));
  for (const [kind, key, expected] of [
    ['image', inTheWay, [1, 2, 4, 5, 5]],
    ['post', 'not an id', [1, 2, 4, 8, 300]],
  ] as const) {
    const entries = await db.transaction().execute((trx) => enqueue(trx, [{ kind, key }]));
    for (const [index, attempts] of [0, 1, 2, 3, 9].entries()) {
      await sql`update outbox set attempts = ${attempts}, due_at = clock_timestamp()
          where id = any(${idsOf(entries)})`.execute(db);
      const before = Date.now();
      await outbox.deliver(entries);
      const after = Date.now();
      const query = db.selectFrom('outbox').selectAll().where('id', 'in', idsOf(entries));
      const entry = await query.executeTakeFirstOrThrow();
      t.equal(entry.attempts, attempts + 1);
      const pauseMs = (expected[index] ?? 0) * 1000;
      const dueMs = Date.parse(entry.due_at);
      // Times are rounded to milliseconds.
      const holds = before + pauseMs <= dueMs + 1 && dueMs <= after + pauseMs + 1;
      t.ok(holds, `${kind}: due ${dueMs - before} ms after the delivery began, after ${attempts} attempts`);
    }
  }
  t.same(
    warned,
    ['image', ...Array(5).fill('post')],
    'repeated failures to remove a file are logged once, all other failures each time',
  );
  const keys = [inTheWay, 'other.png'];
  const images = await db.transaction().execute((trx) =>
    enqueue(
      trx,
      keys.map((key) => ({ kind: 'image', key })),
    ),
  );
  await outbox.deliver(images);
  const left = await db.selectFrom('outbox').select('key').where('id', 'in', idsOf(images)).orderBy('id').execute();
  t.same(
    left.map(({ key }) => key),
    keys,
    'an unavailable store is tried only once',
  );
});

t.test('stopping waits for inline deliveries that continue after their request', async (t) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slowImages: ImageStore = { ...quiet.images, remove: () => released };
  const { deliver, stop } = createOutbox({ ...quiet, images: slowImages }, silentLog);
  const entries = await quiet.db.transaction().execute((trx) => enqueue(trx, [{ kind: 'image', key: 'slow.png' }]));
  await deliver(entries);
  let hasStopped = false;
  const stopping = stop().then(() => {
    hasStopped = true;
  });
  await setImmediate();
  t.notOk(hasStopped);
  release();
  await stopping;
  t.same(await quiet.db.selectFrom('outbox').select('id').where('id', 'in', idsOf(entries)).execute(), []);
});

t.test('keeps the bytes of an image that a row has claimed', async (t) => {
  const author = await account();
  const name = postOf(await createPost(stores, { ...POST, author, image: await upload() })).image ?? '';
  t.same(await waiting(name), []);
  t.ok(await images.get(name).then((image) => image?.stream.destroy()));
  const picture = await storeUnreferenced();
  await db.updateTable('accounts').set({ picture }).where('id', '=', author).execute();
  await outbox.deliver(await enqueueEntries([name, picture].map((key) => ({ kind: 'image', key }))));
  const left = await listImageNames(images);
  t.ok(left.includes(name) && left.includes(picture), 'further entries for the images do not remove them');
});

t.test('removes the bytes of a refused write immediately', async (t) => {
  const author = await account();
  const own = await post(author);
  const before = await listImageNames(images);
  const missingAuthor = 5_000_000;
  const unknown = await createPost(stores, { ...POST, author: missingAuthor, image: await upload() });
  t.same(unknown, { outcome: 'accountDeleted' });
  const full = { storageMaxBytes: 0 };
  const created = await createPost(stores, { ...POST, author, image: await upload(), ...full });
  t.same(created, { outcome: 'quotaExceeded' });
  t.match(await updatePost(stores, author, own, { image: await upload(), ...full }), { outcome: 'quotaExceeded' });
  t.match(await updateAccount(stores, author, { picture: await upload(), ...full }), { outcome: 'quotaExceeded' });
  // The post is deleted after the first check.
  const put = (name: string, path: string) =>
    images.put(name, path).finally(() => db.deleteFrom('posts').where('id', '=', own).execute());
  const edit = { image: await upload(), storageMaxBytes: 1000 };
  t.match(await updatePost({ ...stores, images: { ...images, put } }, author, own, edit), { outcome: 'notFound' });
  t.same(await listImageNames(images), before);
});

t.test('removes the bytes of a write that fails immediately', async (t) => {
  const author = await account();
  const before = await listImageNames(images);
  // After the image has been claimed, PostgreSQL rejects the post, because its title contains a zero byte.
  const failing = createPost(stores, { ...POST, author, title: '\0', image: await upload() });
  await t.rejects(failing, /invalid byte sequence/);
  const own = await post(author);
  const failingEdit = updatePost(stores, author, own, { title: '\0', image: await upload(), storageMaxBytes: 1000 });
  await t.rejects(failingEdit, /invalid byte sequence/);
  const failingUpdate = updateAccount(stores, author, { name: '\0', picture: await upload(), storageMaxBytes: 1000 });
  await t.rejects(failingUpdate, /invalid byte sequence/);
  t.same(await listImageNames(images), before);
});

t.test('removes bytes that the store completes after the call to store them has failed', async (t) => {
  const author = await account();
  const before = await listImageNames(images);
  let complete = async () => {};
  const slowImages: ImageStore = {
    ...images,
    async put(name, path) {
      complete = () => images.put(name, path);
      throw new StoreUnavailableError('images');
    },
  };
  const refused = createPost({ ...stores, images: slowImages }, { ...POST, author, image: await upload() });
  await t.rejects(refused, StoreUnavailableError);
  await complete();
  t.equal((await listImageNames(images)).length, before.length + 1);
  await drainOutbox(stores);
  t.same(await listImageNames(images), before);
});

t.test(
  'keeps an image that is not due, and rejects its claim once it is due or a removal has been attempted',
  async (t) => {
    for (const change of [{ due_at: sql<string>`clock_timestamp()` }, { attempts: 1 }]) {
      const image = await storeImage(stores, await upload());
      await outbox.deliver([{ id: image.entryId, kind: 'image', key: image.name }]);
      t.ok((await listImageNames(images)).includes(image.name), 'the entry is not due, and the bytes are kept');
      await db.updateTable('outbox').set(change).where('id', '=', image.entryId).execute();
      const claim = db.transaction().execute((trx) => claimImage(trx, image));
      await t.rejects(claim, StoreUnavailableError);
    }
  },
);

t.test('each of several concurrent images can be claimed within 15 minutes', async (t) => {
  const files = [await upload(), await upload(), await upload()];
  for (const { name, entryId } of await Promise.all(files.map((file) => storeImage(stores, file)))) {
    const { rows } = await sql<{ key: string; seconds: number }>`
      select key, extract(epoch from due_at - clock_timestamp())::float8 as seconds
      from outbox where id = ${entryId}`.execute(db);
    const { key, seconds = 0 } = rows[0] ?? {};
    t.equal(key, name);
    t.ok(seconds > 14 * 60 && seconds <= 15 * 60, `${seconds} seconds`);
  }
});

t.test('an image can be claimed only once, and a claimed image is not discarded', async (t) => {
  const author = await account();
  const image = await storeImage(stores, await upload());
  const claim = () => db.transaction().execute((trx) => claimImage(trx, image));
  await claim();
  await t.rejects(claim(), StoreUnavailableError);
  await db.updateTable('accounts').set({ picture: image.name }).where('id', '=', author).execute();
  await discardImage(stores, image);
  t.ok((await listImageNames(images)).includes(image.name));
});
