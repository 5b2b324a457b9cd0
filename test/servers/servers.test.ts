import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { readConfig } from '../../handlers/config/index.js';
import { createTokens } from '../../handlers/security/tokens.js';
import { samples } from '../../scripts/contract-test/images.js';
import { picture } from '../support/picture.js';
import { startProcess } from '../support/processes.js';
import { repeatUntilSettled, runRounds } from '../support/races.js';
import { createSender } from '../support/requests.js';
import { befriend, createPost, LONG_TIMEOUTS, PASSWORD } from '../support/service.js';
import { freshStores, needsServers, openTestStores } from '../support/stores.js';
import { createUserFactory, type TestUser } from '../support/users.js';

const NEW_PASSWORD = 'Bright-Lantern-58!';
/** In each round, four clients read during the change. */
const ROUNDS = 20;
const IN_FLIGHT = 4;

type Send = ReturnType<typeof createSender>;

/** Returns a function that sends requests with a user's token. */
const sendAs =
  (send: Send, { token }: Pick<TestUser, 'token'>): TestUser['send'] =>
  (method, path, more) =>
    send(method, path, { token, ...more });

/** Starts two processes on one set of stores. Returns functions that send requests to each of them, and that create users. */
async function startTwoProcesses(t: Test) {
  const environment = await freshStores(t);
  const variables = { ...environment, ...LONG_TIMEOUTS };
  const [one, other] = [await startProcess(t, variables), await startProcess(t, variables)];
  const stores = await openTestStores(t, environment);
  const { tokenKeys } = readConfig(environment);
  if (!tokenKeys) throw new Error('Expected TOKEN_KEYS');
  const senders: [Send, Send] = [createSender(t, one.url), createSender(t, other.url)];
  return {
    senders,
    createUser: await createUserFactory({ stores, tokens: createTokens(tokenKeys), send: senders[0] }),
  };
}

t.test('changes that one process has acknowledged are visible on the other immediately', needsServers, async (t) => {
  const { senders, createUser } = await startTwoProcesses(t);

  const me = (user: TestUser) => async (there: Send) => (await sendAs(there, user)('GET', '/auth/me')).status;

  /** Returns the post's status, whether the feed lists it, and whether the full profile is visible. */
  const view = (viewer: TestUser, author: TestUser, post: number) => async (there: Send) => {
    const send = sendAs(there, viewer);
    const [single, feed, profile] = await Promise.all([
      send('GET', `/posts/${post}`),
      send('GET', '/posts?limit=100'),
      send('GET', `/profiles/${author.id}`),
    ]);
    const listed = feed.body.some(({ id }: { id: number }) => id === post);
    return [single.status, listed, profile.body && 'private' in profile.body];
  };
  const VISIBLE = [200, true, true];
  const HIDDEN = [404, false, false];

  interface Change {
    /** Makes the change on one process. */
    change(here: Send): Promise<{ status: number }>;
    /** Reads the state on the other process. */
    read(there: Send): Promise<unknown>;
    before: unknown;
    after: unknown;
  }

  const other = await createUser();

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

  const changes: Record<string, (user: TestUser) => Promise<Change>> = {
    'a logout': changeOfSessions((send) => send('POST', '/auth/logout'), [401, 200]),
    'the end of a session': changeOfSessions((send, id) => send('DELETE', `/auth/sessions/${id}`), [200, 401]),
    'the end of all other sessions': changeOfSessions((send) => send('DELETE', '/auth/sessions'), [200, 401]),
    'a password change': changeOfSessions(
      (send) => send('PUT', '/profiles/me', { form: { password: NEW_PASSWORD, current_password: PASSWORD } }),
      [401, 401],
    ),
    'a change of the profile to private': async (user) => ({
      change: (here) => sendAs(here, user)('PUT', '/profiles/me', { form: { private: 'true' } }),
      read: view(other, user, (await createPost(user)).id),
      before: VISIBLE,
      after: HIDDEN,
    }),
    'the end of a friendship': async (user) => {
      const { id } = await createPost(user);
      await user.send('PUT', '/profiles/me', { form: { private: 'true' } });
      await befriend(user, other);
      return {
        change: (here) => sendAs(here, user)('DELETE', `/friends/remove?id=${other.id}`),
        read: view(other, user, id),
        before: VISIBLE,
        after: HIDDEN,
      };
    },
    'the deletion of an account': async (user) => {
      const { id } = await createPost(user);
      return {
        change: (here) => sendAs(here, user)('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
        read: async (there) => [await me(user)(there), ...(await view(other, user, id)(there))],
        before: [200, ...VISIBLE],
        after: [401, ...HIDDEN],
      };
    },
    'the deletion of a post': async (user) => {
      const { id } = await createPost(user);
      return {
        change: (here) => sendAs(here, user)('DELETE', `/posts/delete?id=${id}`),
        read: view(other, user, id),
        before: VISIBLE,
        after: [404, false, true],
      };
    },
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
    'a like': async (user) => {
      const { id } = await createPost(user);
      return {
        change: (here) => sendAs(here, other)('POST', `/posts/like?id=${id}`),
        read: async (there) => {
          const { body } = await sendAs(there, other)('GET', `/posts/${id}`);
          return [body.like_count, body.liked_by_me];
        },
        before: [0, false],
        after: [1, true],
      };
    },
  };

  for (const [name, arrange] of Object.entries(changes)) {
    t.test(name, (t) =>
      // The other process is read continuously. The processes swap roles every round.
      runRounds(ROUNDS, IN_FLIGHT, async (round) => {
        const [here, there] = (round % 2 === 0 ? senders : senders.toReversed()) as [Send, Send];
        const { change, read, before, after } = await arrange(await createUser());
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

t.test('the server ends idle transactions of every pool', needsServers, async (t) => {
  const { db, graphTransactions, maintenanceDb } = await openTestStores(t);
  for (const database of [db, graphTransactions, maintenanceDb]) {
    const show = sql<{ idle_in_transaction_session_timeout: string }>`show idle_in_transaction_session_timeout`;
    const { rows } = await database.transaction().execute((trx) => show.execute(trx));
    t.not(rows[0]?.idle_in_transaction_session_timeout, '0');
  }
});
