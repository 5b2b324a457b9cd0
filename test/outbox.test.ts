import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import t from 'tap';
import { createAccount, deleteAccount, findCredentials } from '../db/accounts.js';
import { enqueue } from '../db/outbox/index.js';
import { claimImage, withPendingImage } from '../db/outbox/pending-images.js';
import { createPost } from '../db/posts.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import { countLikes } from './support/contents.js';
import { freshDataDirectory, freshStores, needsServers, openTestStores } from './support/stores.js';

const environment = await freshStores(t);
const stores = await openTestStores(t, environment);
const { db, graph, outbox, images, directory } = stores;

let made = 0;

async function account(): Promise<number> {
  made += 1;
  const name = `somebody${made}`;
  const created = await createAccount(db, { name, username: name, email: `${name}@x.example`, passwordHash: 'hash' });
  return created?.id ?? 0;
}

async function post(author: number): Promise<number> {
  const created = await createPost(stores, author, { title: 'A title', text: 'A text' });
  return created?.post.id ?? 0;
}

const record = (kind: 'person' | 'post' | 'image', key: string | number) =>
  db.transaction().execute((trx) => enqueue(trx, [{ kind, key }]));

const waiting = async (key: string | number) =>
  db.selectFrom('outbox').selectAll().where('key', '=', String(key)).where('delivered', '=', false).execute();

async function stored(store = images): Promise<string[]> {
  const names = [];
  for await (const name of store.list()) names.push(name);
  return names.sort();
}

async function upload(name: string) {
  const path = join(directory.uploads, name);
  await writeFile(path, name);
  return { path, extension: 'png', bytes: name.length, storageMaxBytes: 1000 };
}

/** Until the relay has done what the test waits for; the test's own time-out is the limit. */
async function until(reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) await new Promise((resolve) => setTimeout(resolve, 20));
}

t.test('delivery looks at the row: what is there stays, what is gone goes, however often and late', async (t) => {
  const [ada, bob] = [await account(), await account()];
  const kept = await post(ada);
  const gone = kept + 1000;
  await graph.like([
    { person: bob, post: kept },
    { person: bob, post: gone },
  ]);
  const entries = [...(await record('post', gone)), ...(await record('post', kept)), ...(await record('post', gone))];
  await outbox.deliver(entries);
  await outbox.deliver(entries);
  t.same(await countLikes(graph, [kept, gone]), [1, 0]);
  t.same(await waiting(gone), [], 'and the entries are done');
});

t.test('of many that are delivered at once each is, once', async (t) => {
  const [ada, bob] = [await account(), await account()];
  const kept = [await post(ada), await post(ada), await post(ada)];
  const gone = kept.map((id) => id + 1000);
  await graph.like([...kept, ...gone].map((post) => ({ person: bob, post })));
  const entries = (await Promise.all([...kept, ...gone].map((key) => record('post', key)))).flat();
  await Promise.all([...entries, ...entries].map((entry) => outbox.deliver([entry])));
  const left = db.selectFrom('outbox').select('id').where('id', 'in', entries).where('delivered', '=', false);
  t.same(await left.execute(), []);
  t.strictSame(await countLikes(graph, [...kept, ...gone]), [1, 1, 1, 0, 0, 0]);
});

t.test('a deleted account takes its likes, its friendships and its posts likes with it', async (t) => {
  const [ada, bob] = [await account(), await account()];
  const [hers, his] = [await post(ada), await post(bob)];
  await graph.request(ada, bob);
  await graph.accept(bob, ada);
  await graph.like([
    { person: ada, post: his },
    { person: bob, post: hers },
  ]);
  const secret = await findCredentials(db, { id: ada });
  const entries = secret && (await deleteAccount(db, secret));
  t.ok(entries);
  await outbox.deliver(entries ?? []);
  t.same(await graph.friendsOf(bob), []);
  t.same(await countLikes(graph, [hers, his]), [0, 0]);
});

t.test('what a request has left undelivered, the relay delivers', async (t) => {
  const bob = await account();
  const gone = 5_000_000;
  await graph.like([{ person: bob, post: gone }]);
  await record('post', gone);
  await until(async () => (await waiting(gone)).length === 0);
  t.same(await countLikes(graph, [gone]), [0]);
});

