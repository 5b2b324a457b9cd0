import t, { type Test } from 'tap';
import { readConfig } from '../../handlers/config/index.js';
import { createTokens } from '../../handlers/security/tokens.js';
import { samples } from '../../scripts/contract-test/images.js';
import { type ServiceProcess, startProcess } from '../support/processes.js';
import { LONG_TIMEOUTS, repeatUntilSettled, runRounds } from '../support/races.js';
import { createSender } from '../support/requests.js';
import { createPost, PASSWORD } from '../support/service.js';
import { freshStores, needsServers, openTestStores } from '../support/stores.js';
import { createUserFactory, type TestUser } from '../support/users.js';

const NEW_PASSWORD = 'Bright-Lantern-58!';
const IN_FLIGHT = 4;

type Send = ReturnType<typeof createSender>;

/** Returns a function that sends requests with a user's token. */
const sendAs =
  (send: Send, { token }: Pick<TestUser, 'token'>): TestUser['send'] =>
  (method, path, more) =>
    send(method, path, { token, ...more });

/** Starts two processes on one set of stores, and returns a function that creates users. */
async function startTwoProcesses(t: Test) {
  const environment = await freshStores(t);
  const variables = { ...environment, ...LONG_TIMEOUTS };
  const [one, other] = [await startProcess(t, variables), await startProcess(t, variables)];
  const stores = await openTestStores(t, environment);
  const { tokenKeys } = readConfig(environment);
  if (!tokenKeys) throw new Error('Expected TOKEN_KEYS');
  const [sendToOne, sendToOther] = [createSender(t, one.url), createSender(t, other.url)];
  return {
    environment: variables,
    processes: [one, other] as [ServiceProcess, ServiceProcess],
    senders: [sendToOne, sendToOther] as const,
    createUser: await createUserFactory({ stores, tokens: createTokens(tokenKeys), send: sendToOne }),
  };
}

t.test('changes that one process has acknowledged are visible on the other immediately', needsServers, async (t) => {
  const { senders, createUser } = await startTwoProcesses(t);

  /**
   * Makes a change on one process, and expects the other one, which is read continuously, to show it immediately. The
   * processes swap roles every round.
   */
  async function expectVisibleOnOther(
    t: Test,
    arrange: () => Promise<{
      change(here: Send): Promise<{ status: number }>;
      read(there: Send): Promise<unknown>;
      before: unknown;
      after: unknown;
    }>,
  ): Promise<void> {
    await runRounds(async (round) => {
      const [here, there] = round % 2 === 0 ? senders : senders.toReversed();
      if (!here || !there) return;
      const { change, read, before, after } = await arrange();
      t.same(await read(there), before, 'before');
      const changeAndRead = async () => {
        t.equal((await change(here)).status, 200);
        return read(there);
      };
      const reader = () => read(there);
      t.same(await repeatUntilSettled(changeAndRead(), reader, reader, reader, reader), after, 'after');
    }, IN_FLIGHT);
  }

  const me = (user: TestUser) => async (there: Send) => (await sendAs(there, user)('GET', '/auth/me')).status;

  t.test('a logout', (t) =>
    expectVisibleOnOther(t, async () => {
      const user = await createUser();
      return { change: (here) => sendAs(here, user)('POST', '/auth/logout'), read: me(user), before: 200, after: 401 };
    }),
  );

  t.test('the end of a session', (t) =>
    expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const otherSession = await user.newSession();
      const sessions = (await user.send('GET', '/auth/sessions')).body;
      const { id } = sessions.find(({ current }: { current: boolean }) => !current);
      return {
        change: (here) => sendAs(here, user)('DELETE', `/auth/sessions/${id}`),
        read: me(otherSession),
        before: 200,
        after: 401,
      };
    }),
  );

  t.test('the end of all other sessions', (t) =>
    expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const otherSession = await user.newSession();
      return {
        change: (here) => sendAs(here, user)('DELETE', '/auth/sessions'),
        read: async (there) => [await me(otherSession)(there), await me(user)(there)],
        before: [200, 200],
        after: [401, 200],
      };
    }),
  );

  t.test('a password change', (t) =>
    expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const otherSession = await user.newSession();
      const form = { password: NEW_PASSWORD, current_password: PASSWORD };
      return {
        change: (here) => sendAs(here, user)('PUT', '/profiles/me', { form }),
        read: async (there) => [await me(otherSession)(there), await me(user)(there)],
        before: [200, 200],
        after: [401, 401],
      };
    }),
  );

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

  t.test('going private', async (t) => {
    const other = await createUser();
    await expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const { id } = await createPost(user);
      return {
        change: (here) => sendAs(here, user)('PUT', '/profiles/me', { form: { private: 'true' } }),
        read: view(other, user, id),
        before: VISIBLE,
        after: [404, false, false],
      };
    });
  });

  t.test('an unfriending', async (t) => {
    const other = await createUser();
    await expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const { id } = await createPost(user);
      await user.send('PUT', '/profiles/me', { form: { private: 'true' } });
      await user.send('POST', `/friends/request?to=${other.id}`);
      await other.send('POST', `/friends/accept?from=${user.id}`);
      return {
        change: (here) => sendAs(here, user)('DELETE', `/friends/remove?id=${other.id}`),
        read: view(other, user, id),
        before: VISIBLE,
        after: [404, false, false],
      };
    });
  });

  t.test('the end of an account', async (t) => {
    const other = await createUser();
    await expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const { id } = await createPost(user);
      return {
        change: (here) => sendAs(here, user)('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
        read: async (there) => [await me(user)(there), ...(await view(other, user, id)(there))],
        before: [200, ...VISIBLE],
        after: [401, 404, false, false],
      };
    });
  });

  t.test('the end of a post', async (t) => {
    const other = await createUser();
    await expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const { id } = await createPost(user);
      return {
        change: (here) => sendAs(here, user)('DELETE', `/posts/delete?id=${id}`),
        read: view(other, user, id),
        before: VISIBLE,
        after: [404, false, true],
      };
    });
  });

  t.test('a like', async (t) => {
    const other = await createUser();
    await expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const { id } = await createPost(user);
      const read = async (there: Send) => {
        const { body } = await sendAs(there, other)('GET', `/posts/${id}`);
        return [body.like_count, body.liked_by_me];
      };
      return {
        change: (here) => sendAs(here, other)('POST', `/posts/like?id=${id}`),
        read,
        before: [0, false],
        after: [1, true],
      };
    });
  });
});

