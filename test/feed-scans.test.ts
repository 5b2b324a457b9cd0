import type { Abortable } from 'node:events';
import { sql } from 'kysely';
import t from 'tap';
import { SLICE_POSTS } from '../db/feed.js';
import type { BoundedQueue } from '../db/support/bounded-queue.js';
import { ClientDisconnectedError } from '../db/support/errors.js';
import type { PostsPage } from '../db/visible-posts.js';
import { nextPagePath } from './support/http.js';
import { startTestService } from './support/service.js';
import { recordStatements } from './support/statements.js';
import { onServices } from './support/stores.js';
import { until } from './support/until.js';

/* Scans and large pages: their limits, and what happens when a client disconnects. */

const service = await startTestService(t);
const { db, feed } = service.stores;
const user = await service.createUser();

const SLICES = 6;
/** Pages of the feed beyond the first slice are scanned. */
const SCANNED = `/posts?offset=${SLICE_POSTS}`;
const SCANNED_OWN = '/posts/me?limit=100&offset=1000';

const isSlice = ({ text }: { text: string }) => text.includes('as "slice"');

await sql`
  insert into posts (author_id, title, text)
  select ${user.id}::int8, 'title', 'text' from generate_series(1, ${SLICES * SLICE_POSTS}::int)`.execute(db);

/** Occupies a slot of a queue. Returns a function that frees it. */
async function occupySlot(queue = feed.scans) {
  let free = () => {};
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  await new Promise<void>((started) => {
    void queue.run({}, async () => {
      started();
      await freed;
    });
  });
  return free;
}

t.test('scans and large pages return 503 if no slot is free; others are served', async (t) => {
  const { scans, largePages } = feed;
  const slots = [];
  for (const queue of [scans, largePages, largePages, largePages, largePages]) slots.push(await occupySlot(queue));
  const { headers } = await user.send('GET', '/posts');
  const cursorPage = nextPagePath(headers) ?? '';
  const paths = [SCANNED, '/posts/me?offset=1000', '/posts/me?limit=21', cursorPage];
  const waiting = Promise.all(paths.map((path) => user.send('GET', path)));
  for (const path of ['/posts', `/posts?offset=${SLICE_POSTS - 100}`, '/posts/me?offset=999', '/posts/me?limit=20'])
    t.equal((await user.send('GET', path)).status, 200, path);
  for (const { status, headers, body } of await waiting) {
    t.same([status, body.code], [503, 'overloaded']);
    t.ok(headers.has('retry-after'));
  }
  for (const freeSlot of slots) freeSlot();
  for (const path of paths) t.equal((await user.send('GET', path)).status, 200, `${path}, when a slot is free`);
});

t.test('a user who fills a queue keeps no other user out', async (t) => {
  const other = await service.createUser();
  const scanned = { offset: SLICE_POSTS, limit: 20 };
  const after = { createdAt: 'infinity', id: 0 };
  for (const [what, queue, maxRunning, maxWaiting, read] of [
    ['scans of the feed', feed.scans, 1, 100, (id, client) => feed.readFeed(id, scanned, client)],
    ['scans of own posts', feed.scans, 1, 100, (id, client) => feed.readOwnPosts(id, scanned, client)],
    ['cursors', feed.largePages, 4, 1000, (id, client) => feed.readFeed(id, { offset: 0, limit: 1, after }, client)],
    ['large pages', feed.largePages, 4, 1000, (id, client) => feed.readOwnPosts(id, { offset: 0, limit: 21 }, client)],
  ] satisfies [string, BoundedQueue, number, number, (id: number, client?: Abortable) => Promise<PostsPage>][]) {
    const slots = await Promise.all(Array.from({ length: maxRunning }, () => occupySlot(queue)));
    const leaving = new AbortController();
    const flood = Promise.allSettled(Array.from({ length: maxWaiting }, () => read(user.id, leaving)));
    await until(() => queue.usage.waiting === maxWaiting);
    const { refused } = queue.usage;
    const page = read(other.id, {});
    await until(() => queue.usage.refused > refused);
    for (const freeSlot of slots) freeSlot();
    await t.resolves(page, what);
    leaving.abort();
    await flood;
  }
});

t.test('scans that wait do not delay large pages', async (t) => {
  const freeSlot = await occupySlot();
  const scanned = Promise.all(Array.from({ length: 5 }, () => user.send('GET', SCANNED_OWN)));
  await until(() => feed.scans.usage.waiting === 5);
  t.equal((await user.send('GET', '/posts/me?limit=100')).status, 200);
  freeSlot();
  for (const { body } of await scanned) t.equal(body.length, 100);
});

for (const path of [SCANNED, SCANNED_OWN]) {
  t.test(`a scan does not start for a client that has disconnected: ${path}`, async (t) => {
    const logged = service.logged().length;
    const freeSlot = await occupySlot();
    const leaving = new AbortController();
    const headers = { Authorization: `Bearer ${user.token}` };
    const pending = fetch(`${service.url}${path}`, { headers, signal: leaving.signal });
    await until(() => feed.scans.usage.waiting === 1);
    const statements = recordStatements(t);
    leaving.abort();
    await t.rejects(pending);
    await until(() => feed.scans.usage.waiting === 0);
    t.equal(service.logged().slice(logged), '', 'no error is logged');
    freeSlot();
    await user.send('GET', '/posts');
    t.equal(statements.filter(isSlice).length, 0);
  });
}

t.test('a scan ends after the slice during which its client disconnects', async (t) => {
  const leaving = new AbortController();
  const statements = recordStatements(t, (statement) => {
    if (isSlice(statement)) leaving.abort(new ClientDisconnectedError());
  });
  const page = { offset: 2147483647, limit: 20 };
  await t.rejects(feed.readOwnPosts(user.id, page, { signal: leaving.signal }), { code: 'client_disconnected' });
  t.equal(statements.filter(isSlice).length, 1);
});

t.test('other statements run between slices', async (t) => {
  const statements = recordStatements(t);
  const scan = feed.readOwnPosts(user.id, { offset: 2147483647, limit: 20 });
  await until(() => statements.some(isSlice));
  await sql`select 'another statement'`.execute(db);
  t.same(await scan, { posts: [], more: false });
  t.ok(statements.filter(isSlice).length > SLICES);
  // On a server, the other statement has its own connection, so it may run at any time.
  if (onServices) return;
  const before = statements.findIndex(({ text }) => text.includes('another statement'));
  t.ok(statements.slice(0, before).filter(isSlice).length < SLICES, 'it does not wait for the whole scan');
});
