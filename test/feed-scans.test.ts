import type { Abortable } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { createFeed, type Feed, SLICE_POSTS } from '../db/feed.js';
import { ClientDisconnectedError } from '../db/support/errors.js';
import { noopObserver } from '../db/support/observer.js';
import type { PostsPage } from '../db/visible-posts.js';
import { LONG_TIMEOUTS, startTestService } from './support/service.js';
import { recordStatements } from './support/statements.js';
import { onServices } from './support/stores.js';
import { until } from './support/until.js';

/* Scans and large pages: their limits, and what happens when a client disconnects. */

const service = await startTestService(t, LONG_TIMEOUTS);
const { db, feed, read } = service.stores;
const user = await service.createUser();
const other = await service.createUser();

const SLICES = 6;
const PAST_ALL = { offset: 2147483647, limit: 20 };
const SCANNED = { offset: 1000, limit: 20 };
const LARGE = { offset: 0, limit: 21 };
/** A page of the feed after a post. Concurrent requests cannot share its rows. */
const CURSOR = { offset: 0, limit: 1, after: { createdAt: 'infinity', id: 0 } };

const isSlice = ({ text }: { text: string }) => text.includes('as "slice"');

await sql`
  insert into posts (author_id, title, text)
  select ${user.id}::int8, 'title', 'text' from generate_series(1, ${SLICES * SLICE_POSTS}::int)`.execute(db);

/** Creates a feed with queues of its own, whose statements end only after `release` is called. */
function createHeldFeed(t: Test): { feed: Feed; release(): void } {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  t.teardown(release);
  const held = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => released.then(() => result),
  });
  return { feed: createFeed({ db: held, read }, noopObserver), release };
}

t.test('one scan and four large pages run at a time; others are refused after three seconds', async (t) => {
  const { feed, release } = createHeldFeed(t);
  const running = [SCANNED, LARGE, LARGE, LARGE, LARGE].map((page) => feed.readOwnPosts(user.id, page));
  const waiting = [
    feed.readOwnPosts(user.id, SCANNED),
    feed.readOwnPosts(user.id, LARGE),
    feed.readFeed(user.id, CURSOR),
  ];
  const unlimited = [
    { offset: 999, limit: 20 },
    { offset: 0, limit: 20 },
  ].map((page) => feed.readOwnPosts(user.id, page));
  for (const page of waiting) await t.rejects(page, { code: 'overloaded' });
  release();
  await t.resolves(Promise.all([...running, ...unlimited]), 'neither is refused');
});

t.test('scans that wait do not occupy the slots of large pages', async (t) => {
  const { feed, release } = createHeldFeed(t);
  const running = feed.readOwnPosts(user.id, SCANNED);
  const waiting = Array.from({ length: 5 }, () => feed.readOwnPosts(user.id, { offset: 1000, limit: 100 }));
  const large = feed.readOwnPosts(user.id, LARGE);
  for (const page of waiting) await t.rejects(page, { code: 'overloaded' });
  release();
  await t.resolves(Promise.all([running, large]));
});

t.test('a user who fills a queue keeps no other user out', async (t) => {
  for (const [what, maxRunning, maxWaiting, readPage] of [
    ['scans', 1, 100, (feed, id, client) => feed.readOwnPosts(id, SCANNED, client)],
    ['cursors', 4, 1000, (feed, id, client) => feed.readFeed(id, CURSOR, client)],
    ['large pages', 4, 1000, (feed, id, client) => feed.readOwnPosts(id, LARGE, client)],
  ] satisfies [string, number, number, (feed: Feed, id: number, client: Abortable) => Promise<PostsPage>][]) {
    const { feed, release } = createHeldFeed(t);
    const leaving = new AbortController();
    const flood = Array.from({ length: maxRunning + maxWaiting }, () => readPage(feed, user.id, leaving));
    const results = Promise.allSettled(flood);
    const page = readPage(feed, other.id, {});
    await t.rejects(Promise.race(flood), { code: 'overloaded' }, `${what}: the newest of the user is refused`);
    release();
    await t.resolves(page, what);
    leaving.abort();
    await results;
  }
});

t.test('a scan does not start for a client that has disconnected', async (t) => {
  const { feed, release } = createHeldFeed(t);
  const statements = recordStatements(t);
  const running = feed.readOwnPosts(user.id, SCANNED);
  const leaving = new AbortController();
  const waiting = feed.readOwnPosts(user.id, SCANNED, leaving);
  await turn();
  leaving.abort();
  await t.rejects(waiting, { code: 'client_disconnected' });
  release();
  await running;
  await feed.readOwnPosts(user.id, SCANNED);
  t.equal(statements.filter(isSlice).length, 2, 'those of the others');
});

t.test('a scan ends after the slice during which its client disconnects', async (t) => {
  const leaving = new AbortController();
  const statements = recordStatements(t, (statement) => {
    if (isSlice(statement)) leaving.abort(new ClientDisconnectedError());
  });
  await t.rejects(feed.readOwnPosts(user.id, PAST_ALL, { signal: leaving.signal }), { code: 'client_disconnected' });
  t.equal(statements.filter(isSlice).length, 1);
});

t.test('other statements run between slices', async (t) => {
  const statements = recordStatements(t);
  const scan = feed.readOwnPosts(user.id, PAST_ALL);
  await until(() => statements.some(isSlice));
  await sql`select 'another statement'`.execute(db);
  t.same(await scan, { posts: [], more: false });
  t.ok(statements.filter(isSlice).length > SLICES);
  // On a server, the other statement has its own connection, so it may run at any time.
  if (onServices) return;
  const before = statements.findIndex(({ text }) => text.includes('another statement'));
  t.ok(statements.slice(0, before).filter(isSlice).length < SLICES, 'it does not wait for the whole scan');
});
