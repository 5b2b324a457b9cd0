import { type RawBuilder, sql } from 'kysely';
import neo4j from 'neo4j-driver';
import pg from 'pg';
import t, { type Test } from 'tap';
import {
  type Credentials,
  deleteAccount,
  findCredentials,
  replacePasswordHash,
  updateAccount,
} from '../../db/accounts.js';
import { requestFriendship } from '../../db/friendships.js';
import type { ImageFile } from '../../db/images/index.js';
import { setLikes } from '../../db/likes.js';
import type { OutboxEntry } from '../../db/outbox/entries.js';
import { claimImage } from '../../db/outbox/pending-images.js';
import { createPost, deletePosts, updatePost } from '../../db/post-writes.js';
import { NOW, secondsFromNow } from '../../db/postgres/clock.js';
import type { DatabaseTransaction } from '../../db/postgres/index.js';
import { lockExclusive, lockShared } from '../../db/postgres/locks.js';
import { createSession, deleteOtherSessions, touchSessions, trimSessions } from '../../db/sessions.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { recalculateStoredBytes } from '../../scripts/verify/stored-bytes.js';
import { expectConsistentStores, idsOf } from '../support/consistency.js';
import { listImageNames } from '../support/image-store.js';
import { beginTransaction, needsNeo4j } from '../support/neo4j-graph.js';
import { LONG_TIMEOUTS } from '../support/service.js';
import {
  createFixtures,
  openStoresWithoutRelay,
  POST,
  postOf,
  repeat,
  withoutDelivery,
} from '../support/store-fixtures.js';
import { freshStores, needsServers, openTestStores, queryGraph } from '../support/stores.js';
import { until } from '../support/until.js';

/** Short, so that a statement that waits for a lock fails soon. Long enough for other statements on a busy machine. */
const SHORT_TIMEOUT = { DATABASE_TIMEOUT: '1500' };

const storageMaxBytes = 10;

/*
 * Most of these tests pause a write that holds or needs a lock, start a conflicting write, and resume the first one. Random
 * races would find a missing lock only once in thousands of rounds.
 */