t.test('tokens and images of one process are valid on the other', needsServers, async (t) => {
  const { senders } = await startTwoProcesses(t);
  const [one, other] = senders;
  const email = 'user@people.example';
  await one('POST', '/auth/register', { json: { name: 'Test User', username: 'user', email, password: PASSWORD } });
  const { token } = (await other('POST', '/auth/login', { json: { email, password: PASSWORD } })).body;
  const form = { image: new Blob([samples.png], { type: 'image/png' }) };
  const { body } = await one('PUT', '/profiles/me', { token, form });
  const picture = await other('GET', body.profile_link, { token });
  t.ok(picture.bytes.equals(samples.png));
});

t.test('clients that retry see no failure during a rolling restart', needsServers, async (t) => {
  const { environment, processes, createUser } = await startTwoProcesses(t);
  const [user, other] = [await createUser(), await createUser()];
  const senders = processes.map(({ url }) => createSender(t, url));
  let requestCount = 0;

  /** Retries a request on the next process while one is stopping or stopped. */
  async function sendUntilServed(user: TestUser, method: string, path: string, more?: object): ReturnType<Send> {
    for (;;) {
      requestCount += 1;
      const send = senders[requestCount % senders.length];
      const response = await send?.(method, path, { token: user.token, ...more }).catch(() => undefined);
      if (response && response.status !== 503) return response;
    }
  }

  const postIds: number[] = [];
  async function client() {
    const form = { title: 'A title', text: 'A text' };
    const created = await sendUntilServed(user, 'POST', '/posts/create', { form });
    t.equal(created.status, 201);
    postIds.push(created.body.id);
    t.equal((await sendUntilServed(other, 'POST', `/posts/like?id=${created.body.id}`)).status, 200);
    const read = await sendUntilServed(other, 'GET', `/posts/${created.body.id}`);
    t.same([read.status, read.body.like_count], [200, 1]);
  }

  async function restartEach() {
    const codes = [];
    for (const [index, process] of processes.entries()) {
      codes.push(await process.end('SIGTERM'));
      const restarted = await startProcess(t, environment);
      senders[index] = createSender(t, restarted.url);
      processes[index] = restarted;
    }
    return codes;
  }

  t.same(await repeatUntilSettled(restartEach(), client, client, client, client), [0, 0]);
  t.comment(`${postIds.length} posts were created meanwhile`);
  for (const id of postIds) t.equal((await sendUntilServed(other, 'GET', `/posts/${id}`)).status, 200);
});
