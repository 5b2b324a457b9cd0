import { sql } from 'kysely';
import t from 'tap';
import { openPostgres } from '../../db/postgres/server.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { samples } from '../../scripts/contract-test/client/index.js';
import { picture } from '../support/picture.js';
import { startProcess } from '../support/processes.js';
import { startProxy } from '../support/proxy.js';
import { repeatUntilSettled, runRounds } from '../support/races.js';
import { createSender } from '../support/requests.js';
import { befriend, createPost, LONG_TIMEOUTS, PASSWORD, startTestService } from '../support/service.js';
import { freshStores, needsServers, openTestStores, silentLog } from '../support/stores.js';
import { retryWhileUnavailable } from '../support/until.js';
import type { TestUser } from '../support/users.js';

const NEW_PASSWORD = 'Bright-Lantern-58!';
const ROUNDS = 12;
/** The number of concurrent rounds. In each, four clients read during the change. */
const CONCURRENT_ROUNDS = 4;

type Send = ReturnType<typeof createSender>;

/** A change that is made on one process, and what the other returns before and after it. */
interface Change {
  change(here: Send): Promise<{ status: number }>;
  read(there: Send): Promise<unknown>;
  before: unknown;
  after: unknown;
}

/** Returns a function that sends requests with a user's token. */
const sendAs =
  (send: Send, { token }: Pick<TestUser, 'token'>): TestUser['send'] =>
  (method, path, more) =>
    send(method, path, { token, ...more });

t.test('connections that have become silent are replaced', needsServers, async (t) => {
  const proxy = await startProxy(t, (await freshStores(t)).DATABASE_URL ?? '');
  const poolSize = 2;
  const { db, close } = openPostgres({ url: proxy.url, poolSize, graphPoolSize: 1, timeoutMs: 500 }, silentLog);
  t.teardown(close);
  const query = () => sql`select`.execute(db);
  await Promise.all([query(), query()]);
  await proxy.setFault('half-open');
  for (let count = 0; count < poolSize; count += 1) await t.rejects(query(), StoreUnavailableError);
  await query();
});

t.test('an outage of PostgreSQL is logged once, with its cause, and so is its end', needsServers, async (t) => {
  const proxy = await startProxy(t, (await freshStores(t)).DATABASE_URL ?? '');
  const lines: unknown[][] = [];
  const log = {
    info: (...line: unknown[]) => void lines.push(line),
    warn: (...line: unknown[]) => void lines.push(line),
  };
  const { db, close } = openPostgres({ url: proxy.url, poolSize: 2, graphPoolSize: 1, timeoutMs: 500 }, log);
  t.teardown(close);
  const query = () => sql`select`.execute(db);
  for (const [fault, cause] of [
    ['refuse', /ECONNREFUSED|terminated/],
    ['silence', /timeout/],
  ] as const) {
    await query();
    await t.rejects(sql`select * from nothing`.execute(db), { code: '42P01' });
    await proxy.setFault(fault);
    for (let count = 0; count < 4; count += 1) await t.rejects(query(), { message: cause });
    await proxy.setFault('none');
    await retryWhileUnavailable(query);
    t.equal(lines.length, 2);
    t.match(lines.splice(0), [
      [{ store: 'postgres', err: { message: cause } }, 'store unavailable'],
      [{ store: 'postgres' }, 'store available'],
    ]);
  }
});

t.test('a statement in progress on a silent server does not delay the shutdown', needsServers, async (t) => {
  const proxy = await startProxy(t, (await freshStores(t)).DATABASE_URL ?? '');
  const postgres = openPostgres({ url: proxy.url, poolSize: 1, graphPoolSize: 1, timeoutMs: 60_000 }, silentLog);
  const query = () => sql`select`.execute(postgres.maintenanceDb);
  await query();
  await proxy.setFault('silence');
  const lost = t.rejects(query(), StoreUnavailableError);
  await postgres.close();
  await lost;
});