t.test('locks', needsServers, async (t) => {
  const environment: NodeJS.ProcessEnv = { ...(await freshStores(t)), ...LONG_TIMEOUTS };
  // Two sets of stores, like those of two processes. Without a relay, only the tests deliver entries.
  const [stores, otherStores] = [
    await openStoresWithoutRelay(t, environment),
    await openStoresWithoutRelay(t, environment),
  ];
  const { db, graph, outbox } = stores;
  const { account, post, storeImage, upload } = createFixtures(stores);

  const credentialsOf = async (id: number) => {
    const credentials = await findCredentials(db, { id });
    if (!credentials) throw new Error(`Account ${id} does not exist`);
    return credentials;
  };
  const removeAccount = async (id: number) => {
    await deleteAccount(otherStores, await credentialsOf(id));
  };
  const removePost = (author: number, id: number) => deletePosts(otherStores, author, [id]);
  /** Creates a post without delivering its outbox entries. */
  const createUndelivered = async (author: number) => {
    const undelivered = withoutDelivery(stores);
    const { id } = postOf(await createPost(undelivered.stores, { ...POST, author }));
    return { id, entries: undelivered.entries };
  };
  const login = (checked: Credentials, target = stores) =>
    createSession(target.db, checked, { deviceName: 'x', expiresAt: new Date(Date.now() + 3_600_000) });
  const sessionsOf = (id: number) => db.selectFrom('sessions').select('id').where('account_id', '=', id);
  const postsOf = (id: number) => db.selectFrom('posts').select('id').where('author_id', '=', id);

  /** Returns the number of statements that wait for a lock in this database. */
  const countWaitingInPostgres = async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return rows.length;
  };
  const untilWaiting = (count: number) => until(async () => (await countWaitingInPostgres()) === count);
  const untilWaitingInGraph = () =>
    until(async () => {
      const rows = await queryGraph("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status");
      return rows.length > 0;
    });

  /**
   * Waits, while the first write is paused, until the second has ended or `waitingCount` statements wait for locks. Then
   * resumes the first write, and waits for both.
   */
  async function releaseAndAwait(
    first: Promise<unknown>,
    second: Promise<unknown>,
    waitingCount: number,
  ): Promise<void> {
    let isOver = false;
    const ended = second.finally(() => {
      isOver = true;
    });
    await until(async () => isOver || (await countWaitingInPostgres()) >= waitingCount);
    await release();
    await Promise.all([first, ended]);
  }

  /** Releases the locks that the test holds. */
  let release: () => Promise<void> = async () => undefined;

  /** Holds the locks of a statement in the graph until `release`. */
  async function holdInGraph(t: Test, cypher: string, id: number): Promise<void> {
    const transaction = await beginTransaction(t);
    await transaction.run(cypher, { id: neo4j.int(id) });
    release = () => transaction.rollback();
  }
  const LOCK_PERSON = 'MATCH (person:Person {id: $id}) SET person.id = $id';

  /** Holds the locks of a statement in PostgreSQL until `release`. */
  async function holdInPostgres(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: environment.DATABASE_URL });
    await client.connect();
    await client.query(statement);
    release = () => client.end();
  }

  /** Holds the lock of a post until `release`. */
  const holdPost = (id: number) => holdInPostgres(`select pg_advisory_lock(${2 * id + 1})`);
  /** Holds the lock of an account until `release`. */
  const holdAccount = (id: number) => holdInPostgres(`select pg_advisory_lock(${2 * id})`);

  /** Deletes an account or a post while a write in the graph is paused, and expects nothing of the write to remain. */
  async function expectNothingRemains(t: Test, write: Promise<unknown>, remove: () => Promise<unknown>): Promise<void> {
    await untilWaitingInGraph();
    const removal = remove();
    // Shows that the removal waits for the lock. The result alone would not: a second delivery removes what the write leaves.
    await untilWaiting(1);
    await release();
    await Promise.all([write, removal]);
    await expectConsistentStores(t, stores);
  }
  const like = (user: number, postId: number) => setLikes(stores, [{ user, post: postId, liked: true }]);

  t.test('no like remains if its user is deleted at the same time', needsNeo4j, async (t) => {
    const user = await account();
    const postId = await post(await account());
    await graph.removePost(postId);
    await holdInGraph(t, 'CREATE (:Post {id: $id})', postId);
    await expectNothingRemains(t, like(user, postId), () => removeAccount(user));
  });

  for (const [deleted, remove] of [
    ['its post', removePost],
    ['the author of its post', removeAccount],
  ] as const) {
    t.test(`no like remains if ${deleted} is deleted at the same time`, needsNeo4j, async (t) => {
      const [user, author] = [await account(), await account()];
      const postId = await post(author);
      await holdInGraph(t, LOCK_PERSON, user);
      await expectNothingRemains(t, like(user, postId), () => remove(author, postId));
    });
  }

  t.test(
    'a like of a deleted post does not delay likes of other posts while the node of the deleted post is removed',
    async (t) => {
      const [user, postId] = [await account(), await post(await account())];
      const deleted = postId + 1000;
      await holdPost(deleted);
      const likes = [deleted, postId].map((id) => ({ user, post: id, liked: true }));
      t.same(await setLikes(stores, likes), ['notVisible', 'done']);
      await release();
    },
  );

  t.test('no friend request remains if one of the users is deleted at the same time', needsNeo4j, async (t) => {
    const [user, other] = [await account(), await account()];
    await holdInGraph(t, LOCK_PERSON, user);
    await expectNothingRemains(t, requestFriendship(stores, user, other), () => removeAccount(other));
  });

  /** Returns those of the entries whose first delivery has not succeeded. */
  const undeliveredOf = async (entries: readonly OutboxEntry[]) =>
    idsOf(
      await db
        .selectFrom('outbox')
        .select('id')
        .where('id', 'in', idsOf(entries))
        .where('delivered', '=', false)
        .execute(),
    );

  t.test('no node remains if a post is deleted during the delivery of its creation', needsNeo4j, async (t) => {
    const other = await account();
    const { id, entries } = await createUndelivered(other);
    await holdInGraph(t, 'CREATE (:Post {id: $id})', id);
    const delivery = outbox.deliver(entries);
    await untilWaitingInGraph();
    // Without the delivery of the removal, which would also remove the node.
    const removal = withoutDelivery(stores);
    await deletePosts(removal.stores, other, [id]);
    await release();
    await delivery;
    await until(async () => (await undeliveredOf(entries)).length === 0);
    t.strictNotSame(await graph.bulk.postIds(id - 1, 1), [id]);
    await outbox.deliver(removal.entries);
    await expectConsistentStores(t, stores);
  });

  t.test('a blocked delivery does not block other deliveries', needsNeo4j, async (t) => {
    const shortTimeout = await openStoresWithoutRelay(t, { ...environment, NEO4J_TIMEOUT: '400' });
    const other = await account();
    const [blocked, unblocked] = [await createUndelivered(other), await createUndelivered(other)];
    const entries = [...blocked.entries, ...unblocked.entries];
    await holdInGraph(t, 'CREATE (:Post {id: $id})', blocked.id);
    // `deliver` returns after a second. By then, the batch of both entries has timed out, and then the blocked entry alone.
    await until(async () => {
      await Promise.all(entries.map((entry) => shortTimeout.outbox.deliver([entry])));
      return (await undeliveredOf(entries)).length < 2;
    });
    t.same(await undeliveredOf(entries), idsOf(blocked.entries));
    await release();
    await until(async () => {
      await shortTimeout.outbox.deliver(blocked.entries);
      return (await undeliveredOf(entries)).length === 0;
    });
    await expectConsistentStores(t, stores);
  });

  t.test('a removal is not delivered a second time before its second delivery is due', needsNeo4j, async (t) => {
    const other = await account();
    const undelivered = withoutDelivery(stores);
    await deletePosts(undelivered.stores, other, [await post(other)]);
    const { entries } = undelivered;
    await outbox.deliver(entries);
    await otherStores.outbox.deliver(entries);
    const left = await db.selectFrom('outbox').select('delivered').where('id', 'in', idsOf(entries)).execute();
    t.same(left, [{ delivered: true }]);
  });

  t.test('locks are taken in one order, regardless of the order of the arguments', async (t) => {
    // As text, these ids have the opposite order.
    const [low, high] = [999_999, 1_000_000];
    for (const targets of [{ accounts: [high, low] }, { accounts: [low], posts: [low - 1] }]) {
      await holdAccount(low);
      const locking = otherStores.db.transaction().execute((trx) => lockExclusive(trx, targets));
      await untilWaiting(1);
      const { rows } = await sql`
        select from pg_locks where locktype = 'advisory' and granted and pid in (
          select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`.execute(
        db,
      );
      t.same(rows, [], 'a statement that waits for the first lock holds no other');
      await release();
      await locking;
    }
  });

  t.test('a checked password stays valid through a rehash, but not through a change', async (t) => {
    const user = await account();
    const checked = await credentialsOf(user);
    await replacePasswordHash(db, checked, 'the same password, another hash');
    const change = { password: { hash: 'another password', checkedCredentials: checked }, storageMaxBytes };
    t.equal((await updateAccount(stores, user, change)).outcome, 'updated', 'the checked password is still valid');
    t.equal((await updateAccount(stores, user, change)).outcome, 'stale', 'the checked password is no longer valid');
    t.equal((await deleteAccount(stores, checked)).outcome, 'stale');
    t.equal((await deleteAccount(stores, await credentialsOf(user))).outcome, 'deleted');
    t.equal((await deleteAccount(stores, checked)).outcome, 'accountDeleted');
  });

  t.test('two users who swap usernames are both refused', async (t) => {
    const [user, other] = [await account(), await account()];
    const names = await db.selectFrom('accounts').select(['id', 'username']).where('id', 'in', [user, other]).execute();
    const nameOf = (id: number) => names.find((row) => row.id === id)?.username ?? '';
    // An index that is updated before the index of the unique constraint pauses each update after it has written its row.
    await sql`
      create function wait_in_index(text) returns text immutable language plpgsql as
      'begin perform pg_advisory_xact_lock_shared(-8); return $1; end'`.execute(db);
    await sql`create index waiting_index on accounts (wait_in_index(username))`.execute(db);
    await sql`alter table accounts drop constraint accounts_username_key`.execute(db);
    await sql`alter table accounts add constraint accounts_username_key unique (username_key)`.execute(db);
    await holdInPostgres('select pg_advisory_lock(-8)');
    const update = updateAccount(stores, user, { username: nameOf(other), storageMaxBytes });
    const otherUpdate = updateAccount(otherStores, other, { username: nameOf(user), storageMaxBytes });
    await untilWaiting(2);
    await release();
    const taken = { outcome: 'taken', field: 'username' };
    t.same(await Promise.all([update, otherUpdate]), [taken, taken]);
    await sql`drop index waiting_index`.execute(db);
  });

  /** Creates a post, which waits for the lock of its author's account while `change` runs. */
  async function createPostDuring(
    author: number,
    change: (trx: DatabaseTransaction) => Promise<unknown>,
    image?: ImageFile,
  ) {
    let post: ReturnType<typeof createPost> | undefined;
    await db.transaction().execute(async (trx) => {
      await lockExclusive(trx, { accounts: [author] });
      post = createPost(otherStores, { ...POST, author, image, storageMaxBytes });
      post.catch(() => undefined);
      await untilWaiting(1);
      await change(trx);
    });
    return post;
  }

  t.test('a post that waits for its author’s account is not created if the account is deleted meanwhile', async (t) => {
    const user = await account();
    const rejected = await createPostDuring(user, (trx) => trx.deleteFrom('accounts').where('id', '=', user).execute());
    t.match(rejected, { outcome: 'accountDeleted' });
    t.same(await postsOf(user).execute(), []);
  });

  t.test(
    'a post that has waited for the lock of its author reads the outbox entry of its image and the quota again',
    async (t) => {
      const user = await account();
      const images = async () => db.selectFrom('posts').select('image').where('author_id', '=', user).execute();
      const storedBytes = async () => {
        const row = await db.selectFrom('accounts').select('stored_bytes').where('id', '=', user).executeTakeFirst();
        return row?.stored_bytes;
      };
      const setDue = (due_at: RawBuilder<string>) => (trx: DatabaseTransaction) =>
        trx.updateTable('outbox').set({ due_at }).where('kind', '=', 'image').where('due_at', '>', NOW).execute();
      await t.rejects(createPostDuring(user, setDue(NOW), await upload()), StoreUnavailableError);
      t.same(await images(), [], 'no row references the image');
      t.equal(await storedBytes(), 0, 'the image does not count');
      const created = await createPostDuring(user, setDue(secondsFromNow(800)), await upload());
      t.same(await images(), [{ image: created && postOf(created).image }]);
      t.equal(await storedBytes(), 5);
      const useMoreBytes = (trx: DatabaseTransaction) =>
        trx.updateTable('accounts').set({ stored_bytes: 6 }).where('id', '=', user).execute();
      t.match(await createPostDuring(user, useMoreBytes, await upload()), { outcome: 'quotaExceeded' });
      t.equal(await storedBytes(), 6, 'an image that no longer fits does not count');
    },
  );

  t.test('a statement that timed out is cancelled, has no effect, and its connection is not reused', async (t) => {
    const shortTimeout = await openStoresWithoutRelay(t, { ...environment, ...SHORT_TIMEOUT, DATABASE_POOL: '1' });
    const user = await account();
    const checked = await credentialsOf(user);
    await holdAccount(user);
    const writes: (() => Promise<unknown>)[] = [
      () => createPost(shortTimeout, { ...POST, author: user }),
      () => login(checked, shortTimeout),
    ];
    for (const write of writes) {
      await t.rejects(write(), StoreUnavailableError);
      const next = await shortTimeout.db.selectFrom('accounts').select('id').where('id', '=', user).execute();
      t.same(next, [{ id: user }], 'the next statement of the pool succeeds');
    }
    await untilWaiting(0);
    await release();
    t.same(await postsOf(user).execute(), []);
    t.same(await sessionsOf(user).execute(), []);
  });

  t.test('a statement that timed out no longer waits for a table lock on the server', async (t) => {
    const shortTimeout = await openStoresWithoutRelay(t, { ...environment, ...SHORT_TIMEOUT });
    await holdInPostgres('begin; lock table posts');
    await t.rejects(updatePost(shortTimeout, 1, 1, { storageMaxBytes }), StoreUnavailableError);
    await untilWaiting(0);
    await release();
  });

  t.test('a transaction is read committed, whatever the default isolation level of its session', async (t) => {
    const options = '?options=-c%20default_transaction_isolation%3Dserializable';
    const serializable = { ...environment, DATABASE_URL: `${environment.DATABASE_URL}${options}` };
    const { db } = await openStoresWithoutRelay(t, serializable);
    const { rows } = await db.transaction().execute((trx) => sql`show transaction_isolation`.execute(trx));
    t.same(rows, [{ transaction_isolation: 'read committed' }]);
  });

  t.test('a failed delivery does not reschedule an entry that was postponed during it', async (t) => {
    const delivering = await openStoresWithoutRelay(t, environment);
    const author = await account();
    const id = await post(author);
    const undelivered = withoutDelivery(stores);
    await deletePosts(undelivered.stores, author, [id]);
    const [entry] = undelivered.entries;
    if (!entry) throw new Error('The post has no entry.');
    await holdPost(id);
    const delivery = delivering.outbox.deliver([entry]);
    await untilWaiting(1);
    // Waits for the row, which the delivery has locked.
    const postponed = db
      .updateTable('outbox')
      .set({ due_at: secondsFromNow(900) })
      .where('id', '=', entry.id)
      .execute();
    await untilWaiting(2);
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event = 'advisory'`.execute(db);
    await postponed;
    // `deliver` does not wait longer than a second. `close` waits until the delivery has failed.
    await delivery;
    await delivering.close();
    const later = sql<boolean>`due_at > ${secondsFromNow(800)}`.as('later');
    const left = await db.selectFrom('outbox').select(['attempts', later]).where('id', '=', entry.id).execute();
    t.same(left, [{ attempts: 0, later: true }], 'the entry is unchanged');
    await release();
    await db.updateTable('outbox').set({ due_at: NOW }).where('id', '=', entry.id).execute();
    await outbox.deliver([entry]);
  });

  t.test('no session of the old password remains if the password changes during a login', async (t) => {
    const user = await account();
    const checked = await credentialsOf(user);
    await sql`
      create function wait_for_test() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(-7); return new; end'`.execute(db);
    await sql`create trigger wait_for_test before insert on sessions
      for each row execute function wait_for_test()`.execute(db);
    await holdInPostgres('select pg_advisory_lock(-7)');
    const session = login(checked);
    await untilWaiting(1);
    await releaseAndAwait(
      session,
      updateAccount(otherStores, user, { password: { hash: 'another', checkedCredentials: checked }, storageMaxBytes }),
      2,
    );
    t.same(await sessionsOf(user).execute(), []);
  });

  /** Creates sessions of a new account. Returns the account's id, and the ids of the sessions in ascending order. */
  async function createSessions(count: number) {
    const user = await account();
    const checked = await credentialsOf(user);
    const sessions = await repeat(count, () => login(checked));
    const ids = sessions.map((id) => id ?? '');
    return { user, ids: ids.sort() };
  }
  const setLastUse = (id: string, secondsAgo: number) =>
    db
      .updateTable('sessions')
      .set({ last_used_at: secondsFromNow(-secondsAgo) })
      .where('id', '=', id)
      .execute();

  t.test('two logins that delete the oldest session do not deadlock, and delete one session', async (t) => {
    const { user, ids } = await createSessions(3);
    const [first = '', second = '', third = ''] = ids;
    await setLastUse(third, 100);
    await setLastUse(second, 200);
    await setLastUse(first, 300);
    await holdInPostgres(`begin; select from sessions where id = '${second}' for update`);
    const deletions = [trimSessions(db, user, first, 2)];
    await untilWaiting(1);
    // This update has no effect, because the first login has locked the session. If logins locked sessions by last use, newest
    // first, the update would change the order for the second login, and the two logins would deadlock.
    await touchSessions(db, [first]);
    deletions.push(trimSessions(otherStores.db, user, first, 2));
    await untilWaiting(2);
    await release();
    const counts = await Promise.all(deletions);
    t.same(counts.sort(), [0, 1]);
    t.equal((await sessionsOf(user).execute()).length, 2);
  });

  for (const [name, remove, leavesCurrent] of [
    ['other sessions', (user: number, current: string) => deleteOtherSessions(otherStores.db, user, current), true],
    ['an account', removeAccount, false],
  ] as const) {
    t.test(`a deletion of ${name} that deadlocks with a login is repeated`, async (t) => {
      const { user } = await createSessions(3);
      const remaining = sessionsOf(user);
      // In physical order, in which the deletion locks the sessions.
      const [first, second, current] = await remaining.orderBy(sql`ctid`).execute();
      let removal: Promise<unknown> | undefined;
      const transaction = db.transaction().execute(async (trx) => {
        const lock = (session: typeof first) =>
          trx.selectFrom('sessions').select('id').where('id', '=', `${session?.id}`).forUpdate().execute();
        await lock(second);
        removal = remove(user, `${current?.id}`);
        await untilWaiting(1);
        // PostgreSQL aborts the statement that has waited longer: the deletion.
        await lock(first);
      });
      await transaction.catch((error) => {
        // If the machine is so busy that the second wait begins a second after the first, PostgreSQL aborts this transaction.
        if (!(error instanceof StoreUnavailableError)) throw error;
      });
      await removal;
      t.same(await remaining.execute(), leavesCurrent ? [current] : []);
    });
  }

  t.test('an update of the last use of sessions does not wait for a session that is locked', async (t) => {
    const { user, ids } = await createSessions(2);
    const [locked = '', free = ''] = ids;
    for (const id of ids) await setLastUse(id, 100);
    await holdInPostgres(`begin; select from sessions where id = '${locked}' for update`);
    await touchSessions(db, ids);
    await release();
    const recent = sql<boolean>`last_used_at > ${secondsFromNow(-90)}`;
    t.same(await sessionsOf(user).where(recent).execute(), [{ id: free }]);
  });

  t.test('an image that is claimed before its outbox entry is due is kept', async (t) => {
    const user = await account();
    await storeImage('claimed.png');
    const { entryId, due } = await db
      .insertInto('outbox')
      .values({ kind: 'image', key: 'claimed.png', due_at: secondsFromNow(2) })
      .returning(['id as entryId', 'due_at as due'])
      .executeTakeFirstOrThrow();
    await db.transaction().execute(async (trx) => {
      await claimImage(trx, { name: 'claimed.png', entryId, bytes: 5 });
      const row = { author_id: user, title: 'T', text: 'T', image: 'claimed.png' };
      await trx.insertInto('posts').values(row).execute();
      await until(async () => Date.now() > Date.parse(due) + 100);
      await otherStores.outbox.deliver([{ id: entryId, kind: 'image', key: 'claimed.png' }]);
    });
    t.ok((await listImageNames(stores.images)).includes('claimed.png'));
  });

  t.test('a repair of stored bytes waits for an upload, and includes it', async (t) => {
    const user = await account();
    await db.updateTable('accounts').set({ stored_bytes: 7 }).where('id', '=', user).execute();
    const { repairing } = await db.transaction().execute(async (trx) => {
      await lockShared(trx, { accounts: [user] });
      await trx.insertInto('posts').values({ title: 'T', text: 'T', author_id: user, image_bytes: 5 }).execute();
      const repairing = recalculateStoredBytes(otherStores.db, user);
      await Promise.race([untilWaiting(1), repairing]);
      return { repairing };
    });
    await repairing;
    const repaired = db.selectFrom('accounts').select('stored_bytes').where('id', '=', user);
    t.same(await repaired.execute(), [{ stored_bytes: 5 }]);
  });

  t.test('entries that another process has locked do not block the others', async (t) => {
    // These stores have a relay, which delivers the entries.
    await openTestStores(t, environment);
    const user = await account();
    const addEntries = async (key: string, seconds: number) => {
      const due_at = secondsFromNow(seconds);
      const values = [
        { kind: 'person' as const, key: String(user), due_at },
        { kind: 'image' as const, key, due_at },
      ];
      return idsOf(await db.insertInto('outbox').values(values).returning('id').execute());
    };
    const [busy, rest] = [await addEntries('one.png', 1), await addEntries('two.png', 1.5)];
    const remaining = (ids: number[]) => db.selectFrom('outbox').select('id').where('id', 'in', ids);
    await db.transaction().execute(async (trx) => {
      const held = await trx.selectFrom('outbox').select('id').where('id', 'in', busy).forUpdate().execute();
      t.equal(held.length, 2);
      await until(async () => (await remaining(rest).execute()).length === 0);
    });
    await until(async () => (await remaining(busy).execute()).length === 0);
    t.pass('the locked entries are delivered later');
  });
});