t.test('a delivery that fails is kept, tried again later, and done when it can be', async (t) => {
  const { db, outbox, directory } = await openTestStores(t, { DATA_DIR: await freshDataDirectory(t) });
  const record = () => db.transaction().execute((trx) => enqueue(trx, [{ kind: 'image', key: name }]));
  const waiting = () => db.selectFrom('outbox').selectAll().execute();
  const name = 'f'.repeat(32);
  const inTheWay = join(directory.images, name);
  await mkdir(join(inTheWay, 'inner'), { recursive: true });
  await outbox.deliver(await record());
  const [entry] = await waiting();
  t.ok(entry && entry.attempts > 0, 'it has been tried');
  await rm(inTheWay, { recursive: true });
  await writeFile(inTheWay, 'bytes');
  await until(async () => (await waiting()).length === 0);
  t.notOk(existsSync(inTheWay), 'and the bytes are gone');
});

t.test('bytes that a row has claimed stay', async (t) => {
  const ada = await account();
  const name = await withPendingImage(stores, await upload('one'), async (image) => {
    await createPost(stores, ada, { title: 'T', text: 'T', image });
    return image.name;
  });
  t.same(await waiting(name), []);
  t.ok(await images.get(name).then((image) => image?.stream.destroy()));
  await outbox.deliver(await record('image', name));
  t.ok((await stored()).includes(name), 'also when an entry asks about them again');
});

t.test('bytes that no row claims go at once, whether the commit declines or fails', async (t) => {
  const before = await stored();
  await withPendingImage(stores, await upload('two'), async () => undefined);
  const failing = withPendingImage(stores, await upload('three'), async () => {
    throw new Error('the row could not be written');
  });
  await t.rejects(failing, /row could not/);
  const nobody = 5_000_000;
  const created = await withPendingImage(stores, await upload('of nobody'), (image) =>
    createPost(stores, nobody, { title: 'T', text: 'T', image }),
  );
  t.equal(created, undefined, 'the author’s account is gone');
  t.same(await stored(), before);
});

t.test('the sweep leaves what is not due, and a claim that comes after it is due fails whole', async (t) => {
  const ada = await account();
  const count = async () => (await db.selectFrom('posts').selectAll().where('author_id', '=', ada).execute()).length;
  const late = withPendingImage(stores, await upload('four'), async (image) => {
    await outbox.deliver([image.entry]);
    t.ok((await stored()).includes(image.name), 'not due: the bytes are there');
    await db.updateTable('outbox').set({ due_at: sql`clock_timestamp()` }).where('id', '=', image.entry).execute();
    return createPost(stores, ada, { title: 'T', text: 'T', image });
  });
  await t.rejects(late, StoreUnavailableError);
  t.equal(await count(), 0, 'no row names what is being removed');
});

t.test('bytes that were to be swept once are claimed no more, whenever they are due again', async (t) => {
  const ada = await account();
  const tried = withPendingImage(stores, await upload('tried'), async (image) => {
    await db.updateTable('outbox').set({ attempts: 1 }).where('id', '=', image.entry).execute();
    return createPost(stores, ada, { title: 'T', text: 'T', image });
  });
  await t.rejects(tried, StoreUnavailableError);
});

t.test('what has been committed is answered, whatever comes of the look at its entry', needsServers, async (t) => {
  const ada = await account();
  const passing = await openTestStores(t, environment);
  const created = await withPendingImage({ ...stores, db: passing.db }, await upload('committed'), async (image) => {
    const post = await createPost(stores, ada, { title: 'T', text: 'T', image });
    await passing.close();
    return post;
  });
  t.ok(created?.post.image);
});

t.test('an image is claimed once', async (t) => {
  await withPendingImage(stores, await upload('five'), async (image) => {
    await db.transaction().execute((trx) => claimImage(trx, image));
    await t.rejects(
      db.transaction().execute((trx) => claimImage(trx, image)),
      StoreUnavailableError,
    );
  });
});

t.test('what a crash left behind is delivered after the next start', async (t) => {
  const environment = await freshStores(t);
  const first = await openTestStores(t, environment);
  await first.outbox.stop();
  const path = join(first.directory.uploads, 'left');
  await writeFile(path, 'bytes');
  await first.images.put('left.png', path);
  await first.db.transaction().execute((trx) => enqueue(trx, [{ kind: 'image', key: 'left.png' }]));
  await first.close();
  const second = await openTestStores(t, environment);
  await until(async () => (await stored(second.images)).length === 0);
  t.pass('the bytes are gone');
});