t.test('changes that one process has acknowledged are visible on the other immediately', needsServers, async (t) => {
  // One process is that of the test.
  const service = await startTestService(t, LONG_TIMEOUTS);
  const { url } = await startProcess(t, service.environment);
  const senders: [Send, Send] = [service.send, createSender(t, url)];
  const viewer = await service.createUser();

  const me = (user: TestUser) => async (there: Send) => (await sendAs(there, user)('GET', '/auth/me')).status;

  /** Returns a change of a user's sessions, with the statuses of the current and of another session after it. */
  const changeOfSessions =
    (send: (user: Send, otherId: string) => Promise<{ status: number }>, after: [current: number, another: number]) =>
    async (user: TestUser): Promise<Change> => {
      const another = await user.newSession();
      const { body: sessions } = await another.send('GET', '/auth/sessions');
      const { id } = sessions.find(({ current }: { current: boolean }) => current);
      return {
        change: (here) => send(sendAs(here, user), id),
        read: async (there) => [await me(user)(there), await me(another)(there)],
        before: [200, 200],
        after,
      };
    };

  /**
   * Returns a function that reads the status of `GET /auth/me` with the author's token and, as the viewer, the status of the
   * post, whether the feed contains the post, and whether the author's full profile is visible.
   */
  const view = (author: TestUser, post: number) => async (there: Send) => {
    const send = sendAs(there, viewer);
    const [authorStatus, single, feed, profile] = await Promise.all([
      me(author)(there),
      send('GET', `/posts/${post}`),
      send('GET', '/posts?limit=100'),
      send('GET', `/profiles/${author.id}`),
    ]);
    const listed = feed.body.some(({ id }: { id: number }) => id === post);
    return [authorStatus, single.status, listed, profile.body && 'private' in profile.body];
  };
  const VISIBLE = [200, 200, true, true];
  const HIDDEN = [200, 404, false, false];

  /** Returns a change, by a request of the author, of what the viewer sees of the author and of a new post. */
  async function changeOfView(
    author: TestUser,
    [before, after]: [unknown[], unknown[]],
    send: (author: Send, post: number) => Promise<{ status: number }>,
  ): Promise<Change> {
    const { id } = await createPost(author);
    return { change: (here) => send(sendAs(here, author), id), read: view(author, id), before, after };
  }
  const setPrivate = (send: Send, isPrivate: boolean) =>
    send('PUT', '/profiles/me', { form: { private: String(isPrivate) } });

  const LIKED = { like_count: 1, liked_by_me: true };
  const NOT_LIKED = { like_count: 0, liked_by_me: false };

  /** Returns a like or unlike of a post by the viewer. */
  const changeOfLike = (isLike: boolean) => async (author: TestUser) => {
    const { id } = await createPost(author);
    if (!isLike) await viewer.send('POST', `/posts/like?id=${id}`);
    return {
      change: (here: Send) => sendAs(here, viewer)(isLike ? 'POST' : 'DELETE', `/posts/like?id=${id}`),
      async read(there: Send) {
        const { body: feed } = await sendAs(there, viewer)('GET', '/posts?limit=100');
        const { like_count, liked_by_me } = feed.find((post: { id: number }) => post.id === id);
        return { like_count, liked_by_me };
      },
      before: isLike ? NOT_LIKED : LIKED,
      after: isLike ? LIKED : NOT_LIKED,
    };
  };

  const changes: Record<string, (user: TestUser) => Promise<Change>> = {
    'a logout': changeOfSessions((send) => send('POST', '/auth/logout'), [401, 200]),
    'the end of a session': changeOfSessions((send, id) => send('DELETE', `/auth/sessions/${id}`), [200, 401]),
    'the end of all other sessions': changeOfSessions((send) => send('DELETE', '/auth/sessions'), [200, 401]),
    'a password change': changeOfSessions(
      (send) => send('PUT', '/profiles/me', { form: { password: NEW_PASSWORD, current_password: PASSWORD } }),
      [401, 401],
    ),
    'a change of the profile to private': (user) =>
      changeOfView(user, [VISIBLE, HIDDEN], (send) => setPrivate(send, true)),
    'a change of the profile to public': async (user) => {
      await setPrivate(user.send, true);
      return changeOfView(user, [HIDDEN, VISIBLE], (send) => setPrivate(send, false));
    },
    'the beginning of a friendship': async (user) => {
      await setPrivate(user.send, true);
      await viewer.send('POST', `/friends/request?to=${user.id}`);
      return changeOfView(user, [HIDDEN, VISIBLE], (send) => send('POST', `/friends/accept?from=${viewer.id}`));
    },
    'the end of a friendship': async (user) => {
      await setPrivate(user.send, true);
      await befriend(user, viewer);
      return changeOfView(user, [VISIBLE, HIDDEN], (send) => send('DELETE', `/friends/remove?id=${viewer.id}`));
    },
    'the deletion of an account': (user) =>
      changeOfView(user, [VISIBLE, [401, 404, false, false]], (send) =>
        send('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
      ),
    'the deletion of a post': (user) =>
      changeOfView(user, [VISIBLE, [200, 404, false, true]], (send, id) => send('DELETE', `/posts/delete?id=${id}`)),
    'another picture': async (user) => ({
      change: (here) => sendAs(here, user)('PUT', '/profiles/me', { form: { image: picture() } }),
      async read(there) {
        const send = sendAs(there, user);
        const { profile_link: link } = (await send('GET', '/profiles/me')).body;
        return link && (await send('GET', link)).bytes.equals(samples.png);
      },
      before: null,
      after: true,
    }),
    'a like': changeOfLike(true),
    'an unlike': changeOfLike(false),
  };

  for (const [name, arrange] of Object.entries(changes)) {
    t.test(name, (t) =>
      // The other process is read continuously. The processes swap roles every round.
      runRounds(ROUNDS, CONCURRENT_ROUNDS, async (round) => {
        const [here, there] = (round % 2 === 0 ? senders : senders.toReversed()) as [Send, Send];
        const { change, read, before, after } = await arrange(await service.createUser());
        t.same(await read(there), before, 'before');
        const changeAndRead = async () => {
          t.equal((await change(here)).status, 200);
          return read(there);
        };
        const reader = () => read(there);
        t.same(await repeatUntilSettled(changeAndRead(), reader, reader, reader, reader), after, 'after');
      }),
    );
  }
});

t.test('every pool limits how long a transaction may be idle', needsServers, async (t) => {
  const { db, graphTransactions, maintenanceDb } = await openTestStores(t);
  for (const database of [db, graphTransactions, maintenanceDb]) {
    const show = sql<{ idle_in_transaction_session_timeout: string }>`show idle_in_transaction_session_timeout`;
    const { rows } = await database.transaction().execute((trx) => show.execute(trx));
    t.not(rows[0]?.idle_in_transaction_session_timeout, '0');
  }
});
