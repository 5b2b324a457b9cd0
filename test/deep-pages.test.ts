import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import t from 'tap';
import { findIdsInSlices, type PostList } from '../db/deep-pages.js';
import { readOwnPosts } from '../db/own-posts.js';
import { createConcurrencyLimiter } from '../db/support/concurrency-limiter.js';
import { startTestService } from './support/service.js';
import { recordStatements } from './support/statements.js';
import { onServices } from './support/stores.js';
import { until } from './support/until.js';

const service = await startTestService(t);
const user = await service.createUser();

const PAST_THE_END = { offset: 2147483647, limit: 20 };

const isSlice = ({ text }: { text: string }) => text.includes(') slice');

/** Occupies a slot of a concurrency limiter. Returns a function that frees it. */
async function occupySlot(limiter = service.stores.deepPages) {
  let free = () => {};
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  await new Promise<void>((started) => {
    void limiter.run(async () => {
      started();
      await freed;
    });
  });
  return free;
}

t.test('a deep page and a large page of own posts return 503 if no slot is free; others are served', async (t) => {
  const { deepPages, largePages } = service.stores;
  const slots = [];
  for (const limiter of [deepPages, largePages, largePages, largePages, largePages])
    slots.push(await occupySlot(limiter));
  const paths = ['/posts?offset=2000', '/posts/me?offset=1000', '/posts/me?limit=21'];
  const waiting = Promise.all(paths.map((path) => user.send('GET', path)));
  for (const path of ['/posts', '/posts/me?offset=999', '/posts/me?limit=20'])
    t.equal((await user.send('GET', path)).status, 200, path);
  for (const { status, headers, body } of await waiting) {
    t.same([status, body.code], [503, 'overloaded']);
    t.ok(headers.has('retry-after'));
  }
  for (const freeSlot of slots) freeSlot();
  for (const path of paths) t.same((await user.send('GET', path)).body, [], `${path} is served when a slot is free`);
});

for (const path of ['/posts', '/posts/me']) {
  t.test(`a deep page of ${path} is not read for a client that has disconnected`, async (t) => {
    const statements = recordStatements(t);
    const logged = service.logged().length;
    const freeSlot = await occupySlot();
    const leaving = new AbortController();
    const headers = { Authorization: `Bearer ${user.token}` };
    const pending = fetch(`${service.url}${path}?offset=5000`, { headers, signal: leaving.signal });
    await until(() => service.stores.deepPages.waiting === 1);
    leaving.abort();
    await t.rejects(pending);
    await until(() => service.stores.deepPages.waiting === 0);
    t.equal(service.logged().slice(logged), '', 'no error is logged');
    freeSlot();
    await user.send('GET', `${path}?offset=6000`);
    t.equal(statements.filter(isSlice).length, 1, 'only the page of the later request is read');
  });
}

t.test('the size of slices does not change the pages', async (t) => {
  const { db } = service.stores;
  const [one, other] = [await service.createUser(), await service.createUser()];
  const privateUser = await service.createUser({ private: true });
  // Seven posts share each instant, so that ids decide their order across slices.
  await sql`
    insert into posts (author_id, title, text, created_at)
    select (${[one.id, other.id, privateUser.id]}::int8[])[1 + (n + n / 5) % 3], 'title', 'text',
      timestamptz '2026-01-01' + n / 7 * interval '1 microsecond'
    from generate_series(1, 200) as n`.execute(db);
  const newestFirst = db.selectFrom('posts').orderBy('created_at', 'desc').orderBy('id', 'desc');
  const posts = await newestFirst.select(['id', 'author_id']).execute();
  const idsBy = (...authors: number[]) => posts.filter((post) => authors.includes(post.author_id)).map(({ id }) => id);
  const lists: [PostList, number[]][] = [
    [{ publicOrBy: [user.id] }, idsBy(one.id, other.id)],
    [{ publicOrBy: [user.id, privateUser.id] }, idsBy(one.id, other.id, privateUser.id)],
    [{ by: privateUser.id }, idsBy(privateUser.id)],
    [{ by: user.id }, []],
  ];
  for (const [list, expected] of lists) {
    for (const maxSlicePosts of [7, 50]) {
      for (const offset of [0, 6, 50, expected.length - 1, expected.length, 2147483647]) {
        for (const limit of [1, 20, 101]) {
          const page = { offset: Math.max(offset, 0), limit };
          const found = await findIdsInSlices(db, list, page, { maxSlicePosts });
          const ids = expected.slice(page.offset, page.offset + limit);
          if (!isDeepStrictEqual(found, ids)) t.same(found, ids, JSON.stringify({ list, page, maxSlicePosts }));
        }
      }
    }
  }
  t.pass('every page');
});

t.test('a scan uses a hash table, or lookups if private accounts are too many, or many more than posts', async (t) => {
  const { db } = service.stores;
  for (let count = 0; count < 9; count += 1) await service.createUser({ private: true });
  await sql`analyze accounts`.execute(db);
  const { length } = await db.selectFrom('accounts').select('id').where('private', '=', true).execute();
  const usesHash = async (maxHashedAccounts: number, maxSlicePosts: number) => {
    const statements = recordStatements(t);
    await findIdsInSlices(db, { publicOrBy: [] }, { offset: 0, limit: 1 }, { maxHashedAccounts, maxSlicePosts });
    return statements.find(isSlice)?.text.includes('not in');
  };
  t.equal(await usesHash(length, length), true);
  t.equal(await usesHash(length - 1, length), false, 'too many');
  t.equal(await usesHash(length, 1), false, 'many more than posts');
});

t.test('a scan ends after the slice during which its client disconnects', async (t) => {
  const leaving = new AbortController();
  const statements = recordStatements(t, (statement) => {
    if (isSlice(statement)) leaving.abort();
  });
  const scan = findIdsInSlices(service.stores.db, { publicOrBy: [] }, PAST_THE_END, {
    maxSlicePosts: 10,
    signal: leaving.signal,
  });
  await t.rejects(scan, { name: 'AbortError' });
  t.equal(statements.filter(isSlice).length, 1);
});

t.test('other statements run between slices', async (t) => {
  const { db } = service.stores;
  const statements = recordStatements(t);
  const scan = findIdsInSlices(db, { publicOrBy: [] }, PAST_THE_END, { maxSlicePosts: 10 });
  await sql`select 'another statement'`.execute(db);
  await scan;
  t.ok(statements.filter(isSlice).length >= 20);
  // On a server, the other statement has its own connection, so it may run at any time.
  if (onServices) return;
  const before = statements.findIndex(({ text }) => text.includes('another statement'));
  t.ok(statements.slice(0, before).filter(isSlice).length <= 1, 'the other statement does not wait for the whole scan');
});

t.test('deep pages that wait do not delay other large pages of own posts', async (t) => {
  const stores = {
    ...service.stores,
    deepPages: createConcurrencyLimiter({ concurrency: 1, maxWaitMs: 60_000 }),
    largePages: createConcurrencyLimiter({ concurrency: 1, maxWaitMs: 1000 }),
  };
  const freeSlot = await occupySlot(stores.deepPages);
  const deep = readOwnPosts(stores, user.id, { limit: 100, offset: 1_000_000 });
  await t.resolves(readOwnPosts(stores, user.id, { limit: 100, offset: 0 }));
  freeSlot();
  t.same(await deep, { posts: [], more: false });
});
