import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type RawBuilder, sql } from 'kysely';
import t, { type Test } from 'tap';
import { deleteAccount, findCredentials, updateAccount } from '../db/accounts.js';
import { findIdsInSlices } from '../db/deep-pages.js';
import { addFeedBlocks, BLOCK_POSTS } from '../db/feed-blocks.js';
import { deletePost } from '../db/posts.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import { createRandom } from '../scripts/seed/random.js';
import { checkFeedBlocks } from '../scripts/verify/feed-blocks.js';
import { createFindings } from '../scripts/verify/rules.js';
import { recordStatements } from './support/statements.js';
import { createFixtures, repeat } from './support/store-fixtures.js';
import { needsServers, openTestStores } from './support/stores.js';

const stores = await openTestStores(t);
const { db } = stores;
const { account, post } = createFixtures(stores);

const seed = Number(process.env.SEED ?? randomInt(1, 1_000_000));
t.comment(`SEED=${seed}`);
const random = createRandom(seed);

/** An id that no account has. Posts by it are public. */
const NO_ACCOUNT = 1_000_000;
const authors = [...(await repeat(8, account)), NO_ACCOUNT];
const oneOf = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item;

/** Inserts posts by random authors. Two posts share each creation time. */
async function insertPosts(count: number, time: RawBuilder<unknown>): Promise<void> {
  const authorIds = Array.from({ length: count }, () => oneOf(authors));
  await sql`
    insert into posts (author_id, title, text, created_at)
    select author, 'title', 'text', ${time} + number / 2 * interval '1 ms'
    from unnest(${authorIds}::int8[]) with ordinality as new_posts (author, number)`.execute(db);
}

const addAllBlocks = async () => {
  while (await addFeedBlocks(db));
};

/** Expects the counts of all blocks to be correct. */
async function expectCorrectCounts(t: Test, change: string): Promise<void> {
  const blocks = await db.selectFrom('feed_blocks').select('ends_at').execute();
  t.ok(blocks.length > 0, `blocks exist ${change}`);
  const findings = createFindings();
  await checkFeedBlocks({ stores, findings, repair: undefined });
  const violations = findings.all().flatMap(({ examples }) => examples);
  t.same(violations, [], `no count is wrong ${change}`);
}

