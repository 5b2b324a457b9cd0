import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import neo4j from 'neo4j-driver';
import pg from 'pg';
import t, { type Test } from 'tap';
import { createAccount, deleteAccount, findCredentials, replaceHash, updateAccount } from '../../db/accounts.js';
import { requestFriendship } from '../../db/friendships.js';
import { setLikes } from '../../db/likes.js';
import { claimImage, type PendingImage } from '../../db/outbox/pending-images.js';
import { after, NOW } from '../../db/postgres/clock.js';
import type { DatabaseTransaction } from '../../db/postgres/index.js';
import { lockExclusive } from '../../db/postgres/locks.js';
import { createPost, deletePost } from '../../db/posts.js';
import { createSession } from '../../db/sessions.js';
import { StorageQuotaExceededError } from '../../db/storage-quota.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { agree } from '../support/agreement.js';
import { storedImages } from '../support/contents.js';
import { needsNeo4j } from '../support/neo4j-graph.js';
import { freshStores, inGraph, needsServers, openTestStores } from '../support/stores.js';

/*
 * Each of these stops one write where another may not pass it, lets the other one come, and goes on. What a lock protects
 * here would in a race be lost once in a thousand rounds.
 */
t.test('locks', needsServers, async (t) => {
  const environment: NodeJS.ProcessEnv = {
    ...(await freshStores(t)),
    DATABASE_TIMEOUT: '20000',
    NEO4J_TIMEOUT: '20000',
  };
  const [stores, others] = [await openTestStores(t, environment), await openTestStores(t, environment)];
  // Only what a test delivers itself is delivered.
  await Promise.all([stores.outbox.stop(), others.outbox.stop()]);
  const { db, graph, outbox } = stores;
  let made = 0;

  async function account(): Promise<number> {
    made += 1;
    const name = `somebody${made}`;
    const created = await createAccount(db, { name, username: name, email: `${name}@x.example`, passwordHash: 'hash' });
    await outbox.deliver(created?.entries ?? []);
    return created?.id ?? 0;
  }

  async function post(author: number): Promise<number> {
    const created = await createPost(stores, author, { title: 'A title', text: 'A text' });
    await outbox.deliver(created?.entries ?? []);
    return created?.post.id ?? 0;
  }

  const secretOf = async (id: number) => {
    const secret = await findCredentials(db, { id });
    if (!secret) throw new Error('no such account');
    return secret;
  };
  const endAccount = async (id: number) =>
    others.outbox.deliver((await deleteAccount(others.db, await secretOf(id))) ?? []);
  const endPost = async (author: number, id: number) =>
    others.outbox.deliver((await deletePost(others.db, author, id)) ?? []);

  /** How many statements wait for a lock in this database, and how many in the graph. */
  const waitingInPostgres = async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return rows.length;
  };
  const waitingInGraph = async () =>
    (await inGraph("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status")).length;
  const until = async (reached: () => Promise<boolean>) => {
    while (!(await reached())) await sleep(10);
  };

  /** Lets the second write come as far as it can while the first one is stopped: to its end, or to a lock. */
  async function meet(first: Promise<unknown>, second: Promise<unknown>, locks: number): Promise<void> {
    let over = false;
    const ended = second.finally(() => {
      over = true;
    });
    await until(async () => over || (await waitingInPostgres()) >= locks);
    await release();
    await Promise.all([first, ended]);
  }

  let release: () => Promise<void> = async () => undefined;

  /** Holds what a statement has locked in the graph, until `release`. */
  async function holdInGraph(t: Test, cypher: string, id: number): Promise<void> {
    const { NEO4J_URI = '', NEO4J_USERNAME = '', NEO4J_PASSWORD = '' } = process.env;
    const driver = neo4j.driver(NEO4J_URI, neo4j.auth.basic(NEO4J_USERNAME, NEO4J_PASSWORD));
    const transaction = await driver.session().beginTransaction();
    await transaction.run(cypher, { id: neo4j.int(id) });
    release = () => transaction.rollback();
    t.teardown(() => driver.close());
  }
  const PERSON = 'MATCH (person:Person {id: $id}) SET person.id = $id';

  async function holdInPostgres(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: environment.DATABASE_URL });
    await client.connect();
    await client.query(statement);
    release = () => client.end();
  }

  t.test('a like and the end of who gives it', needsNeo4j, async (t) => {
    const [ada, bob] = [await account(), await account()];
    const his = await post(bob);
    await graph.removePost(his);
    await holdInGraph(t, 'CREATE (:Post {id: $id})', his);
    const liking = setLikes(stores, [{ person: ada, post: his, liked: true }]);
    await until(async () => (await waitingInGraph()) > 0);
    await meet(liking, endAccount(ada), 1);
    await agree(t, stores);
  });

  t.test('a like and the end of its post', needsNeo4j, async (t) => {
    const [ada, bob] = [await account(), await account()];
    const his = await post(bob);
    await holdInGraph(t, PERSON, ada);
    const liking = setLikes(stores, [{ person: ada, post: his, liked: true }]);
    await until(async () => (await waitingInGraph()) > 0);
    await meet(liking, endPost(bob, his), 1);
    await agree(t, stores);
  });

  t.test('a like and the end of the post’s author', needsNeo4j, async (t) => {
    const [ada, bob] = [await account(), await account()];
    const his = await post(bob);
    await holdInGraph(t, PERSON, ada);
    const liking = setLikes(stores, [{ person: ada, post: his, liked: true }]);
    await until(async () => (await waitingInGraph()) > 0);
    await meet(liking, endAccount(bob), 1);
    await agree(t, stores);
  });

  t.test('a friend request and the end of one of the two', needsNeo4j, async (t) => {
    const [ada, bob] = [await account(), await account()];
    await holdInGraph(t, PERSON, ada);
    const asking = requestFriendship(stores, ada, bob);
    await until(async () => (await waitingInGraph()) > 0);
    await meet(asking, endAccount(bob), 1);
    await agree(t, stores);
  });

  t.test('a delivery that has found a post there, and its end', needsNeo4j, async (t) => {
    const slow = await openTestStores(t, { ...environment, NEO4J_POOL: '1' });
    await slow.outbox.stop();
    const bob = await account();
    const created = await createPost(stores, bob, { title: 'A title', text: 'A text' });
    await holdInGraph(t, 'CREATE (:Post {id: $id})', -1);
    const busy = slow.graph.ensureNodes({ people: [], posts: [-1] });
    await until(async () => (await waitingInGraph()) > 0);
    const delivery = slow.outbox.deliver(created?.entries ?? []);
    await until(async () => {
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction' and query like '%from "posts"%'`.execute(
        db,
      );
      return rows.length > 0;
    });
    await meet(Promise.all([busy, delivery]), endPost(bob, created?.post.id ?? 0), 1);
    await graph.removePost(-1);
    await agree(t, stores);
  });

  t.test('a delivery that is kept waiting keeps no other one waiting', async (t) => {
    const hasty = await openTestStores(t, { ...environment, DATABASE_TIMEOUT: '500' });
    await hasty.outbox.stop();
    const bob = await account();
    const stuck = await createPost(stores, bob, { title: 'Stuck', text: 'A text' });
    const free = await createPost(stores, bob, { title: 'Free', text: 'A text' });
    const entries = [...(stuck?.entries ?? []), ...(free?.entries ?? [])];
    const left = async () => {
      const rows = await db.selectFrom('outbox').select('id').where('id', 'in', entries).execute();
      return rows.map(({ id }) => id);
    };
    await holdInPostgres(`select pg_advisory_lock(${2 * (stuck?.post.id ?? 0) + 1})`);
    await Promise.all(entries.map((entry) => hasty.outbox.deliver([entry])));
    await until(async () => (await left()).length < 2);
    t.same(await left(), stuck?.entries);
    await release();
    await until(async () => {
      await hasty.outbox.deliver(stuck?.entries ?? []);
      return (await left()).length === 0;
    });
    await agree(t, stores);
  });

  t.test('a removal that is delivered again has its time, whoever still had it on a list', needsNeo4j, async (t) => {
    const bob = await account();
    const entries = (await deletePost(db, bob, await post(bob))) ?? [];
    await outbox.deliver(entries);
    await others.outbox.deliver(entries);
    const left = await db.selectFrom('outbox').select('delivered').where('id', 'in', entries).execute();
    t.same(left, [{ delivered: true }]);
  });

  t.test('locks are taken in one order, whatever the order in which they are named', async (t) => {
    const [low, high] = [await account(), await account()];
    for (const wanted of [{ accounts: [high, low] }, { accounts: [low], posts: [low - 1] }]) {
      await holdInPostgres(`select pg_advisory_lock(${2 * low})`);
      const asked = others.db.transaction().execute((trx) => lockExclusive(trx, wanted));
      await until(async () => (await waitingInPostgres()) === 1);
      const { rows } = await sql`
        select from pg_locks where locktype = 'advisory' and granted and pid in (
          select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`.execute(
        db,
      );
      t.same(rows, [], 'who waits for the first one has none of the others');
      await release();
      await asked;
    }
  });

  t.test('a password that was checked, changed and stored anew', async (t) => {
    const ada = await account();
    const checked = await secretOf(ada);
    await replaceHash(db, checked, 'the same password, another hash');
    const change = { password: { hash: 'another password', checked } };
    t.equal((await updateAccount(db, ada, change)).outcome, 'updated', 'what was checked is still the password');
    t.equal((await updateAccount(db, ada, change)).outcome, 'stale', 'and now no more');
    t.equal(await deleteAccount(db, checked), undefined);
    t.ok(await deleteAccount(db, await secretOf(ada)));
  });

  t.test('two who swap their names', async (t) => {
    const [ada, bob] = [await account(), await account()];
    const names = await db.selectFrom('accounts').select(['id', 'username']).where('id', 'in', [ada, bob]).execute();
    const nameOf = (id: number) => names.find((row) => row.id === id)?.username ?? '';
    // An index that is written before the names are compared stops whoever has written the row.
    await sql`
      create function wait_in_index(text) returns text immutable language plpgsql as
      'begin perform pg_advisory_xact_lock_shared(-8); return $1; end'`.execute(db);
    await sql`create index stops on accounts (wait_in_index(username))`.execute(db);
    await sql`alter table accounts drop constraint accounts_username_key`.execute(db);
    await sql`alter table accounts add constraint accounts_username_key unique (username_key)`.execute(db);
    await holdInPostgres('select pg_advisory_lock(-8)');
    const first = updateAccount(db, ada, { username: nameOf(bob) });
    const second = updateAccount(others.db, bob, { username: nameOf(ada) });
    await until(async () => (await waitingInPostgres()) === 2);
    await release();
    t.same(await Promise.all([first, second]), [{ outcome: 'taken' }, { outcome: 'taken' }]);
    await sql`drop index stops`.execute(db);
  });

  /** A post that waits for its author's account while this is done. */
  async function postMeanwhile(
    author: number,
    change: (trx: DatabaseTransaction) => Promise<unknown>,
    image?: PendingImage,
  ) {
    let post: ReturnType<typeof createPost> | undefined;
    await db.transaction().execute(async (trx) => {
      await lockExclusive(trx, { accounts: [author] });
      post = createPost(others, author, { title: 'T', text: 'T', image });
      post.catch(() => undefined);
      await until(async () => (await waitingInPostgres()) === 1);
      await change(trx);
    });
    return post;
  }

  t.test('a new post, and what becomes of its author’s account while it waits', async (t) => {
    const [ada, bob] = [await account(), await account()];
    const created = await postMeanwhile(ada, (trx) =>
      trx.updateTable('accounts').set({ private: true }).where('id', '=', ada).execute(),
    );
    t.equal(created?.post.author_private, true, 'it has gone private');
    await others.outbox.deliver(created?.entries ?? []);
    const none = await postMeanwhile(bob, (trx) => trx.deleteFrom('accounts').where('id', '=', bob).execute());
    t.equal(none, undefined, 'it is gone');
    t.same(await db.selectFrom('posts').select('id').where('author_id', '=', bob).execute(), []);
  });

  t.test('a new post, and what becomes of its image’s entry while it waits', async (t) => {
    const ada = await account();
    const images = async () => db.selectFrom('posts').select('image').where('author_id', '=', ada).execute();
    const storedBytes = async () =>
      (await db.selectFrom('accounts').select('stored_bytes').where('id', '=', ada).executeTakeFirst())?.stored_bytes;
    const pending = async (name: string) => {
      const values = { kind: 'image' as const, key: name, due_at: after(900) };
      const { entry } = await db.insertInto('outbox').values(values).returning('id as entry').executeTakeFirstOrThrow();
      const dueAt = (due_at: RawBuilder<string>) => (trx: DatabaseTransaction) =>
        trx.updateTable('outbox').set({ due_at }).where('id', '=', entry).execute();
      return { image: { name, entry, bytes: 5, storageMaxBytes: 10 }, dueAt };
    };
    const late = await pending('late.png');
    await t.rejects(postMeanwhile(ada, late.dueAt(NOW), late.image), StoreUnavailableError);
    t.same(await images(), [], 'no row names what is being removed');
    t.equal(await storedBytes(), 0, 'and it does not count');
    const early = await pending('early.png');
    await postMeanwhile(ada, early.dueAt(after(800)), early.image);
    t.same(await images(), [{ image: 'early.png' }]);
    t.equal(await storedBytes(), 5);
    const beyond = await pending('beyond.png');
    const another = (trx: DatabaseTransaction) =>
      trx.updateTable('accounts').set({ stored_bytes: 6 }).where('id', '=', ada).execute();
    await t.rejects(postMeanwhile(ada, another, beyond.image), StorageQuotaExceededError);
    t.equal(await storedBytes(), 6, 'an image that no longer fits does not count');
  });

  t.test('a statement that was given up goes, and does nothing later', async (t) => {
    const hasty = await openTestStores(t, { ...environment, DATABASE_TIMEOUT: '500' });
    await hasty.outbox.stop();
    const ada = await account();
    const checked = await secretOf(ada);
    await holdInPostgres(`select pg_advisory_lock(${2 * ada})`);
    const given = await Promise.allSettled([
      createPost(hasty, ada, { title: 'T', text: 'T' }),
      createSession(hasty, checked, { deviceName: 'x', expiresAt: new Date(Date.now() + 3_600_000) }),
    ]);
    for (const one of given) t.ok(one.status === 'rejected' && one.reason instanceof StoreUnavailableError);
    await until(async () => (await waitingInPostgres()) === 0);
    await release();
    t.same(await db.selectFrom('posts').select('id').where('author_id', '=', ada).execute(), []);
    t.same(await db.selectFrom('sessions').select('id').where('account_id', '=', ada).execute(), []);
  });

  t.test('a connection whose statement was given up is nobody else’s', async (t) => {
    const hasty = await openTestStores(t, { ...environment, DATABASE_TIMEOUT: '500', DATABASE_POOL: '1' });
    await hasty.outbox.stop();
    const ada = await account();
    await holdInPostgres(`select pg_advisory_lock(${2 * ada})`);
    await t.rejects(createPost(hasty, ada, { title: 'T', text: 'T' }), StoreUnavailableError);
    const next = await hasty.db.selectFrom('accounts').select('id').where('id', '=', ada).execute();
    t.same(next, [{ id: ada }]);
    await release();
  });

  t.test('a delivery that fails, and what somebody else has put off meanwhile', async (t) => {
    const hasty = await openTestStores(t, { ...environment, DATABASE_TIMEOUT: '500' });
    await hasty.outbox.stop();
    const created = await createPost(stores, await account(), { title: 'A title', text: 'A text' });
    const [entry = 0] = created?.entries ?? [];
    await holdInPostgres(`select pg_advisory_lock(${2 * (created?.post.id ?? 0) + 1})`);
    const failing = hasty.outbox.deliver([entry]);
    await until(async () => (await waitingInPostgres()) === 1);
    await db
      .updateTable('outbox')
      .set({ due_at: after(900) })
      .where('id', '=', entry)
      .execute();
    await failing;
    await hasty.close();
    const later = sql<boolean>`due_at > ${after(800)}`.as('later');
    const left = await db.selectFrom('outbox').select(['attempts', later]).where('id', '=', entry).execute();
    t.same(left, [{ attempts: 0, later: true }], 'stays as it is');
    await release();
    await db.updateTable('outbox').set({ due_at: NOW }).where('id', '=', entry).execute();
    await outbox.deliver([entry]);
  });

  t.test('a login by a password and the change of that password', async (t) => {
    const ada = await account();
    const checked = await secretOf(ada);
    await sql`
      create function wait_for_test() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(-7); return new; end'`.execute(db);
    await sql`create trigger wait_for_test before insert on sessions
      for each row execute function wait_for_test()`.execute(db);
    await holdInPostgres('select pg_advisory_lock(-7)');
    const login = createSession(stores, checked, { deviceName: 'x', expiresAt: new Date(Date.now() + 3_600_000) });
    await until(async () => (await waitingInPostgres()) === 1);
    await meet(login, updateAccount(others.db, ada, { password: { hash: 'another', checked } }), 2);
    t.same(await db.selectFrom('sessions').select('id').where('account_id', '=', ada).execute(), []);
  });

  t.test('bytes that are claimed just before they are due, and a sweep just after', async (t) => {
    const ada = await account();
    const path = join(stores.directory.uploads, 'upload');
    await writeFile(path, 'bytes');
    await stores.images.put('claimed.png', path);
    const { entry, due } = await db
      .insertInto('outbox')
      .values({ kind: 'image', key: 'claimed.png', due_at: sql`clock_timestamp() + interval '2 seconds'` })
      .returning(['id as entry', 'due_at as due'])
      .executeTakeFirstOrThrow();
    await db.transaction().execute(async (trx) => {
      await claimImage(trx, { name: 'claimed.png', entry, bytes: 5, storageMaxBytes: 10 });
      const row = { author_id: ada, title: 'T', text: 'T', image: 'claimed.png' };
      await trx.insertInto('posts').values(row).execute();
      await until(async () => Date.now() > Date.parse(due) + 100);
      await others.outbox.deliver([entry]);
    });
    t.same(await storedImages(stores), ['claimed.png']);
  });

  t.test('what another process delivers keeps nobody from delivering the rest', async (t) => {
    await openTestStores(t, environment);
    const ada = await account();
    const note = async (key: string, seconds: number) => {
      const due_at = sql<string>`clock_timestamp() + ${seconds}::float8 * interval '1 second'`;
      const values = [
        { kind: 'person' as const, key: String(ada), due_at },
        { kind: 'image' as const, key, due_at },
      ];
      const entries = await db.insertInto('outbox').values(values).returning('id').execute();
      return entries.map(({ id }) => id);
    };
    const [busy, rest] = [await note('one.png', 1), await note('two.png', 1.5)];
    const here = (ids: number[]) => db.selectFrom('outbox').select('id').where('id', 'in', ids);
    await db.transaction().execute(async (trx) => {
      const held = await trx.selectFrom('outbox').select('id').where('id', 'in', busy).forUpdate().execute();
      t.equal(held.length, 2);
      await until(async () => (await here(rest).execute()).length === 0);
    });
    await until(async () => (await here(busy).execute()).length === 0);
    t.pass('and what was held is delivered in its turn');
  });
});