/** Expects the same pages as without blocks. */
async function expectCorrectPages(t: Test, viewers: readonly number[], change: string): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select posts.id from posts left join accounts on accounts.id = author_id
    where private is not true or author_id = any(${viewers}::int8[])
    order by posts.created_at desc, posts.id desc`.execute(db);
  const expected = rows.map(({ id }) => id);
  const offsets = [BLOCK_POSTS - 1, BLOCK_POSTS, expected.length - 10, expected.length, 2147483647];
  for (const offset of [...offsets, ...Array.from({ length: 10 }, () => random(expected.length))]) {
    for (const maxHashedAccounts of [0, 1000]) {
      const page = await findIdsInSlices(db, { publicOrBy: viewers }, { offset, limit: 21 }, { maxHashedAccounts });
      const correct = expected.slice(offset, offset + 21);
      if (!isDeepStrictEqual(page, correct)) t.same(page, correct, `offset ${offset} ${change}`);
    }
  }
  t.pass(`pages ${change}`);
}

const setPrivate = (id: number, isPrivate: boolean) => updateAccount(db, id, { private: isPrivate });

async function removeAccount(id: number): Promise<void> {
  const credentials = await findCredentials(db, { id });
  if (credentials) await deleteAccount(db, credentials);
}

async function deleteSomePosts(share: number): Promise<void> {
  const posts = await db.selectFrom('posts').select(['id', 'author_id']).execute();
  for (const { id, author_id } of posts.filter(() => random(share) === 0)) await deletePost(db, author_id, id);
}

t.test('counts and pages are correct after every change', async (t) => {
  const [viewer = 0, friend = 0, stranger = 0, leaving = 0] = authors;
  await setPrivate(friend, true);
  await setPrivate(stranger, true);
  await insertPosts(3200, sql`timestamptz '2026-02-01'`);
  await addAllBlocks();
  const changes: [string, () => Promise<unknown>][] = [
    ['at first', async () => undefined],
    ['after deletions', () => deleteSomePosts(20)],
    ['after accounts became private', () => Promise.all([viewer, leaving].map((id) => setPrivate(id, true)))],
    ['after a change of another field', () => updateAccount(db, stranger, { name: 'Other', private: true })],
    ['after an account became public', () => setPrivate(stranger, false)],
    ['after the clock was set back', () => insertPosts(600, sql`timestamptz '2026-02-01 00:00:00.400'`)],
    ['with more new posts', () => insertPosts(900, sql`timestamptz '2026-03-01'`)],
    ['after blocks were added', addAllBlocks],
    ['after a private account was deleted', () => removeAccount(leaving)],
  ];
  for (const [name, change] of changes) {
    await change();
    await expectCorrectCounts(t, name);
    await expectCorrectPages(t, [viewer], name);
    await expectCorrectPages(t, [viewer, friend], name);
  }
});

t.test('concurrent changes leave correct counts', async (t) => {
  const [, friend = 0, stranger = 0, , leaving = 0] = authors;
  await insertPosts(2000, sql`timestamptz '2026-04-01'`);
  const toggle = async (id: number) => {
    for (const isPrivate of [true, false, true, false]) await setPrivate(id, isPrivate);
  };
  // Additions fail while other changes hold the lock.
  const addBlocks = async () => {
    for (let i = 0; i < 20; i += 1) {
      await addFeedBlocks(db).catch((error) => t.type(error, StoreUnavailableError));
      await sleep(5);
    }
  };
  await Promise.all([
    ...[friend, stranger, friend, leaving].map(toggle),
    ...[10, 10, 10].map(deleteSomePosts),
    insertPosts(300, sql`timestamptz '2026-02-01'`),
    addBlocks(),
    addBlocks(),
    removeAccount(leaving),
  ]);
  await addAllBlocks();
  await expectCorrectCounts(t, 'after concurrent changes');
});

t.test('the statement for a position is the same for all viewers', async (t) => {
  const statements = recordStatements(t);
  for (const viewers of [[1], [1, 2], [3, 4, 5]]) {
    await findIdsInSlices(db, { publicOrBy: viewers }, { offset: BLOCK_POSTS * viewers.length, limit: 1 });
  }
  const positions = statements.filter(({ text }) => text.includes('as position'));
  t.equal(new Set(positions.map(({ text }) => text)).size, 1);
  t.ok(positions.length >= 3);
});

t.test('no statement for a position searches the friends for every private account or post', async (t) => {
  const statements = recordStatements(t);
  for (const maxHashedAccounts of [0, 1000])
    await findIdsInSlices(db, { publicOrBy: [1, 2] }, { offset: 2 * BLOCK_POSTS, limit: 1 }, { maxHashedAccounts });
  const positions = new Set(statements.map(({ text }) => text).filter((text) => text.includes('as position')));
  t.equal(positions.size, 2);
  for (const position of positions) {
    const { rows } = await sql<Record<string, string>>`explain (generic_plan, verbose) ${sql.raw(position)}`.execute(
      db,
    );
    const lines = rows.map((row) => row['QUERY PLAN'] ?? '');
    const searches = lines.filter((line) => /(ANY|ALL) \(\$/.test(line) && !/Index Cond|Recheck Cond/.test(line));
    t.same(searches, []);
  }
});

t.test('a deep page is scanned from its block', async (t) => {
  await addAllBlocks();
  const statements = recordStatements(t);
  await findIdsInSlices(
    db,
    { publicOrBy: [] },
    { offset: 3 * BLOCK_POSTS, limit: 1 },
    { maxSlicePosts: BLOCK_POSTS + 1 },
  );
  t.equal(statements.filter(({ text }) => text.includes(') slice')).length, 1);
});

t.test('the counts of more blocks are read if few posts are visible', async (t) => {
  const publicAuthors = await db.selectFrom('accounts').select('id').where('private', '=', false).execute();
  for (const { id } of publicAuthors) await setPrivate(id, true);
  // Only the posts without an account remain visible.
  await expectCorrectPages(t, [], 'if few posts are visible');
});

t.test('a viewer with too many private posts gets the same pages', async (t) => {
  const author = await account();
  await setPrivate(author, true);
  await sql`
    insert into posts (author_id, title, text, created_at)
    select ${author}, 'title', 'text', timestamptz '2026-06-01' + number * interval '1 ms'
    from generate_series(1, 22000) as number`.execute(db);
  await addAllBlocks();
  const statements = recordStatements(t);
  await expectCorrectPages(t, [author], 'with too many private posts');
  const positions = statements.filter(({ text }) => text.includes('as position'));
  t.ok(positions.some(({ rows }) => rows.some((row) => (row as { position: unknown }).position === null)));
});

t.test('concurrent posts by one author do not deadlock if the clock was set back', async (t) => {
  const author = await account();
  await sql`update feed_blocks set ends_at = 'infinity' where ends_at = (select max(ends_at) from feed_blocks)`.execute(
    db,
  );
  await t.resolves(Promise.all(Array.from({ length: 8 }, () => post(author))));
});

t.test('no blocks remain if the posts are truncated', async (t) => {
  await sql`truncate posts`.execute(db);
  t.same(await db.selectFrom('feed_blocks').selectAll().execute(), []);
});

t.test('no blocks are added while the lock is held', needsServers, async (t) => {
  await insertPosts(2 * BLOCK_POSTS, sql`timestamptz '2026-07-01'`);
  await db.transaction().execute(async (trx) => {
    await sql`insert into posts (author_id, title, text) values (${NO_ACCOUNT}, 'title', 'text')`.execute(trx);
    await t.rejects(addFeedBlocks(db), { cause: { code: '55P03' } }, 'the wait for the lock times out');
  });
  t.equal(await addFeedBlocks(db), true);
});
